internal import Synchronization
internal import System

extension Repository {
  /// Lets `body` write many objects without syncing each: one sync of the file system follows, so
  /// that they are as durable when this returns as if each had been synced.
  ///
  /// A power cut before that can leave objects cut short in the repository, where they count as
  /// there: for repositories that are made anew then. `storingTogether` is for the others.
  ///
  /// libgit2's switch is one for the whole process. References that other threads move wait for the
  /// end: what they stand for may have been written without its own sync. `body` moves none itself.
  public func withOneSync(_ body: () throws -> Void) throws {
    // From here on this instance writes through libgit2.
    let library = try handles().library
    try Self.bulkWriting.withLock { _ in
      try library.setFsync(false)
      do {
        try body()
      } catch {
        try library.setFsync(true)
        throw error
      }
      try library.setFsync(true)
      try syncFileSystem()
    }
  }

  /// Lets `body` write objects without waiting for the disk at each: it is waited for once, when
  /// `body` is done, and only then do the objects join the repository. What a power cut leaves there
  /// is whole. Until then only this instance sees them, and only by their IDs.
  ///
  /// `body` moves no reference. A call inside another's `body` is part of that.
  ///
  /// - Parameter isBeforeMove: leave the last wait, for the objects' names, to the move of a reference
  ///   that follows, or to `settleObjects`: it then waits for the reference's files as well.
  public func storingTogether<Result>(
    isBeforeMove: Bool = false, _ body: () throws -> Result
  ) throws -> Result {
    guard newObjects == nil, isOfCommonForm else { return try body() }
    let objects = try NewObjects(in: gitFolder)
    newObjects = objects
    defer { newObjects = nil }
    let result = try body()
    // Where nothing was stored, what waits for a move may go on waiting.
    if objects.isEmpty { return result }
    try settleObjects()
    try objects.join()
    unsettledObjects = objects
    if !isBeforeMove { try settleObjects() }
    return result
  }

  /// Waits until the names of all objects stored so far are on the disk.
  public func settleObjects() throws {
    try unsettledObjects?.settle()
    unsettledObjects = nil
  }

  /// Held while objects are written without a sync of their own, and while a reference moves.
  private static let bulkWriting = Mutex(())

  /// Runs `body`, which moves a reference, when every object written so far is durable.
  func afterBulkWrites(_ body: () throws -> Void) throws {
    try Self.bulkWriting.withLock { _ in try body() }
  }

  func syncFileSystem() throws { try Disk.syncFileSystem(of: gitFolder) }
}
