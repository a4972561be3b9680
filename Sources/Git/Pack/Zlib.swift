internal import CZlib

struct Zlib: Sendable {
  let api: notes_zlib

  static let shared: Result<Zlib, PackError> = {
    let storage = UnsafeMutablePointer<notes_zlib>.allocate(capacity: 1)
    defer { storage.deallocate() }
    if let problem = notes_zlib_load(storage) {
      return .failure(.libraryMissing(String(cString: problem)))
    }
    return .success(Zlib(api: storage.pointee))
  }()

  static let bufferSize = 64 * 1024

  /// The CRC-32 of some bytes that follow others with the CRC-32 `start`. A pack's index records it for each object.
  func crc32(of bytes: UnsafeRawBufferPointer, after start: UInt32 = 0) -> UInt32 {
    if bytes.isEmpty { return start }
    let first = bytes.bindMemory(to: UInt8.self).baseAddress
    return UInt32(truncatingIfNeeded: api.crc32(UInt(start), first, UInt32(bytes.count)))
  }

  /// A stream on the heap, because zlib stores the stream's address.
  fileprivate static func makeStream(
    _ start: (UnsafeMutablePointer<z_stream>) -> Int32
  ) throws -> UnsafeMutablePointer<z_stream> {
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    let status = start(stream)
    guard status == Z_OK else {
      stream.deallocate()
      throw PackError.compression(code: status)
    }
    return stream
  }
}

extension z_stream {
  fileprivate mutating func setInput(_ bytes: UnsafeRawBufferPointer) {
    next_in = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
    avail_in = UInt32(bytes.count)
  }

  fileprivate mutating func setOutput(_ room: UnsafeMutableBufferPointer<UInt8>, count: Int) {
    next_out = room.baseAddress
    avail_out = UInt32(count)
  }
}

/// The zlib of this system.
public enum CompressionLibrary {
  /// The version whose headers the program was built with, such as "1.2.13".
  public static let builtWith = ZLIB_VERSION

  /// The version, such as "1.3.1"; throws `PackError.libraryMissing`.
  public static func version() throws -> String {
    _ = try Zlib.shared.get()
    return notes_zlib_version().map { String(cString: $0) } ?? ""
  }
}

/// Compresses buffers one after another, each into a separate zlib stream.
final class Deflater {
  private let zlib: Zlib
  private let stream: UnsafeMutablePointer<z_stream>

  /// The fastest level, which git uses for objects that are written while somebody waits.
  static let fastest = Z_BEST_SPEED
  /// The level that stores the bytes uncompressed.
  static let none = Z_NO_COMPRESSION

  init(level: Int32? = nil) throws {
    let zlib = try Zlib.shared.get()
    self.zlib = zlib
    stream = try Zlib.makeStream {
      zlib.api.deflateInit_(
        $0, level ?? Z_DEFAULT_COMPRESSION, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    }
  }

  deinit {
    _ = zlib.api.deflateEnd(stream)
    stream.deallocate()
  }

  func compress(_ bytes: [UInt8], into output: inout [UInt8]) throws {
    try compress(bytes, after: []) { output += $0 }
  }

  /// Compresses two texts as one, without copying them together, and passes on the output in pieces.
  func compress(
    _ bytes: [UInt8], after header: [UInt8],
    _ put: (Slice<UnsafeMutableBufferPointer<UInt8>>) throws -> Void
  ) throws {
    try begin()
    try deflate(header[...], Z_NO_FLUSH, put)
    try deflate(bytes[...], Z_FINISH, put)
  }

  /// Begins a stream whose bytes come in parts, each to `append`.
  func begin() throws {
    guard zlib.api.deflateReset(stream) == Z_OK else { throw PackError.compression(code: 0) }
  }

  func append(_ part: ArraySlice<UInt8>, isLast: Bool, to output: inout [UInt8]) throws {
    try deflate(part, isLast ? Z_FINISH : Z_NO_FLUSH) { output += $0 }
  }

  private func deflate(
    _ bytes: ArraySlice<UInt8>, _ flush: Int32,
    _ put: (Slice<UnsafeMutableBufferPointer<UInt8>>) throws -> Void
  ) throws {
    if bytes.isEmpty, flush == Z_NO_FLUSH { return }
    var status = Z_OK
    try bytes.withUnsafeBytes { source in
      stream.pointee.setInput(source)
      repeat {
        try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Zlib.bufferSize) { buffer in
          stream.pointee.setOutput(buffer, count: buffer.count)
          status = zlib.api.deflate(stream, flush)
          try put(buffer[..<(buffer.count - Int(stream.pointee.avail_out))])
        }
      } while status == Z_OK && (flush == Z_FINISH || stream.pointee.avail_in > 0)
    }
    guard status == (flush == Z_FINISH ? Z_STREAM_END : Z_OK) else {
      throw PackError.compression(code: status)
    }
  }
}

final class Inflater {
  private let zlib: Zlib
  private let stream: UnsafeMutablePointer<z_stream>

  init() throws {
    let zlib = try Zlib.shared.get()
    self.zlib = zlib
    stream = try Zlib.makeStream {
      zlib.api.inflateInit_($0, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    }
  }

  deinit {
    _ = zlib.api.inflateEnd(stream)
    stream.deallocate()
  }

  func reset() throws {
    guard zlib.api.inflateReset(stream) == Z_OK else { throw PackError.compression(code: 0) }
  }

  /// Decompresses as much as possible of a piece of a stream, and passes the output to `consume`.
  /// Returns the number of input bytes used, and whether the stream ended there.
  func inflate(
    _ input: UnsafeRawBufferPointer, consume: (UnsafeBufferPointer<UInt8>) throws -> Void
  ) throws -> (consumed: Int, ended: Bool) {
    stream.pointee.setInput(input)
    var status = Z_OK
    var full = true
    while status == Z_OK, full || stream.pointee.avail_in > 0 {
      try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Zlib.bufferSize) { buffer in
        stream.pointee.setOutput(buffer, count: buffer.count)
        status = zlib.api.inflate(stream, Z_NO_FLUSH)
        guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else {
          throw PackError.malformed("a compressed object is damaged")
        }
        full = stream.pointee.avail_out == 0
        let written = buffer.count - Int(stream.pointee.avail_out)
        if written > 0 { try consume(UnsafeBufferPointer(rebasing: buffer[..<written])) }
      }
    }
    return (input.count - Int(stream.pointee.avail_in), status == Z_STREAM_END)
  }

  /// The object in the complete stream of a loose object; nil if it is malformed.
  func inflate(loose input: UnsafeRawBufferPointer) throws -> StoredObject? {
    guard let (kind, size, start) = header(ofLoose: input),
      var content = try inflate(input, size: start + size)
    else { return nil }
    content.removeFirst(start)
    return (kind, content)
  }

  /// The kind, the size and the start of the content, from the header of a loose object, `KIND SIZE` and a
  /// NUL; nil if it is malformed.
  func header(
    ofLoose input: UnsafeRawBufferPointer
  ) -> (kind: ObjectKind, size: Int, contentStart: Int)? {
    let head = inflate(first: 64, of: input)
    guard let end = head.firstIndex(of: 0) else { return nil }
    let words = head[..<end].split(separator: UInt8(ascii: " "))
    // No stream expands by more than a factor of 1032.
    guard words.count == 2, let kind = LooseObjects.kind(named: words[0]),
      let size = Int(String(decoding: words[1], as: UTF8.self)), size >= 0, size < 1 << 31,
      size / 1032 <= input.count
    else { return nil }
    return (kind, size, end + 1)
  }

  /// The first bytes of a complete stream; empty if it is damaged.
  func inflate(first limit: Int, of input: UnsafeRawBufferPointer) -> [UInt8] {
    // For a damaged stream, the result is nil.
    guard let (bytes, status) = try? inflate(input, upTo: limit), status != Z_DATA_ERROR else {
      return []
    }
    return bytes
  }

  /// The content of a complete stream; nil if its size is not `size`. The caller must have checked
  /// `size`, as that much memory is allocated at once.
  func inflate(_ input: UnsafeRawBufferPointer, size: Int) throws -> [UInt8]? {
    // Request one byte more than the size, to find out whether the stream ends there.
    let (bytes, status) = try inflate(input, upTo: size + 1)
    return status == Z_STREAM_END && bytes.count == size ? bytes : nil
  }

  private func inflate(
    _ input: UnsafeRawBufferPointer, upTo limit: Int
  ) throws -> (bytes: [UInt8], status: Int32) {
    try reset()
    // zlib counts in 32 bits, and no object is that large.
    stream.pointee.setInput(UnsafeRawBufferPointer(rebasing: input.prefix(1 << 30)))
    var status = Z_OK
    let bytes = [UInt8](unsafeUninitializedCapacity: limit) { output, count in
      stream.pointee.setOutput(output, count: limit)
      status = zlib.api.inflate(stream, Z_FINISH)
      count = limit - Int(stream.pointee.avail_out)
    }
    return (bytes, status)
  }
}
