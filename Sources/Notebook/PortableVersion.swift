public import Git
public import WorkTree

/// A version that stands in the place of one that was made by hand with git.
public struct PortableVersion: Codable, Sendable {
  /// What the branch stood on.
  public let made: ObjectID
  /// What it stands on now.
  public let version: ObjectID
  /// What the one has and the other has not, by path.
  public let excluded: [SkippedFile]
}

// Foreign commits are carried along until they are to go to another device, which takes plain notes
// only: notes-merge(7), "Foreign commits".
extension Notebook {
  /// Puts a version that other devices take in the place of the branch's, if they do not take that or
  /// what it stands on.
  ///
  /// - Returns: nil when there was nothing to do.
  public func rewritePortably() throws -> PortableVersion? {
    guard let tip = try repository.head().commit,
      tip != PortableHistory(stateFolder: stateFolder).tip
    else { return nil }
    return try withWriterLock { try $0.rewritePortably() }
  }

  /// Forgets what is known to be plain, because something is not.
  public func forgetPortableHistory() throws {
    try PortableHistory(stateFolder: stateFolder).forget()
  }
}
