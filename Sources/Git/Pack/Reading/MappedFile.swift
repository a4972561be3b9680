internal import Glibc
internal import System

/// A file mapped into memory. Packs and indexes are never changed in place, and a removed file stays readable.
/// Unchecked Sendable: the memory is never written to.
final class MappedFile: @unchecked Sendable {
  let bytes: UnsafeRawBufferPointer
  let status: stat
  private let isMapped: Bool

  /// Maps the file; if it will be read whole, all of it at once. An empty file is an error,
  /// ENODATA.
  init(_ path: String, isReadWhole: Bool = false) throws(GitError) {
    let descriptor = try Disk.open(path, O_RDONLY)
    defer { close(descriptor) }
    var status = stat()
    guard Counted.fstat(descriptor, &status) == 0 else {
      throw .system(call: "fstat", path: path, errno: errno)
    }
    let size = Int(status.st_size)
    if size == 0 { throw .system(call: "mmap", path: path, errno: ENODATA) }
    let flags = isReadWhole ? MAP_PRIVATE | MAP_POPULATE : MAP_PRIVATE
    guard let start = mmap(nil, size, PROT_READ, flags, descriptor, 0), start != MAP_FAILED else {
      throw .system(call: "mmap", path: path, errno: errno)
    }
    bytes = UnsafeRawBufferPointer(start: start, count: size)
    self.status = status
    isMapped = true
  }

  /// A file with this content and the earliest possible time.
  init(copying content: [UInt8]) {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: content.count, alignment: 8)
    copy.copyBytes(from: content)
    bytes = UnsafeRawBufferPointer(copy)
    status = stat()
    isMapped = false
  }

  deinit {
    if isMapped {
      munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
    } else {
      bytes.deallocate()
    }
  }

  /// Releases the memory of pages that were read. The pages stay in the system's file cache, which does not
  /// count as this process's memory.
  func releasePages() {
    if isMapped {
      madvise(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count, MADV_DONTNEED)
    }
  }

  /// The number of reads after which pages are released. Each read of a missing page loads 64 KiB, so they use a few
  /// megabytes at most.
  static let readsUntilRelease = 128

  /// The 32-bit number in network order at `offset`; nil beyond the end.
  func word(at offset: Int) -> UInt32? {
    offset >= 0 && offset <= bytes.count - 4 ? bytes.bigEndianWord(at: offset) : nil
  }
}
