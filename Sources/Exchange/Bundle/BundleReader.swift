internal import Glibc
package import System

/// Reads a bundle once, from its beginning to its end.
package final class BundleReader {
  private let path: String
  private let descriptor: Int32
  private let cancellation: CancellationToken?
  /// Bytes of the pack that were read together with the header.
  private var rest: [UInt8] = []

  private static let piece = 256 << 10
  /// System calls on files that throw `BundleError`.
  private typealias Disk = FileSystem<BundleError>

  /// Opens a file, or standard input if `path` is nil. Throws `BundleError.file`.
  package init(path: String?, cancellation: CancellationToken? = nil) throws {
    self.path = path ?? ""
    self.cancellation = cancellation
    // For a pipe, open(2) would wait for a writer, and could not be cancelled.
    descriptor = try path.map { try Disk.open($0, O_RDONLY | O_NONBLOCK) } ?? dup(STDIN_FILENO)
  }

  deinit { close(descriptor) }

  /// The header before the pack; called once, before `next`.
  package func header() throws -> BundleHeader {
    var bytes: [UInt8] = []
    while true {
      if let end = try BundleHeader.end(in: bytes) {
        rest = Array(bytes[end...])
        return try BundleHeader(parsing: bytes[..<(end - 1)])
      }
      guard let piece = try read() else { throw bytes.isEmpty ? BundleError.notABundle : .damaged }
      bytes += piece
    }
  }

  /// The next bytes of the pack; nil at the end.
  package func next() throws -> [UInt8]? {
    guard !rest.isEmpty else { return try read() }
    defer { rest = [] }
    return rest
  }

  private func read() throws -> [UInt8]? {
    let stop = cancellation?.descriptor ?? -1
    var buffer = [UInt8](repeating: 0, count: Self.piece)
    while true {
      if Poll.wait(for: [descriptor, stop]).contains(stop) { throw SyncError.stopped }
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, [EINTR, EAGAIN].contains(errno) { continue }
      if count < 0 { throw BundleError.file(call: "read", path: path, errno: errno) }
      return count == 0 ? nil : Array(buffer[..<count])
    }
  }
}
