internal import Git
internal import Glibc
internal import History
internal import System
internal import WorkTree

/// A save whose objects git removed before a reference led to them: git-prune(1) and `git gc --prune=now`
/// ignore locks. The index still lists the saved files: notes-gc(1).
struct PrunedSave {
  let writer: VersionWriter
  let history: History

  private var repository: Repository { writer.repository }
  private var workTree: WorkTree { history.workTree }

  /// The operations whose version has only the folder's texts, on top of the branch's former commit.
  private static let saves: [OperationKind] = [.save, .create, .edit, .rename, .delete, .restore]

  /// Makes the branch's version again if its commit is missing and no other device or hub had it. The new
  /// version takes its place. If a text no longer exists anywhere, the note keeps its former text.
  ///
  /// - Returns: the lost version and its replacement; nil if no version is lost.
  func makeAnew() throws -> (lost: ObjectID, version: ObjectID)? {
    let head = try repository.head()
    guard let lost = head.commit,
      let saved = BranchLog.last(of: head.reference, gitFolder: repository.gitFolder),
      saved.new == lost, Self.saves.contains(where: { saved.message == "notes: \($0.rawValue)" }),
      let former = saved.old, try !repository.contains(lost), try repository.contains(former),
      try !repository.references(under: "refs/remotes/").contains(where: { $0.id == lost })
    else { return nil }
    let version = try repository.withBatchedWrites {
      try writer.makeVersion(on: former, replacing: changes(since: former))
    }
    try writer.move(head, to: version, operation: .save)
    for name in ["HEAD", head.reference] { try forget(lost, madeOn: former, inLogOf: name) }
    try history.rememberTip()
    return (lost, version)
  }

  /// The differences between the index and a version, as far as the texts exist.
  private func changes(since former: ObjectID) throws -> [TreePath: TreeEntry?] {
    var before = Dictionary(
      try repository.files(in: repository.commit(former).tree).map { ($0.path, $0.entry) }
    ) { first, _ in first }
    var changes: [TreePath: TreeEntry?] = [:]
    for entry in try workTree.indexFile().entries {
      let known = before.removeValue(forKey: entry.path)
      if known?.id == entry.id, known?.mode == entry.mode { continue }
      guard try repository.contains(entry.id) || restore(entry) else { continue }
      changes[entry.path] = .some(
        TreeEntry(name: entry.path.name, mode: entry.mode, id: entry.id))
    }
    for path in before.keys { changes[path] = .some(nil) }
    return changes
  }

  /// Stores a text again that is still in the folder.
  private func restore(_ entry: IndexEntry) throws -> Bool {
    guard
      case .read(let content) = try FileContent.read(
        entry.path, in: workTree.folder, sizeLimit: workTree.sizeLimit),
      try repository.hash(blob: content.bytes) == entry.id
    else { return false }
    return try repository.write(blob: content.bytes) == entry.id
  }

  /// git-fsck(1) follows the versions that logs name.
  private func forget(_ lost: ObjectID, madeOn former: ObjectID, inLogOf name: String) throws {
    let path = "\(repository.gitFolder)/logs/\(name)"
    guard let text = try Disk.readIfThere(path) else { return }
    let (lostName, formerName) = (Array(lost.hex.utf8), Array(former.hex.utf8))
    let lines = text.split(separator: UInt8(ascii: "\n")).compactMap { line -> [UInt8]? in
      if line.dropFirst(lostName.count + 1).starts(with: lostName) { return nil }
      return line.starts(with: lostName)
        ? formerName + line.dropFirst(lostName.count) : Array(line)
    }
    try Disk.replace(path, with: lines.flatMap { $0 + [UInt8(ascii: "\n")] })
  }
}
