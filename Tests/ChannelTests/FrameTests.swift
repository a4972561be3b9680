internal import TestSupport
import Testing

@testable import Channel

// notes-protocol(7), "Frames": four bytes of length, big-endian, which counts the type; one byte of
// type; the payload.
@Suite("Channel: frames")
struct FrameTests {
  func reader(_ bytes: [UInt8]) -> FrameReader {
    var reader = FrameReader()
    bytes.withUnsafeBytes { reader.append($0) }
    return reader
  }

  @Test("The wire form")
  func wireForm() throws {
    var bytes: [UInt8] = []
    try Frame(type: 9, payload: [0xAA, 0xBB]).encode(into: &bytes)
    #expect(bytes == [0, 0, 0, 3, 9, 0xAA, 0xBB])
    var reader = reader(bytes)
    #expect(try reader.next() == Frame(type: 9, payload: [0xAA, 0xBB]))
    #expect(try reader.next() == nil)
    #expect(reader.count == 0)
  }

  @Test("Frames come out alike however the bytes are cut")
  func anyCut() throws {
    var random = SplitMix64.reported()
    let frames = (0..<200).map { _ in
      Frame(
        type: UInt8.random(in: 0...255, using: &random),
        payload: (0..<Int.random(in: 0...2000, using: &random)).map { UInt8($0 & 0xFF) })
    }
    var bytes: [UInt8] = []
    for frame in frames { try frame.encode(into: &bytes) }
    var reader = FrameReader()
    var found: [Frame] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = rest.prefix(Int.random(in: 1...5000, using: &random))
      rest = rest.dropFirst(piece.count)
      piece.withUnsafeBytes { reader.append($0) }
      while let frame = try reader.next() { found.append(frame) }
    }
    #expect(found == frames)
  }

  @Test("A length is judged as soon as it is known, and by its type's class")
  func limits() throws {
    var empty = reader([0, 0, 0, 0])
    #expect(throws: ChannelError.frameEmpty) { try empty.next() }
    var huge = reader([0xFF, 0xFF, 0xFF, 0xFF])
    #expect(
      throws: ChannelError.frameTooLarge(
        type: nil, length: 0xFFFF_FFFE, limit: Frame.maximumMessage)
    ) { try huge.next() }
    // 256 KiB and one byte: allowed as a message, not as data.
    let length: [UInt8] = [0, 4, 0, 2]
    var message = reader(length + [0x7F])
    #expect(try message.next() == nil)
    var data = reader(length + [0x80])
    #expect(
      throws: ChannelError.frameTooLarge(
        type: 0x80, length: Frame.maximumData + 1, limit: Frame.maximumData)
    ) { try data.next() }
  }

  @Test("A frame over the limit is not sent either")
  func sendingTooMuch() {
    var bytes: [UInt8] = []
    #expect(throws: ChannelError.self) {
      try Frame(type: 0x80, payload: [UInt8](repeating: 0, count: Frame.maximumData + 1))
        .encode(into: &bytes)
    }
    #expect(bytes.isEmpty)
  }

  @Test("Random bytes make frames or an error, never a crash")
  func randomBytes() {
    var random = SplitMix64.reported()
    for _ in 0..<400 {
      var reader = FrameReader()
      for _ in 0..<8 {
        let bytes = (0..<Int.random(in: 0...64, using: &random)).map { _ in
          UInt8.random(in: 0...255, using: &random) & (Bool.random(using: &random) ? 0xFF : 0x03)
        }
        bytes.withUnsafeBytes { reader.append($0) }
        do { while try reader.next() != nil {} } catch { break }
      }
    }
  }
}
