internal import Glibc

/// A reader of git's index file, versions 2 and 3 (gitformat-index(5)), over the file in memory.
///
/// It costs no library and no copy of an entry, which is what lets a look at a large notebook be as
/// fast as git's. The checksum is not verified: whoever writes goes through libgit2, which does.
public final class IndexFile {
  /// When the file was last written: an entry modified no earlier may have changed unseen.
  private let writtenSeconds: UInt32
  private let writtenNanoseconds: UInt32
  private let bytes: UnsafeRawBufferPointer
  private var isMapped = true
  /// Where each entry starts and where its path ends.
  private var starts: [UInt32] = []
  private var ends: [UInt32] = []

  /// The index of a repository; empty when it has none yet, nil when the file is of a form this does
  /// not read (version 4, split index) and libgit2 must.
  public init?(ofRepositoryAt gitFolder: String) throws {
    let path = gitFolder + "/index"
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      guard errno == ENOENT else {
        throw GitError.system(call: "open", path: path, errno: errno)
      }
      (writtenSeconds, writtenNanoseconds) = (0, 0)
      bytes = UnsafeRawBufferPointer(start: nil, count: 0)
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
    // Writers replace the file and never change it in place, so the mapping stays what it is.
    guard size > 0, let address = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0),
      address != MAP_FAILED
    else { throw GitError.system(call: "mmap", path: path, errno: errno) }
    bytes = UnsafeRawBufferPointer(start: address, count: size)
    guard findEntries() else { return nil }
  }

  /// The same view of entries that were read otherwise. Without a time stamp of the file, any of
  /// them may have changed unseen.
  public init(entries: [IndexEntry]) {
    (writtenSeconds, writtenNanoseconds) = (0, 0)
    var image: [UInt8] = []
    func append(_ word: UInt32) {
      for shift in [24, 16, 8, 0] as [UInt32] {
        image.append(UInt8(truncatingIfNeeded: word >> shift))
      }
    }
    for entry in entries {
      starts.append(UInt32(image.count))
      let status = entry.status
      for word in [
        status.changedSeconds, status.changedNanoseconds, status.modifiedSeconds,
        status.modifiedNanoseconds, status.device, status.inode, entry.mode.rawValue, status.user,
        status.group, status.size,
      ] { append(word) }
      image += entry.id.bytes + [0, 0] + entry.path.bytes
      ends.append(UInt32(image.count))
    }
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: image.count, alignment: 8)
    copy.copyBytes(from: image)
    bytes = UnsafeRawBufferPointer(copy)
    isMapped = false
  }

  deinit {
    guard let address = bytes.baseAddress else { return }
    if isMapped {
      munmap(UnsafeMutableRawPointer(mutating: address), bytes.count)
    } else {
      bytes.deallocate()
    }
  }

  /// How many entries there are; those of an unfinished git merge (stages 1 to 3) do not count.
  public var count: Int { starts.count }

  /// All entries, by path.
  public var entries: [IndexEntry] { (0..<count).map { self[$0] } }

  /// The entry at a position in the order of paths.
  public subscript(position: Int) -> IndexEntry {
    IndexEntry(
      path: TreePath(bytes: pathBytes(at: position)), mode: mode(at: position),
      id: id(at: position), status: status(at: position))
  }

  /// The bytes of an entry's path; valid as long as the reader is.
  public func pathBytes(at position: Int) -> UnsafeRawBufferPointer {
    let start = Int(starts[position])
    let name = start + (half(start + 60) & 0x4000 != 0 ? 64 : 62)
    return UnsafeRawBufferPointer(rebasing: bytes[name..<Int(ends[position])])
  }

  /// An entry's mode.
  public func mode(at position: Int) -> FileMode {
    FileMode(rawValue: word(Int(starts[position]) + 24))
  }

  /// What an entry remembers of its file.
  public func status(at position: Int) -> FileStatus {
    let start = Int(starts[position])
    return FileStatus(
      changedSeconds: word(start), changedNanoseconds: word(start + 4),
      modifiedSeconds: word(start + 8), modifiedNanoseconds: word(start + 12),
      device: word(start + 16), inode: word(start + 20), user: word(start + 28),
      group: word(start + 32), size: word(start + 36))
  }

  private func id(at position: Int) -> ObjectID {
    let start = Int(starts[position]) + 40
    return ObjectID(bytes: bytes[start..<(start + ObjectID.byteCount)]) ?? .zero
  }

  /// Whether a file with this status may have changed without its status showing it: it was written
  /// in the same instant as the index or later (git's racy-git rule).
  public func isRacy(_ status: FileStatus) -> Bool {
    (status.modifiedSeconds, status.modifiedNanoseconds) >= (writtenSeconds, writtenNanoseconds)
  }

  private func word(_ offset: Int) -> UInt32 {
    UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  private func half(_ offset: Int) -> UInt16 {
    UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }

  /// Finds where the entries are; false when the file is not of a form we read.
  private func findEntries() -> Bool {
    let trailer = ObjectID.byteCount
    guard bytes.count >= 12 + trailer, bytes.count < UInt32.max, word(0) == 0x4449_5243,
      (2...3).contains(word(4))
    else { return false }
    let end = bytes.count - trailer
    let total = Int(word(8))
    guard total <= bytes.count / 62 else { return false }
    starts.reserveCapacity(total)
    ends.reserveCapacity(total)
    var position = 12
    for _ in 0..<total {
      guard position + 62 <= end else { return false }
      let flags = half(position + 60)
      let name = position + (flags & 0x4000 != 0 ? 64 : 62)
      // The flags hold the name's length, unless it is too long for their twelve bits.
      var nameEnd = name + Int(flags & 0xfff)
      if flags & 0xfff == 0xfff {
        while nameEnd < end, bytes[nameEnd] != 0 { nameEnd += 1 }
      }
      guard nameEnd > name, nameEnd < end, bytes[nameEnd] == 0 else { return false }
      if flags & 0x3000 == 0 {
        starts.append(UInt32(position))
        ends.append(UInt32(nameEnd))
      }
      // An entry is padded with one to eight zeros to a multiple of eight bytes.
      position += (nameEnd - position + 8) & ~7
    }
    // A split index keeps most entries in another file; its extension says so.
    while position + 8 <= end {
      if word(position) == 0x6c69_6e6b { return false }
      position += 8 + Int(word(position + 4))
    }
    return true
  }
}
