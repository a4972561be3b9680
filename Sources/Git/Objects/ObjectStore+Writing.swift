internal import CLibgit2
internal import System

extension ObjectStore {
  private static let largeContent = 1 << 18

  /// Stores an object with this content, durably, and returns its ID.
  func write(_ kind: ObjectKind, _ content: [UInt8]) throws -> ObjectID {
    guard repository.isOfCommonForm else { return try writeByLibrary(kind, content) }
    let id = try ObjectID.hashing(kind, content)
    if let pending {
      // What is in a pack is not looked for, unless writing it again costs more than that.
      if kind == .blob, content.count > Self.largeContent, try contains(id) { return id }
      try pending.add(kind, content, id: id)
    } else if try !packs().contains(id) {
      try withBatchedWrites { try pending?.add(kind, content, id: id) }
    }
    return id
  }

  private func writeByLibrary(_ kind: ObjectKind, _ content: [UInt8]) throws -> ObjectID {
    let git = try repository.handles()
    var oid = git_oid()
    _ = try content.withUnsafeBytes { bytes in
      try git.library.check(
        "git_odb_write",
        git.library.api.git_odb_write(
          &oid, git.database, bytes.baseAddress, bytes.count, git_object_t(kind.rawValue)))
    }
    return oid.objectID
  }

  /// Lets `body` write objects without waiting for the disk at each: see
  /// `Repository.withBatchedWrites`.
  func withBatchedWrites<Result>(
    isBeforeMove: Bool = false, _ body: () throws -> Result
  ) throws -> Result {
    guard pending == nil, repository.isOfCommonForm else { return try body() }
    let objects = try PendingObjects(in: loose)
    pending = objects
    defer { pending = nil }
    let result = try body()
    // Where nothing was stored, what waits for a move may go on waiting.
    if objects.isEmpty { return result }
    try syncPending()
    try objects.join()
    unsynced = objects
    if !isBeforeMove { try syncPending() }
    return result
  }

  /// Waits until the names of all objects stored so far are on the disk.
  func syncPending() throws {
    try unsynced?.syncNames()
    unsynced = nil
  }
}
