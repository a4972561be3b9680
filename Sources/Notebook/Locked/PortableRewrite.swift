public import Git
internal import History
internal import Merge
internal import State
internal import System
public import WorkTree

/// A version that replaces a foreign commit.
public struct PortableVersion: Codable, Sendable {
  /// The former commit of the branch.
  public let made: ObjectID
  /// The commit of the branch that replaced it.
  public let version: ObjectID
  /// The files that are only in the foreign commit, by path.
  public let excluded: [SkippedFile]
}

// Foreign commits may contain files that other devices refuse. They are kept until they must be sent to another
// device: notes-merge(7), "Foreign commits".
extension Notebook {
  /// If other devices would refuse the branch's version or one of its ancestors, replaces it by one that they
  /// accept.
  ///
  /// - Returns: nil if nothing was replaced.
  public func rewritePortably() throws -> PortableVersion? {
    guard let tip = try repository.head().commit,
      tip != PortableHistory(stateFolder: stateFolder).tip
    else { return nil }
    return try withWriterLock { try $0.portableRewrite.rewriteBranch() }
  }

  /// Removes versions that all devices refuse from the history, no matter who made them. Makes the tip again
  /// from the rest: notes-merge(7), "Foreign commits".
  ///
  /// - Returns: each removed version and the reason, oldest first.
  public func pruneOversized() throws -> [(version: ObjectID, why: String)] {
    try withWriterLock { transaction in
      let cut = try transaction.portableRewrite.pruneOversized()
      if !cut.isEmpty {
        try transaction.save()
        _ = try transaction.merge([])
      }
      return cut
    }
  }

  /// Drops the record of portable versions, because one turned out not to be portable.
  public func forgetPortableHistory() throws {
    try PortableHistory(stateFolder: stateFolder).forget()
  }
}

/// Replaces commits on the branch that were made with git and that other devices refuse: notes-merge(7),
/// "Foreign commits".
struct PortableRewrite {
  let writer: VersionWriter
  let history: History

  private var repository: Repository { writer.repository }
  private var known: PortableHistory { PortableHistory(stateFolder: history.workTree.stateFolder) }

  /// Rewrites the branch if other devices refuse its version or one of its ancestors.
  ///
  /// - Returns: nil if nothing was replaced.
  func rewriteBranch() throws -> PortableVersion? {
    let head = try repository.head()
    guard let tip = head.commit, tip != known.tip else { return nil }
    guard let rewritten = try version(for: tip) else {
      known.remember(tip)
      return nil
    }
    try move(head, to: rewritten)
    return rewritten
  }

  private func move(_ head: Head, to rewritten: PortableVersion) throws {
    // The index first: otherwise the next version would include the excluded files again.
    try dropFromIndex(rewritten.excluded.map(\.path), for: rewritten.version)
    try writer.move(head, to: rewritten.version, message: OperationHistory.portableRewriteMessage)
    try history.rememberTip()
    known.remember(rewritten.version)
  }

  func pruneOversized() throws -> [(version: ObjectID, why: String)] {
    let head = try repository.head()
    guard let tip = head.commit else { return [] }
    var rewrites = PortableCommits(by: writer, prunes: true)
    guard let rewritten = try version(for: tip, knowing: nil, &rewrites) else { return [] }
    for (id, _) in rewrites.cut {
      try writer.setDeviceReference(
        "\(Self.prunedFolder)/\(id.hex)", to: id, message: "notes: cut off")
    }
    try move(head, to: rewritten)
    return rewrites.cut
  }

  /// Throws if one of these heads is based on a pruned version.
  func check(_ heads: [ObjectID]) throws {
    for cut in try repository.references(under: Self.prunedFolder + "/").map(\.id) {
      for head in heads where try repository.isAncestor(cut, of: head) {
        throw NotebookError.wasPruned(cut)
      }
    }
  }

  /// The replacement of a commit, which is then kept by a reference; nil if none is needed.
  func version(for made: ObjectID) throws -> PortableVersion? {
    let base = try known.tip.flatMap { try repository.contains($0) ? $0 : nil }
    var rewrites = PortableCommits(by: writer)
    return try version(for: made, knowing: base, &rewrites)
  }

  private func version(
    for made: ObjectID, knowing base: ObjectID?, _ rewrites: inout PortableCommits
  ) throws -> PortableVersion? {
    let version = try repository.withBatchedWrites {
      try rewrites.commit(for: made, knowing: base.map { [$0] } ?? [])
    }
    guard version != made else { return nil }
    try writer.setDeviceReference(
      "\(Self.replacedFolder)/\(made.hex)", to: made, message: "notes: made by hand")
    return PortableVersion(made: made, version: version, excluded: rewrites.excluded(from: made))
  }

  private static let replacedFolder = "refs/notes-state/by-hand"
  private static let prunedFolder = "refs/notes-state/cut"

  func remember(_ version: ObjectID?) { known.remember(version) }

  private func dropFromIndex(_ paths: [TreePath], for version: ObjectID) throws {
    let workTree = history.workTree
    let index = try workTree.indexForChange()
    var edit = IndexEdit(of: index)
    let tree = try repository.commit(version).tree
    for path in paths {
      for position in index.positions(atOrBelow: path) { edit.remove(index[position].path) }
      for entry in try workTree.standing(at: path, in: tree) { edit.set(entry) }
    }
    try edit.finish().write(to: repository)
  }
}

/// The version whose whole history is known to be portable, so that none of it is checked again. It is a
/// cache: without it, all versions are checked.
struct PortableHistory {
  let stateFolder: StateFolder

  private var path: String { stateFolder[.plain] }

  var tip: ObjectID? {
    Disk.memory(at: path) { content throws(StateDamage) in
      guard let tip = content.lines.first.flatMap({ ObjectID(hex: $0.bytes) }) else {
        throw StateDamage(path, "it names no version")
      }
      return tip
    }
  }

  /// Records the version. If the record cannot be written, the next check only takes longer.
  func remember(_ version: ObjectID?) {
    guard let version else { return }
    // A cache, so errors are ignored.
    try? Disk.replace(path, with: Array("\(version)\n".utf8), waits: false)
  }

  func forget() throws { try Disk.remove(path) }
}

/// The replacements of commits that other devices refuse: notes-merge(7), "Foreign commits". The cost depends
/// on the number of foreign commits, not on the size of a version, because a version made by `notes` is
/// portable if its parents are.
struct PortableCommits {
  private let writer: VersionWriter
  /// The replacement of each commit that is not portable.
  private var forms: [ObjectID: ObjectID] = [:]
  /// The files in the trees of commits that all devices refuse; no entry if there are none.
  private var unfit: [ObjectID: [TreePath: SkipReason]] = [:]
  /// Whether to remove oversized versions, and to check the versions that `notes` made.
  private let prunes: Bool
  /// The removed versions, and the reasons.
  private(set) var cut: [(version: ObjectID, why: String)] = []
  private var isPruned: Set<ObjectID> = []

  private var repository: Repository { writer.repository }

  init(by writer: VersionWriter, prunes: Bool = false) {
    self.writer = writer
    self.prunes = prunes
  }

  /// The portable form of a commit. Stores the form if it differs from the commit.
  ///
  /// - Parameter plain: commits that are known to be portable, with all their history.
  mutating func commit(for tip: ObjectID, knowing plain: [ObjectID]) throws -> ObjectID {
    if plain.contains(tip) { return tip }
    // A commit directly on top of known ones needs no walk.
    if try repository.commit(tip).parents.allSatisfy(plain.contains) {
      try look(at: tip)
      return forms[tip] ?? tip
    }
    for id in try repository.commits(from: [tip], lacking: plain) { try look(at: id) }
    return forms[tip] ?? tip
  }

  func excluded(from commit: ObjectID) -> [SkippedFile] {
    (unfit[commit] ?? [:]).map { SkippedFile(path: $0.key, reason: $0.value) }
      .sorted { $0.path < $1.path }
  }

  private mutating func look(at id: ObjectID) throws {
    let commit = try repository.commit(id)
    let former = commit.parents.first
    var found = former.flatMap { unfit[$0] } ?? [:]
    if prunes, let why = try repository.excess(ofTree: commit.tree) {
      isPruned.insert(id)
      cut.append((id, "\(why)"))
      found = [:]
    } else if prunes || !found.isEmpty || !DeviceAddress.isOurs(commit.committer.email) {
      let base = try former.map {
        try repository.commit(isPruned.contains($0) ? forms[$0] ?? $0 : $0).tree
      }
      for change in try repository.changes(from: base, to: commit.tree) {
        found[change.path] = try change.new.flatMap {
          try SkipReason(refusing: $0, at: change.path, in: repository)
        }
        if prunes, found[change.path] != nil { cut.append((id, "\(change.path) fits no device")) }
      }
    }
    if !found.isEmpty { unfit[id] = found }
    let (parents, message) = try (self.parents(of: commit), self.message(of: commit))
    let (author, committer) = (commit.author.plain, commit.committer.plain)
    guard
      isPruned.contains(id) || !found.isEmpty || parents != commit.parents
        || author != commit.author
        || committer != commit.committer || message != commit.message
    else { return }
    forms[id] = try writer.rewrite(
      to: tree(of: commit, without: Array(found.keys), upon: parents.first),
      parents: parents.eachOnce, author: author, committer: committer, message: message)
  }

  /// The parents; if there are more than devices accept, the derived merge of all of them.
  private mutating func parents(of commit: Commit) throws -> [ObjectID] {
    let parents = commit.parents.map { forms[$0] ?? $0 }
    guard prunes, parents.count > PackLimits.standard.parents else { return parents }
    cut.append((commit.id, "it has \(parents.count) parents"))
    return [try DerivedMerge.tip(of: parents, in: repository).id]
  }

  private mutating func message(of commit: Commit) -> String {
    let message = commit.message
    guard prunes, message.utf8.count > PackLimits.standard.commitBytes - 64 << 10 else {
      return message
    }
    cut.append((commit.id, "its message has \(message.utf8.count) bytes"))
    return message.withRoom
  }

  private func tree(
    of commit: Commit, without paths: [TreePath], upon parent: ObjectID?
  ) throws -> ObjectID {
    let former = try parent.map { try repository.commit($0).tree }
    if isPruned.contains(commit.id) { return former ?? .emptyTree }
    var replaced: [TreePath: TreeEntry?] = [:]
    for path in paths {
      replaced.updateValue(
        try former.flatMap { try repository.entry(at: path, in: $0) }, forKey: path)
    }
    return replaced.isEmpty
      ? commit.tree : try repository.write(tree: commit.tree, replacing: replaced)
  }

}

extension Signature {
  /// The signature without characters and times that all devices refuse (notes-protocol(7), PACKS).
  fileprivate var plain: Signature {
    func clean(_ text: String) -> String {
      if text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) { return text }
      return String(decoding: text.utf8.map { $0 < 0x20 || $0 == 0x7f ? 0x20 : $0 }, as: UTF8.self)
    }
    return Signature(
      name: clean(name), email: clean(email), time: min(max(time, 0), Signature.latestTime),
      offset: offset)
  }
}

extension SkipReason {
  /// The reason why other devices refuse a version with this file; nil if they accept it:
  /// notes-protocol(7), PACKS.
  init?(refusing file: TreeEntry, at path: TreePath, in repository: Repository) throws {
    switch file.mode {
    case .symlink: self = .symbolicLink
    case .submodule: self = .nestedRepository
    case .regular, .executable:
      if let why = NameRules.problem(withPath: path) {
        self = .unfitName(why: why)
      } else {
        let size = try repository.header(of: file.id).size
        guard size > PackLimits.standard.objectBytes else { return nil }
        self = .tooLarge(size: size)
      }
    default: self = .specialFile
    }
  }
}

extension Notebook {
  /// A tree without the files that other devices refuse and `former` lacks; files that `former` has in their
  /// place stay. A version made with git may have such files, and may return by an undo or restore.
  func accepted(
    _ tree: ObjectID, since former: ObjectID?
  ) throws -> (tree: ObjectID, excluded: [SkippedFile]) {
    var (staying, excluded): ([TreePath: TreeEntry?], [SkippedFile]) = ([:], [])
    if workTree.takesUnfitNames { return (tree, []) }
    for change in try repository.changes(from: former, to: tree) {
      guard let new = change.new,
        let reason = try SkipReason(refusing: new, at: change.path, in: repository)
      else { continue }
      staying.updateValue(change.old, forKey: change.path)
      excluded.append(SkippedFile(path: change.path, reason: reason))
    }
    if staying.isEmpty { return (tree, []) }
    return (
      try repository.write(tree: tree, replacing: staying), excluded.sorted { $0.path < $1.path }
    )
  }
}
