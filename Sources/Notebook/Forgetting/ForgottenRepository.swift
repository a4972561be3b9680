internal import Git
internal import Glibc
internal import History
internal import Merge
internal import Rewriting
internal import State
internal import System
internal import WorkTree

/// The repository that replaces a notebook's: the kept parts of the history, of git's own files and of this
/// device's state. notes-forget(1), "On the disk".
struct ForgottenRepository {
  /// The tips of the new history besides the replacements of old tips.
  struct Tops {
    /// The replacement of the branch's version.
    let tip: ObjectID
    /// The new commit of the branch: `tip` or a version on top of it.
    let branch: ObjectID
    /// The version that lists the forgettings this history obeys now.
    let obeyed: ObjectID
    /// Versions to merge afterwards.
    var waiting: [ObjectID] = []
    /// Whether the forgettings are to be listed again on top of that merge.
    var isListedAgain = false
    /// Texts that must not be left anywhere.
    var gone: [TextCut] = []
  }

  private let history: History
  private let rewriting: HistoryRewriting
  private let tops: Tops
  private let progress: (Int, Int) -> Void

  private var repository: Repository { history.repository }

  /// Whether a file of this device's state is kept: not if it describes versions, texts or a moment in the past,
  /// as all of that is found again.
  private static func stays(_ file: StateFolder.File) -> Bool {
    switch file {
    case .notebook, .awaiting, .sharedKey, .addresses, .asked, .startedOver, .toldRole, .guests,
      .webAddress, .allowedSigners:
      true
    case .lock, .watch, .gcLock, .guestsLock, .webLink, .tip, .plain, .waiting, .private, .machine,
      .brought,
      .looked, .missing, .hubs, .formerWriters, .journal, .history, .verified, .merges, .signers,
      .standing, .told:
      false
    }
  }

  private static func stays(_ folder: StateFolder.Folder) -> Bool {
    switch folder {
    case .membership, .ignore, .attributes, .requests, .invitations, .invited, .offers, .pinned,
      .seen:
      true
    case .checkout, .lingering, .editing, .incoming, .differing, .held, .cache: false
    }
  }

  init(
    of history: History, _ rewriting: HistoryRewriting, _ tops: Tops,
    progress: @escaping (Int, Int) -> Void
  ) {
    (self.history, self.rewriting, self.tops) = (history, rewriting, tops)
    self.progress = progress
  }

  /// - Parameter lastCheck: throws to cancel the step.
  /// - Throws: `ForgetError.unfinished` if a note's file is not yet the one of the branch's version. The new repository
  ///   has no list of such files: the next save would bring back the old text.
  func replace(_ lastCheck: () throws -> Void) throws {
    try ForgetRun.checkNothingIsUnfinished(in: history.workTree.stateFolder)
    let replacement = try RepositoryReplacement(of: repository)
    let roots = try ForgetRoots(of: repository)
    let head = try repository.head()
    // git's locks prevent further changes of references; this checks for changes just before the
    // locks.
    guard let shown = head.commit, rewriting.form(of: shown) == tops.tip,
      roots.commits.allSatisfy({ rewriting.form(of: $0) != nil })
    else { throw ForgetError.written }
    var references = try mapped(roots.references, head)
    references.removeAll {
      [History.obeyedReference, RescuedVersions.listReference].contains($0.name)
    }
    references.append((History.obeyedReference, tops.obeyed))
    if tops.isListedAgain { references.append((RescuedVersions.listReference, tops.obeyed)) }
    for id in tops.waiting { references.append((RescuedVersions.reference(of: id), id)) }
    let stashes = roots.stashes.compactMap(rewriting.form)
    try replacement.pack(
      (references.map(\.id) + stashes + [tops.branch]).eachOnce, progress: progress)
    try write(references, head, to: replacement)
    try IndexEdit(of: history.workTree.indexForChange()).finish().write(to: replacement.new)
    let texts = tops.gone
    let isLeft: ([UInt8]) -> Bool = { content in texts.contains { $0.isIn(content) } }
    let gone = Set(rewriting.forms.keys).union(rewriting.goneBlobs)
    try replacement.checkObjects(isLeft: isLeft, gone: gone, progress: progress)
    // These files are copied late, so that little can change before the swap: other processes may
    // write here.
    let kept =
      StateFolder.File.allCases.filter(Self.stays).map(\.rawValue)
      + StateFolder.Folder.allCases.filter(Self.stays).map(\.rawValue)
    for name in kept { try replacement.copy("notes/" + name) }
    try replacement.checkFiles(isLeft: isLeft, gone: gone)
    try lastCheck()
    // The holder of a lock keeps it.
    for lock in [StateFolder.File.lock, .watch] { try replacement.link("notes/" + lock.rawValue) }
    try replacement.swap()
    try history.rememberTip()
  }

  /// The present references, with new versions. If a name made by notes ends in a version's ID, the
  /// ID is replaced.
  private func mapped(
    _ references: [(name: String, id: ObjectID)], _ head: Head
  ) throws -> [(name: String, id: ObjectID)] {
    let made = BranchRecord.folder + head.reference.dropFirst(head.branch == nil ? 0 : 5)
    return try references.map { name, id in
      guard let form = rewriting.form(of: id) else { throw ForgetError.written }
      if name == head.reference || name == made { return (name, tops.branch) }
      guard name.hasPrefix("refs/notes-state/"), let old = ObjectID(hex: name.suffix(40)) else {
        return (name, form)
      }
      return (name.dropLast(40) + (rewriting.form(of: old) ?? old).hex, form)
    }
  }

  private func write(
    _ references: [(name: String, id: ObjectID)], _ head: Head,
    to replacement: RepositoryReplacement
  ) throws {
    for (name, id) in references { try replacement.write(name, Array("\(id)\n".utf8)) }
    try replacement.write(
      "HEAD", Array((head.branch == nil ? "\(tops.branch)\n" : "ref: \(head.reference)\n").utf8))
    let logs = repository.gitFolder + "/logs/"
    for name in references.map(\.name) + (head.branch == nil ? [] : ["HEAD"]) {
      guard let log = try Disk.readIfThere(logs + name) else { continue }
      try replacement.write(
        "logs/" + name, self.log(log, isShown: name == head.reference || name == "HEAD"))
    }
    if head.branch == nil, let log = try Disk.readIfThere(logs + "HEAD") {
      try replacement.write("logs/HEAD", self.log(log, isShown: true))
    }
  }

  // MARK: Logs

  /// A git log with the new versions. Lines about versions that are no longer reachable are
  /// removed: git-reflog(1).
  private func log(_ log: [UInt8], isShown: Bool) -> [UInt8] {
    var lines: [UInt8] = []
    var maker: ArraySlice<UInt8> = []
    let names = FormerIDs(rewriting.forms)
    for line in log.split(separator: UInt8(ascii: "\n")) {
      guard line.count > 82, let old = ObjectID(hex: line.prefix(40)),
        let new = ObjectID(hex: line.dropFirst(41).prefix(40)),
        let before = old == .zero ? old : rewriting.form(of: old),
        let after = new == .zero ? new : rewriting.form(of: new)
      else { continue }
      guard let rest = names.replaced(in: line.dropFirst(82)) else { continue }
      // A torn line may be followed by another on the same line, with two names.
      let made = rest.prefix { $0 != UInt8(ascii: ">") }
      if made.count(where: { $0 == UInt8(ascii: "<") }) == 1 { maker = made }
      if before == after { continue }
      lines +=
        Array("\(before) \(after) ".utf8) + (rewriting.texts.applied(to: rest) ?? rest) + [10]
    }
    guard isShown, !maker.isEmpty, tops.tip != tops.branch else { return lines }
    // The last step, with the name from the line before.
    let time = history.clock.now()
    let zone = ReflogZone.text(ofMinutes: time.offset)
    lines += Array("\(tops.tip) \(tops.branch) ".utf8) + maker
    lines += Array("> \(time.seconds) \(zone)\tnotes: \(OperationKind.forget.rawValue)\n".utf8)
    return lines
  }
}

/// The former IDs of rewritten versions, as messages of git contain them: whole, or abbreviated.
private struct FormerIDs {
  private let ids: [(old: [UInt8], new: [UInt8])]
  /// git by itself makes no shorter abbreviations (git-config(1), core.abbrev).
  private static let shortest = 7

  init(_ forms: [ObjectID: ObjectID]) {
    ids = forms.map { (Array($0.key.hex.utf8), Array($0.value.hex.utf8)) }
      .sorted { $0.old.lexicographicallyPrecedes($1.old) }
  }

  /// A line with the new IDs; nil for a line torn by a power cut, in which IDs are not separated.
  func replaced(in line: ArraySlice<UInt8>) -> [UInt8]? {
    var result: [UInt8] = []
    var run: [UInt8] = []
    for byte in Array(line) + [UInt8(ascii: "\n")] {
      if (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) {
        run.append(byte)
        continue
      }
      if run.count > 2 * ObjectID.byteCount { return nil }
      result += replaced(run) + [byte]
      run = []
    }
    return Array(result.dropLast())
  }

  private func replaced(_ digits: [UInt8]) -> [UInt8] {
    guard digits.count >= Self.shortest else { return digits }
    let place = ids.partitionPoint { $0.old.lexicographicallyPrecedes(digits) }
    guard place < ids.count, ids[place].old.starts(with: digits) else { return digits }
    return Array(ids[place].new.prefix(digits.count))
  }
}

private enum ReflogZone {
  static func text(ofMinutes offset: Int) -> String {
    let minutes = abs(offset)
    let digits = String(minutes / 60 * 100 + minutes % 60)
    return (offset < 0 ? "-" : "+") + String(repeating: "0", count: max(0, 4 - digits.count))
      + digits
  }
}

/// Files in a notebook's folder that are in no version and contain a text: editors' leftovers, and ignored or
/// hidden files. They are left to the user.
struct FilesBeside {
  private let notebook: Notebook
  private let text: TextCut
  private static let largest = 16 << 20

  init(of notebook: Notebook, _ text: TextCut) { (self.notebook, self.text) = (notebook, text) }

  func all() throws -> [TreePath] {
    let index = try notebook.workTree.indexFile()
    var found: [TreePath] = []
    try look(in: "") { path in
      guard index.position(of: path) == nil,
        let content = Disk.contentIfAny("\(notebook.folder)/\(path)", limit: Self.largest),
        text.isIn(content)
      else { return }
      found.append(path)
    }
    return found.sorted()
  }

  private func look(in folder: String, _ body: (TreePath) -> Void) throws {
    for name in Disk.namesIfAny(in: notebook.folder + folder)
    where ![".git", ".git.new"].contains(name) {
      let path = folder + "/" + name
      var status = stat()
      guard Counted.lstat(notebook.folder + path, &status) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFDIR { try look(in: path, body) }
      if status.st_mode & S_IFMT == S_IFREG { body(TreePath(String(path.dropFirst()))) }
    }
  }
}
