internal import CZlib

/// The loaded zlib.
struct Zlib: Sendable {
  let api: notes_zlib

  /// Loads the library once a process.
  static let shared: Result<Zlib, PackError> = {
    let storage = UnsafeMutablePointer<notes_zlib>.allocate(capacity: 1)
    defer { storage.deallocate() }
    if let problem = notes_zlib_load(storage) {
      return .failure(.libraryMissing(String(cString: problem)))
    }
    return .success(Zlib(api: storage.pointee))
  }()

  static let bufferSize = 64 * 1024

  /// The CRC-32 of some bytes, as pack indexes keep it of each object, and of those before them.
  func crc32(of bytes: UnsafeRawBufferPointer, after start: UInt32 = 0) -> UInt32 {
    var crc = UInt(start)
    var rest = bytes
    // zlib counts in 32 bits.
    while !rest.isEmpty {
      let part = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 30))
      crc = api.crc32(crc, part.bindMemory(to: UInt8.self).baseAddress, UInt32(part.count))
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(part.count))
    }
    return UInt32(truncatingIfNeeded: crc)
  }
}

/// Compresses one buffer after another into zlib streams of their own.
final class Deflater {
  private let zlib: Zlib
  // On the heap, because zlib remembers where the stream it was given lives.
  private let stream: UnsafeMutablePointer<z_stream>

  /// The level that costs least, as git takes for objects that are written while somebody waits.
  static let fastest = Z_BEST_SPEED
  /// The level that stores the bytes as they are.
  static let none = Z_NO_COMPRESSION

  /// - Parameter level: 0, none, or from 1, fastest, to 9, smallest; zlib's own choice when nil.
  init(level: Int32? = nil) throws {
    zlib = try Zlib.shared.get()
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    let status = zlib.api.deflateInit_(
      stream, level ?? Z_DEFAULT_COMPRESSION, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    guard status == Z_OK else {
      stream.deallocate()
      throw PackError.compression(code: status)
    }
  }

  deinit {
    _ = zlib.api.deflateEnd(stream)
    stream.deallocate()
  }

  /// Appends the compressed form of `bytes` to `output`.
  func compress(_ bytes: [UInt8], into output: inout [UInt8]) throws {
    try compress([bytes]) { output.append(contentsOf: $0) }
  }

  /// Compresses some pieces as one, handing each part of the result to `consume`.
  func compress(
    _ pieces: [[UInt8]], consume: (UnsafeBufferPointer<UInt8>) throws -> Void
  ) throws {
    guard zlib.api.deflateReset(stream) == Z_OK else { throw PackError.compression(code: 0) }
    for (position, piece) in pieces.enumerated() {
      let isLast = position == pieces.count - 1
      try piece.withUnsafeBytes { source in
        stream.pointee.next_in = UnsafeMutablePointer(
          mutating: source.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(source.count)
        var status = Z_OK
        while isLast ? status != Z_STREAM_END : stream.pointee.avail_in > 0 {
          try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Zlib.bufferSize) { buffer in
            stream.pointee.next_out = buffer.baseAddress
            stream.pointee.avail_out = UInt32(buffer.count)
            status = zlib.api.deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
            guard status == Z_OK || status == Z_STREAM_END else {
              throw PackError.compression(code: status)
            }
            let written = buffer.count - Int(stream.pointee.avail_out)
            if written > 0 {
              try consume(UnsafeBufferPointer(rebasing: UnsafeBufferPointer(buffer)[..<written]))
            }
          }
        }
      }
    }
  }
}

/// Decompresses one zlib stream after another from input that arrives in pieces.
final class Inflater {
  private let zlib: Zlib
  // On the heap, because zlib remembers where the stream it was given lives.
  private let stream: UnsafeMutablePointer<z_stream>
  private var isAtEnd = false

  init() throws {
    zlib = try Zlib.shared.get()
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    let status = zlib.api.inflateInit_(
      stream, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    guard status == Z_OK else {
      stream.deallocate()
      throw PackError.compression(code: status)
    }
  }

  deinit {
    _ = zlib.api.inflateEnd(stream)
    stream.deallocate()
  }

  /// Makes ready for the next stream.
  func reset() throws {
    guard zlib.api.inflateReset(stream) == Z_OK else { throw PackError.compression(code: 0) }
  }

  /// Decompresses what it can of `input`, handing each piece of output to `consume`.
  ///
  /// - Returns: how many bytes of the input it took, and whether the stream ended there.
  func inflate(
    _ input: UnsafeRawBufferPointer, consume: (UnsafeBufferPointer<UInt8>) throws -> Void
  ) throws -> (consumed: Int, ended: Bool) {
    stream.pointee.next_in = UnsafeMutablePointer(
      mutating: input.bindMemory(to: UInt8.self).baseAddress)
    stream.pointee.avail_in = UInt32(input.count)
    var status = Z_OK
    var full = true
    while status == Z_OK, full || stream.pointee.avail_in > 0 {
      try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Zlib.bufferSize) { buffer in
        stream.pointee.next_out = buffer.baseAddress
        stream.pointee.avail_out = UInt32(buffer.count)
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

  /// The object in the stream of a loose one, which lies in memory whole; nil when it is not well formed.
  func inflate(loose input: UnsafeRawBufferPointer) -> StoredObject? {
    var begun: [UInt8] = []
    guard let (kind, size) = begin(loose: input, &begun) else { return nil }
    let content = [UInt8](unsafeUninitializedCapacity: size + 1) { output, count in
      _ = output.update(fromContentsOf: begun)
      // A byte more than wanted, so that a stream that goes on is told from one that ends.
      stream.pointee.next_out = output.baseAddress?.advanced(by: begun.count)
      stream.pointee.avail_out = UInt32(size + 1 - begun.count)
      if !isAtEnd { isAtEnd = zlib.api.inflate(stream, Z_FINISH) == Z_STREAM_END }
      count = size + 1 - Int(stream.pointee.avail_out)
    }
    return isAtEnd && content.count == size ? (kind, content) : nil
  }

  /// What stands before the content in the stream of a loose object.
  func inflateHeader(ofLoose input: UnsafeRawBufferPointer) -> (kind: ObjectKind, size: Int)? {
    var begun: [UInt8] = []
    return begin(loose: input, &begun)
  }

  /// Reads `KIND SIZE`, a NUL, and the first bytes of what follows.
  private func begin(
    loose input: UnsafeRawBufferPointer, _ begun: inout [UInt8]
  ) -> (kind: ObjectKind, size: Int)? {
    let head = inflate(first: 64, of: input)
    guard let end = head.firstIndex(of: 0) else { return nil }
    let words = head[..<end].split(separator: UInt8(ascii: " "))
    begun = Array(head[(end + 1)...])
    // No stream grows by more than 1032 times.
    guard words.count == 2, let kind = LooseObjects.kind(named: words[0]),
      let size = Int(String(decoding: words[1], as: UTF8.self)),
      size >= begun.count, size < 1 << 31, size / 1032 <= input.count
    else { return nil }
    return (kind, size)
  }

  /// The first bytes of a stream that lies in memory whole; none when it is damaged.
  func inflate(first limit: Int, of input: UnsafeRawBufferPointer) -> [UInt8] {
    guard (try? reset()) != nil else { return [] }
    stream.pointee.next_in = UnsafeMutablePointer(
      mutating: input.bindMemory(to: UInt8.self).baseAddress)
    stream.pointee.avail_in = UInt32(min(input.count, 1 << 30))
    return [UInt8](unsafeUninitializedCapacity: limit) { output, count in
      stream.pointee.next_out = output.baseAddress
      stream.pointee.avail_out = UInt32(limit)
      let status = zlib.api.inflate(stream, Z_NO_FLUSH)
      isAtEnd = status == Z_STREAM_END
      count = isAtEnd || status == Z_OK ? limit - Int(stream.pointee.avail_out) : 0
    }
  }

  /// The content of a stream that lies in memory whole, or nil when it is not of `size` bytes.
  ///
  /// Room for all of it is made at once: the size must be one that has been checked.
  func inflate(_ input: UnsafeRawBufferPointer, size: Int) throws -> [UInt8]? {
    try reset()
    var ended = false
    let content = [UInt8](unsafeUninitializedCapacity: size + 1) { output, count in
      stream.pointee.next_in = UnsafeMutablePointer(
        mutating: input.bindMemory(to: UInt8.self).baseAddress)
      stream.pointee.avail_in = UInt32(min(input.count, 1 << 30))
      stream.pointee.next_out = output.baseAddress
      // A byte more than wanted, so that a stream that goes on is told from one that ends.
      stream.pointee.avail_out = UInt32(size + 1)
      ended = zlib.api.inflate(stream, Z_FINISH) == Z_STREAM_END
      count = min(size + 1 - Int(stream.pointee.avail_out), size)
    }
    return ended && stream.pointee.avail_out == 1 ? content : nil
  }
}
