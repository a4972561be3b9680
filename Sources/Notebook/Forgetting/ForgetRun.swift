internal import Git
internal import Glibc
internal import History
internal import Merge
internal import Rewriting
internal import State
internal import System
internal import WorkTree

/// Forgets something on this device, on an admin's request: notes-forget(1).
///
/// First an ordinary version removes the target from the files, by a checkout, which loses no edits made in the
/// meantime. Then a repository without the target is made beside this one and checked; a single step puts it in
/// the other one's place. If the run is killed at any point, the next command finds the old or the new
/// repository.
struct ForgetRun {
  private let notebook: Notebook
  private let transaction: WriteTransaction
  private let target: ForgetTarget
  private let progress: (Int, Int) -> Void

  private var repository: Repository { notebook.repository }
  private var history: History { notebook.history }

  init(
    _ notebook: Notebook, _ transaction: WriteTransaction, _ target: ForgetTarget,
    _ progress: @escaping (Int, Int) -> Void
  ) {
    (self.notebook, self.transaction, self.target) = (notebook, transaction, target)
    self.progress = progress
  }

  // MARK: Choosing what to forget

  func plan() throws -> ForgetPlan {
    var rewriting = HistoryRewriting(of: history, try forgetting(), isTrial: true)
    try rewriting.rewrite(ForgetRoots(of: repository).commits, progress: progress)
    return try plan(rewriting.found)
  }

  private func plan(_ found: ForgettingFindings) throws -> ForgetPlan {
    var remaining = found.attachments
    var beside: [TreePath] = []
    if case .text(let bytes) = target, let text = TextCut(bytes) {
      remaining.formUnion(found.allPaths.filter { text.isIn($0.bytes) })
      beside = try FilesBeside(of: notebook, text).all()
    }
    guard found.versions > 0 || !remaining.isEmpty else { throw ForgetError.notFound }
    return ForgetPlan(
      versions: found.versions, paths: found.paths.sorted(), remaining: remaining.sorted(),
      beside: beside)
  }

  private func forgetting() throws -> Forgetting {
    let id = String(
      hexadecimal: (0..<16).map { _ in UInt8.random(in: 0...255) })
    switch target {
    case .text(let bytes):
      guard let text = TextCut(bytes) else {
        throw ForgetError.tooShort(shortest: TextCut.shortest)
      }
      return .text(text, id: id)
    case .note(let path):
      return .notes(NoteTrail(try history.trail(of: path)), id: id)
    case .version(let path, let version):
      let lines = try addedLines(to: path, by: version)
      if lines.lines.isEmpty { throw ForgetError.nothingAdded(path, version) }
      return .lines(lines, NoteTrail(try history.trail(of: path)), id: id)
    case .deleted:
      let trails = try history.deletedFiles().map { try history.trail(of: $0.path) }
      return .notes(NoteTrail(joined(trails)), id: id)
    case .attachments(let bytes):
      return .notes(NoteTrail(try attachments(over: bytes)), id: id)
    }
  }

  private func joined(_ trails: [[ObjectID: Set<TreePath>]]) -> [ObjectID: Set<TreePath>] {
    trails.reduce(into: [:]) { all, trail in all.merge(trail) { $0.union($1) } }
  }

  /// The versions in which attachments come to exceed a number of bytes.
  private func attachments(over bytes: Int) throws -> [ObjectID: Set<TreePath>] {
    var sizes: [ObjectID: Int] = [:]
    func isLarge(_ id: ObjectID) throws -> Bool {
      let size = try sizes[id] ?? repository.header(of: id).size
      sizes[id] = size
      return size > bytes
    }
    var found: [ObjectID: Set<TreePath>] = [:]
    for id in try repository.commits(from: ForgetRoots(of: repository).commits) {
      let commit = try repository.commit(id)
      let former = try commit.parents.first.map { try repository.commit($0).tree }
      for change in try repository.changes(from: former, to: commit.tree) {
        guard let new = change.new, new.mode.isFile, !change.path.isNote, try isLarge(new.id)
        else { continue }
        found[id, default: []].insert(change.path)
      }
    }
    return found
  }

  private func addedLines(to path: TreePath, by version: ObjectID) throws -> LineCut {
    var added: Set<[UInt8]> = []
    try history.forEachVersion(of: path, includesDerived: true) { candidate in
      guard candidate.commit.id == version else { return true }
      for change in candidate.changes {
        guard let new = try change.new.map(repository.blob) else { continue }
        let old = try change.old.map(repository.blob) ?? []
        added.formUnion(Set(LineCut.lines(of: new)).subtracting(LineCut.lines(of: old)))
      }
      return false
    }
    return LineCut(added)
  }

  // MARK: Forgetting

  private static let mostTurns = 5

  /// - Parameter lastCheck: throws to cancel.
  func run(_ lastCheck: () throws -> Void) throws -> Forgotten {
    let hubs = try notebook.hubs().map(\.name)
    let others = try repository.remoteNames().filter { !hubs.contains($0) }
    if !others.isEmpty { throw ForgetError.remotes(others) }
    try Self.checkNothingIsUnfinished(in: notebook.stateFolder)
    let forgetting = try forgetting()
    var rewriting = HistoryRewriting(of: history, forgetting)
    try rewriting.rewrite(ForgetRoots(of: repository).commits, progress: progress)
    let plan = try plan(rewriting.found)
    guard plan.versions > 0 else { throw ForgetError.notFound }
    try checkNoEditor(has: plan.paths)
    try checkNoName()
    var tip = try shownTip()
    for _ in 0..<Self.mostTurns {
      let files = rewriting.files(in: tip.id)
      if target == .deleted, let present = files.keys.min() { throw ForgetError.lives(present) }
      if !files.isEmpty {
        let made = try transaction.replace(
          files, message: "Forget", operation: .edit, allowsMassDeletion: true)
        if let made { rewriting.omit(made) }
      }
      try rewriting.rewrite(ForgetRoots(of: repository).commits)
      tip = try shownTip()
      guard let form = rewriting.form(of: tip.id) else { continue }
      let new = try repository.commit(form)
      if new.tree == tip.tree {
        return try replace(with: rewriting, forgetting, plan, above: new, lastCheck)
      }
    }
    throw ForgetError.written
  }

  private func shownTip() throws -> Commit {
    guard let tip = try transaction.writer.tip() else { throw ForgetError.notFound }
    return tip
  }

  private func replace(
    with rewriting: HistoryRewriting, _ forgetting: Forgetting, _ plan: ForgetPlan,
    above tip: Commit, _ lastCheck: () throws -> Void
  ) throws -> Forgotten {
    let line = ForgettingVersion.Line(
      id: forgetting.id, kind: "\(forgetting.kind)", versions: plan.versions)
    let former = try history.obeyed()?.lines ?? []
    guard former.count < ForgettingVersion.mostLines else {
      throw GitError.irreplaceable("something was already forgotten \(former.count) times")
    }
    let version = try transaction.writer.makeVersion(
      of: tip.tree, parents: [tip], message: "Forget \(forgetting.kind.words)",
      trailers: ([line] + former).map(\.trailer))
    try ForgottenRepository(
      of: history, rewriting,
      .init(tip: tip.id, branch: version, obeyed: version, gone: rewriting.texts),
      progress: progress
    ).replace(lastCheck)
    return Forgotten(plan: plan, rewritten: rewriting.forms.count, version: version)
  }

  static func checkNothingIsUnfinished(in state: StateFolder) throws {
    if let held = try WaitingFiles(in: state).files.keys.min() {
      throw ForgetError.unfinished(held)
    }
    let late = LateWrites(stateFolder: state)
    if !late.isEmpty, let item = try late.items().first { throw ForgetError.unfinished(item.path) }
  }

  private func checkNoName() throws {
    guard case .text(let bytes) = target, let text = TextCut(bytes),
      let tip = try history.tipTree(),
      let file = try repository.files(in: tip).first(where: { text.isIn($0.path.bytes) })
    else { return }
    throw ForgetError.inName(file.path)
  }

  /// An editor with the forgotten content would bring it back with its next save.
  private func checkNoEditor(has paths: [TreePath]) throws {
    for path in paths where EditorLock.isOpen(path, in: notebook.folder) {
      throw ForgetError.isOpen(path)
    }
  }
}

/// The tips of the history that a repository keeps: the targets of all its references, except the commits
/// that other devices were seen to have.
struct ForgetRoots {
  /// References whose commits are kept, by name.
  let references: [(name: String, id: ObjectID)]
  /// The stashes that are only in their log.
  let stashes: [ObjectID]
  private let head: ObjectID?

  var commits: [ObjectID] { (references.map(\.id) + stashes + [head].compactMap { $0 }).eachOnce }

  private static let places = ["refs/heads/", "refs/tags/", "refs/notes-state/", "refs/stash"]

  init(of repository: Repository) throws {
    var found: [(name: String, id: ObjectID)] = []
    var all = try repository.references(under: "refs/")
    // Names of one component are neither branches nor tags, and `references` omits them.
    for name in try Self.shortNames(in: repository) where !all.contains(where: { $0.name == name })
    {
      if let id = try repository.reference(name) { all.append((name, id)) }
    }
    for (name, id) in all where !name.hasPrefix("refs/remotes/") {
      guard Self.places.contains(where: name.hasPrefix) else {
        throw GitError.irreplaceable("it has the reference \(name), which notes does not know")
      }
      guard try repository.object(id).kind == .commit else {
        throw GitError.irreplaceable("\(name) is an annotated tag or no version")
      }
      found.append((name, id))
    }
    references = found
    head = try repository.head().commit
    let log = try Disk.readIfThere(repository.gitFolder + "/logs/refs/stash") ?? []
    stashes = try log.split(separator: UInt8(ascii: "\n")).compactMap {
      ObjectID(hex: $0.dropFirst(41).prefix(40))
    }.filter { try repository.contains($0) && repository.object($0).kind == .commit }
  }

  /// The references directly below `refs/`, such as git's stash.
  private static func shortNames(in repository: Repository) throws -> [String] {
    let folder = repository.gitFolder + "/refs"
    let files = try Disk.names(in: folder).filter { name in
      var status = stat()
      return Counted.lstat("\(folder)/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }.map { "refs/" + $0 }
    let packed = try Disk.readIfThere(repository.gitFolder + "/packed-refs") ?? []
    let names = String(decoding: packed, as: UTF8.self).split(separator: "\n").compactMap { line in
      line.first == "#" || line.first == "^"
        ? nil : line.split(separator: " ").last.map(String.init)
    }
    return (files + names.filter { $0.split(separator: "/").count == 2 }).eachOnce.sorted()
  }
}
