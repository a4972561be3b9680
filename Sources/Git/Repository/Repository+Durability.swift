internal import CLinux
internal import Glibc
internal import Synchronization

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
    let library = try Libgit2.shared.get()
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

  /// As `withOneSync`, and only after the sync do the objects join the repository: what a power cut
  /// leaves there is whole. Until then only this instance sees them, and only by their IDs.
  public func storingTogether(_ body: () throws -> Void) throws {
    let aside = try ObjectsAside(repository: self)
    try withOneSync {
      objectsAside = aside
      defer { objectsAside = nil }
      try body()
    }
    try aside.join()
    try syncFileSystem()
  }

  /// Held while objects are written without a sync of their own, and while a reference moves.
  private static let bulkWriting = Mutex(())

  /// Runs `body`, which moves a reference, when every object written so far is durable.
  func afterBulkWrites(_ body: () throws -> Void) throws {
    try Self.bulkWriting.withLock { _ in try body() }
  }

  func syncFileSystem() throws {
    let descriptor = Glibc.open(gitFolder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw GitError.system(call: "open", path: gitFolder, errno: errno)
    }
    defer { close(descriptor) }
    guard notes_syncfs(descriptor) == 0 else {
      throw GitError.system(call: "syncfs", path: gitFolder, errno: errno)
    }
  }
}
