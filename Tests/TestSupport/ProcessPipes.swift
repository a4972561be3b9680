internal import Glibc
internal import Synchronization
internal import System

/// A file that may be closed from any thread, once.
final class OpenFile: Sendable {
  private let file: Mutex<Int32?>

  init(_ file: Int32) { self.file = Mutex(file) }

  deinit { close() }

  /// Whether there is anything to be read.
  var hasMore: Bool {
    file.withLock { file in
      var asked = pollfd(fd: file ?? -1, events: Int16(POLLIN), revents: 0)
      return poll(&asked, 1, 0) > 0 && asked.revents & Int16(POLLIN) != 0
    }
  }

  /// Writes everything, or as much as the other end reads.
  func write(_ bytes: [UInt8]) {
    file.withLock { file in
      guard let file else { return }
      var written = 0
      while written < bytes.count {
        let count = bytes[written...].withUnsafeBytes {
          Glibc.write(file, $0.baseAddress, $0.count)
        }
        if count <= 0 { return }
        written += count
      }
    }
  }

  func close() {
    file.withLock { file in
      if let file { _ = Glibc.close(file) }
      file = nil
    }
  }
}

/// What a process wrote.
final class CollectedBytes: Sendable {
  private let state = Mutex((output: [UInt8](), errors: [UInt8]()))

  var output: [UInt8] { state.withLock { $0.output } }
  var errors: [UInt8] { state.withLock { $0.errors } }

  func appendOutput(_ bytes: ArraySlice<UInt8>) { state.withLock { $0.output += bytes } }
  func appendErrors(_ bytes: ArraySlice<UInt8>) { state.withLock { $0.errors += bytes } }
}

enum LineReader {
  /// Reads `file` to its end and closes it, giving each piece to `collect` and each line to `log`.
  static func read(
    _ file: Int32, into log: EventLog<String>, collect: (ArraySlice<UInt8>) -> Void
  ) {
    var line: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = Glibc.read(file, &buffer, buffer.count)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { break }
      collect(buffer[..<count])
      var (lines, start) = ([String](), 0)
      while let end = newline(in: buffer, start..<count) {
        line += buffer[start..<end]
        lines.append(String(decoding: line, as: UTF8.self))
        (line, start) = ([], end + 1)
      }
      line += buffer[start..<count]
      log.append(contentsOf: lines)
    }
    if !line.isEmpty { log.append(String(decoding: line, as: UTF8.self)) }
    close(file)
  }

  /// The first newline in a range. A line may have megabytes, so memchr(3) searches for it.
  private static func newline(in buffer: [UInt8], _ range: Range<Int>) -> Int? {
    buffer.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress,
        let found = memchr(base + range.lowerBound, 0x0A, range.count)
      else { return nil }
      return UnsafeRawPointer(found) - base
    }
  }
}

/// Runs `body` on a new thread.
public func startThread(_ body: @escaping @Sendable () -> Void) {
  do {
    try System.startThread(body)
  } catch {
    preconditionFailure("pthread_create: \(error.errno)")
  }
}
