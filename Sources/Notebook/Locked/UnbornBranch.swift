internal import Git
internal import History
internal import WorkTree

/// A branch that HEAD names and that has no version, in a notebook that has some: notes-merge(7),
/// "Foreign commits". A save would begin another history there, and leave the first to `git gc`.
struct UnbornBranch {
  private let writer: VersionWriter
  private let history: History

  init(_ writer: VersionWriter, _ history: History) {
    self.writer = writer
    self.history = history
  }

  /// Points the branch at the version that the folder showed last. Where the index lacks some of its
  /// files, the branch stays unborn.
  ///
  /// - Returns: versions that are to be merged.
  func adoptHistory() throws -> [ObjectID] {
    let repository = writer.repository
    let head = try repository.head()
    guard head.commit == nil, let last = lastShown() else { return [] }
    let known = Set(try history.workTree.indexFile().entries.map(\.path))
    let files = try repository.files(in: repository.commit(last).tree)
    guard files.allSatisfy({ known.contains($0.path) }) else { return [last] }
    try writer.move(head, to: last, message: "\(BranchLog.beginning)\(last)")
    return []
  }

  /// The version that the folder showed last, if it ever showed one: what git moved HEAD to on top of
  /// what stood there when a command of ours ended, or that.
  private func lastShown() -> ObjectID? {
    let repository = writer.repository
    guard let tip = history.rememberedState()?.tip, (try? repository.commit(tip)) != nil else {
      return nil
    }
    let moved = BranchLog.last(of: "HEAD", gitFolder: repository.gitFolder).flatMap {
      // A branch that was removed leads to nothing.
      $0.new == .zero ? $0.old : $0.new
    }
    guard let moved, (try? repository.isAncestor(tip, of: moved)) == true else { return tip }
    return moved
  }
}
