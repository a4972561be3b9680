/// A message between two devices: a type and a payload. On the wire a frame is the length of both in four
/// bytes, big-endian, then the type in one byte, then the payload.
public struct Frame: Hashable, Sendable {
  /// Below `firstDataType` a message, otherwise data.
  public let type: UInt8
  /// The bytes, whose meaning depends on the type.
  public let payload: [UInt8]

  /// The longest payload of a message, in bytes: notes-protocol(7), "Frames".
  public static let maximumMessage = 1024 * 1024
  /// The longest payload of a frame of data, in bytes.
  public static let maximumData = 256 * 1024
  /// The first type that carries data.
  public static let firstDataType: UInt8 = 0x80

  static let headerSize = 5

  /// A frame with these bytes; their length is checked on sending.
  public init(type: UInt8, payload: [UInt8]) {
    self.type = type
    self.payload = payload
  }

  /// The longest payload of a type.
  public static func maximumPayload(ofType type: UInt8) -> Int {
    type < firstDataType ? maximumMessage : maximumData
  }

  func encode(into bytes: inout [UInt8]) throws(ChannelError) {
    let limit = Frame.maximumPayload(ofType: type)
    if payload.count > limit {
      throw .frameTooLarge(type: type, length: payload.count, limit: limit)
    }
    let length = UInt32(payload.count + 1)
    for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: length >> UInt32(shift))) }
    bytes.append(type)
    bytes += payload
  }
}

/// Decodes received bytes into frames. It never allocates memory for more bytes than have arrived.
struct FrameReader {
  private var bytes: [UInt8] = []
  private var start = 0

  var count: Int { bytes.count - start }

  /// Whether the bytes are enough for any complete frame, so that no more must be read.
  var isFull: Bool { count >= Frame.headerSize + Frame.maximumMessage }

  mutating func append(_ more: some Collection<UInt8>) {
    if start == bytes.count {
      bytes.removeAll(keepingCapacity: bytes.capacity <= Frame.maximumData)
      start = 0
    } else if start > Frame.maximumData {
      bytes.removeFirst(start)
      start = 0
    }
    bytes.append(contentsOf: more)
  }

  /// The next frame; nil until it is complete. Throws as soon as it sees a length over the limit.
  mutating func next() throws(ChannelError) -> Frame? {
    if count < 4 { return nil }
    let length = bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
    if length == 0 { throw .frameEmpty }
    if length - 1 > Frame.maximumMessage {
      throw .frameTooLarge(type: nil, length: length - 1, limit: Frame.maximumMessage)
    }
    if count < Frame.headerSize { return nil }
    let type = bytes[start + 4]
    let limit = Frame.maximumPayload(ofType: type)
    if length - 1 > limit { throw .frameTooLarge(type: type, length: length - 1, limit: limit) }
    let end = start + 4 + length
    if end > bytes.count { return nil }
    let frame = Frame(type: type, payload: Array(bytes[start + Frame.headerSize..<end]))
    start = end
    return frame
  }
}
