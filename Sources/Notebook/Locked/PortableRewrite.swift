internal import Git
internal import Glibc
internal import History
internal import System
internal import WorkTree

/// Puts a version that other devices take in the place of the branch's, where somebody made commits with
/// git that they do not take: notes-merge(7), "Foreign commits".
struct PortableRewrite {
  private let writer: VersionWriter
  private let history: History
  private let known: PortableHistory
  private var repository: Repository { writer.repository }

  init(_ writer: VersionWriter, _ history: History) {
    self.writer = writer
    self.history = history
    known = PortableHistory(stateFolder: history.workTree.stateFolder)
  }

  /// Rewrites the branch if other devices do not take its version, or one of those it stands on.
  ///
  /// - Returns: nil when there was nothing to do.
  func rewriteBranch() throws -> PortableVersion? {
    let head = try repository.head()
    guard let tip = head.commit, tip != known.tip else { return nil }
    guard let rewritten = try version(for: tip) else {
      known.remember(tip)
      return nil
    }
    // The index first: it would else bring back what is excluded, as part of the next version.
    try dropFromIndex(rewritten.excluded.map(\.path), for: rewritten.version)
    try writer.move(head, to: rewritten.version, message: OperationHistory.portableRewriteMessage)
    try history.rememberTip()
    known.remember(rewritten.version)
    return rewritten
  }

  /// The version in the place of another, which is kept findable then; nil when it needs none.
  func version(for made: ObjectID) throws -> PortableVersion? {
    let base = try known.tip.flatMap { try repository.contains($0) ? $0 : nil }
    var rewrites = PortableCommits(in: repository)
    let version = try repository.withBatchedWrites {
      try rewrites.commit(for: made, knowing: base.map { [$0] } ?? [])
    }
    guard version != made else { return nil }
    try writer.setDeviceReference(
      "\(Self.replacedFolder)/\(made.hex)", to: made, message: "notes: made by hand")
    return PortableVersion(made: made, version: version, excluded: rewrites.excluded(from: made))
  }

  /// Where versions stay that others stand in the place of.
  private static let replacedFolder = "refs/notes-state/by-hand"

  func remember(_ version: ObjectID?) { known.remember(version) }

  /// Takes what is at these paths out of the index, for what the version has there.
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

/// The version that is known to be portable with all its history, so that none is looked at twice. It is
/// a cache: whoever does not find it looks at all versions.
struct PortableHistory {
  private let path: String

  init(stateFolder: String) { path = stateFolder + "/plain" }

  var tip: ObjectID? {
    guard let content = try? Disk.readIfThere(path) else { return nil }
    return ObjectID(hex: content.prefix(2 * ObjectID.byteCount))
  }

  /// Where there is no room for it, nothing is lost but time.
  func remember(_ version: ObjectID?) {
    guard let version else { return }
    try? Disk.replace(path, with: Array("\(version)\n".utf8), waits: false)
  }

  func forget() throws { try Disk.remove(path) }
}
