import Channel
import Testing

@testable import Exchange

@Suite("JSON that somebody else wrote")
struct ReceivedJSONTests {
  private func message(nesting depth: Int, ends: Bool = true) -> String {
    #"{"reason":"done","more":"# + String(repeating: "[", count: depth - 1)
      + (ends ? String(repeating: "]", count: depth - 1) + "}" : "")
  }

  private func read(_ text: String) throws -> ByeMessage {
    try Frame(type: MessageType.bye.rawValue, payload: Array(text.utf8)).decode(ByeMessage.self)
  }

  // notes-protocol(7), "Frames": "Arrays and objects nest at most 512 deep."
  @Test("a message that nests 512 deep is read, and one deeper is refused, wherever it ends")
  func nesting() throws {
    #expect(try read(message(nesting: 512)).reason == .done)
    let cut = message(nesting: 513, ends: false)
    for text in [message(nesting: 513), cut, cut + "\r"] {
      #expect(throws: SyncError.self) { try read(text) }
    }
  }

  // notes-protocol(7), "Frames": "one JSON object (RFC 8259, UTF-8) … Object IDs are 40 lower-case
  // hexadecimal digits".
  @Test("UTF-8 without a byte order mark is read, and nothing else; IDs are in lower case")
  func encodings() throws {
    let text = Array(#"{"reason":"done"}"#.utf8)
    func isRead(_ payload: [UInt8]) -> Bool {
      (try? Frame(type: MessageType.bye.rawValue, payload: payload).decode(ByeMessage.self)) != nil
    }
    #expect(isRead(text) && isRead([0x20, 0x0A] + text))
    #expect(!isRead([0xEF, 0xBB, 0xBF] + text))
    let little: [UInt8] = text.flatMap { [$0, 0] as [UInt8] }
    let big: [UInt8] = text.flatMap { [0, $0] as [UInt8] }
    let wide: [UInt8] = text.flatMap { [$0, 0, 0, 0] as [UInt8] }
    #expect(!isRead(little) && !isRead(big) && !isRead(wide))
    #expect(!isRead([0xFF, 0xFE] + little) && !isRead([0xFE, 0xFF] + big))
    #expect(!isRead([0xFF, 0xFE, 0, 0] + wide))
    func heads(_ id: String) -> Bool {
      let payload = Array(#"{"tip":"\#(id)","heads":["\#(id)"]}"#.utf8)
      let frame = Frame(type: MessageType.heads.rawValue, payload: payload)
      return (try? frame.decode(HeadsMessage.self)) != nil
    }
    let id = String(repeating: "ab", count: 20)
    #expect(heads(id) && !heads(id.uppercased()) && !heads(String(id.dropLast())))
  }

  @Test("text that nests too deep is refused, whatever its last byte", arguments: ["[", "{", "\r"])
  func lastByte(byte: String) throws {
    let text = String(repeating: "[", count: 513) + byte
    #expect(throws: DecodingError.self) {
      try ReceivedJSON.decode([String: String].self, from: Array(text.utf8))
    }
  }
}
