internal import Glibc

/// A reader of git's index file, versions 2 and 3 (gitformat-index(5)).
///
/// It costs no library, which is what lets `notes status` start as fast as git's. The checksum is
/// not verified: whoever writes goes through libgit2, which does.
public struct IndexFile: Sendable {
  /// The entries by path. Those of an unfinished git merge (stages 1 to 3) are left out.
  public let entries: [IndexEntry]
  /// When the file was last written: an entry modified no earlier may have changed unseen.
  public let writtenSeconds: UInt32
  public let writtenNanoseconds: UInt32

  /// The index of a repository; empty when it has none yet, nil when the file is of a form this
  /// does not read (version 4, split index) and libgit2 must.
  public init?(ofRepositoryAt gitFolder: String) throws {
    let path = gitFolder + "/index"
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      guard errno == ENOENT else {
        throw GitError.system(call: "open", path: path, errno: errno)
      }
      (entries, writtenSeconds, writtenNanoseconds) = ([], 0, 0)
      return
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw GitError.system(call: "fstat", path: path, errno: errno)
    }
    writtenSeconds = UInt32(truncatingIfNeeded: status.st_mtim.tv_sec)
    writtenNanoseconds = UInt32(truncatingIfNeeded: status.st_mtim.tv_nsec)
    let size = Int(status.st_size)
    guard size > 0, let address = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0),
      address != MAP_FAILED
    else { throw GitError.system(call: "mmap", path: path, errno: errno) }
    defer { munmap(address, size) }
    let bytes = UnsafeRawBufferPointer(start: address, count: size)
    guard let entries = Self.parse(bytes) else { return nil }
    self.entries = entries
  }

  /// Whether a file with this status may have changed without its status showing it: it was written
  /// in the same instant as the index or later (git's racy-git rule).
  public func isRacy(_ status: FileStatus) -> Bool {
    (status.modifiedSeconds, status.modifiedNanoseconds) >= (writtenSeconds, writtenNanoseconds)
  }

  private static func parse(_ bytes: UnsafeRawBufferPointer) -> [IndexEntry]? {
    func word(_ offset: Int) -> UInt32 {
      UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
    func half(_ offset: Int) -> UInt16 {
      UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }
    let trailer = ObjectID.byteCount
    guard bytes.count >= 12 + trailer, word(0) == 0x4449_5243, (2...3).contains(word(4)) else {
      return nil
    }
    let end = bytes.count - trailer
    var entries: [IndexEntry] = []
    let count = Int(word(8))
    guard count <= bytes.count / 62 else { return nil }
    entries.reserveCapacity(count)
    var position = 12
    for _ in 0..<count {
      guard position + 62 <= end else { return nil }
      let flags = half(position + 60)
      let extended = flags & 0x4000 != 0
      let nameStart = position + (extended ? 64 : 62)
      guard nameStart < end,
        let nameEnd = bytes[nameStart..<end].firstIndex(of: 0),
        let id = ObjectID(bytes: bytes[(position + 40)..<(position + 60)])
      else { return nil }
      if flags & 0x3000 == 0 {
        entries.append(
          IndexEntry(
            path: TreePath(bytes: bytes[nameStart..<nameEnd]),
            mode: FileMode(rawValue: word(position + 24)), id: id,
            status: FileStatus(fields: [
              word(position), word(position + 4), word(position + 8), word(position + 12),
              word(position + 16), word(position + 20), word(position + 28), word(position + 32),
              word(position + 36),
            ])))
      }
      // An entry is padded with one to eight zeros to a multiple of eight bytes.
      position += (nameEnd - position + 8) & ~7
    }
    // A split index keeps most entries in another file; its extension says so.
    while position + 8 <= end {
      if word(position) == 0x6c69_6e6b { return nil }
      position += 8 + Int(word(position + 4))
    }
    return entries
  }
}
