internal import Git
internal import Glibc

/// Reads one small file after the other into the same memory.
///
/// What it reads may be half of a write that goes on: good for looking, not for keeping.
struct FileReader: ~Copyable {
  private let root: Int32
  private let sizeLimit: Int
  private var memory: UnsafeMutableRawBufferPointer

  /// - Parameter root: a descriptor of the folder that paths are seen from.
  init(root: Int32, sizeLimit: Int) {
    self.root = root
    self.sizeLimit = sizeLimit
    memory = .allocate(byteCount: 64 << 10, alignment: 16)
  }

  deinit { memory.deallocate() }

  /// Calls `body` with the bytes of a file, and a descriptor of it. Nothing happens where there is
  /// no plain file, or one that is too large to be versioned, or that can't be read.
  mutating func read(
    _ name: UnsafePointer<CChar>, _ body: (UnsafeRawBufferPointer, Int32) throws -> Void
  ) rethrows {
    let descriptor = openat(root, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var count = 0
    while true {
      let length = Glibc.read(
        descriptor, memory.baseAddress.map { $0 + count }, memory.count - count)
      guard length >= 0 else { return }
      count += length
      // A file gives less than was asked for at its end only; most take one call.
      if count < memory.count { break }
      guard count <= sizeLimit, grow(for: descriptor) else { return }
    }
    try body(UnsafeRawBufferPointer(rebasing: memory[..<count]), descriptor)
  }

  /// Makes room for the rest of a file, if it is one.
  private mutating func grow(for descriptor: Int32) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      Int(status.st_size) <= sizeLimit
    else { return false }
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(memory.count * 2, Int(status.st_size) + 1), alignment: 16)
    larger.copyMemory(from: UnsafeRawBufferPointer(memory))
    memory.deallocate()
    memory = larger
    return true
  }
}
