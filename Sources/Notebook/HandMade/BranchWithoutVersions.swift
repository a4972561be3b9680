internal import Git

extension Notebook {
  /// Takes up the history where HEAD names a branch without versions, for callers that hold the writer
  /// lock: notes-merge(7), "Versions made by hand". A save would begin another history there, and
  /// leave the first to `git gc`.
  func takeUpBranchWithoutVersions() throws {
    let head = try repository.head()
    guard head.commit == nil, let last = lastShown() else { return }
    let known = Set(try indexFile().entries.map(\.path))
    let files = try repository.files(in: repository.commit(last).tree)
    guard files.allSatisfy({ known.contains($0.path) }) else { return try keep([last]) }
    repository.identity = (identity.device.name, identity.device.email)
    try repository.update(
      reference: head.reference, to: last, from: nil, message: "\(BranchLog.beginning)\(last)")
  }

  /// The version that the folder showed last, if it ever showed one: what git moved HEAD to on top of
  /// what stood there when a command of ours ended, or that.
  private func lastShown() -> ObjectID? {
    guard let tip = rememberedState()?.tip, (try? repository.commit(tip)) != nil else { return nil }
    let moved = BranchLog.last(of: "HEAD", gitFolder: repository.gitFolder).flatMap {
      // A branch that was removed leads to nothing.
      $0.new == .zero ? $0.old : $0.new
    }
    guard let moved, (try? repository.isAncestor(tip, of: moved)) == true else { return tip }
    return moved
  }
}
