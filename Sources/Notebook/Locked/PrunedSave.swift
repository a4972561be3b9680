internal import Git
internal import Glibc
internal import History
internal import System
internal import WorkTree

/// A save whose objects git removed when no reference led to them yet: git-prune(1), and `git gc --prune=now`, take
/// no lock. The index has still what was saved: notes-gc(1).
struct PrunedSave {
  let writer: VersionWriter
  let history: History

  private var repository: Repository { writer.repository }
  private var workTree: WorkTree { history.workTree }

  /// The operations that make a version of the folder's texts alone: it stands on the commit that the
  /// branch stood on.
  private static let saves: [OperationKind] = [.save, .create, .edit, .rename, .delete, .restore]

  /// Makes the branch's version anew, in its place, where its commit is missing and no other device or hub had
  /// it. A text that is nowhere any more stays as it was before.
  ///
  /// - Returns: the version that is lost, and the one in its place; nil where there is none.
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

  /// The differences of the index from a version, as far as the texts are here.
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

  /// Stores a text anew that stands in the folder still.
  private func restore(_ entry: IndexEntry) throws -> Bool {
    guard
      case .read(let content) = try FileContent.read(
        entry.path, in: workTree.folder, sizeLimit: workTree.sizeLimit),
      try repository.hash(blob: content.bytes) == entry.id
    else { return false }
    return try repository.write(blob: content.bytes) == entry.id
  }

  /// git-fsck(1) looks for what logs name.
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
