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

  // notes-protocol(7), "Frames": "Its arrays and objects nest at most 512 deep."
  @Test("a message that nests 512 deep is read, and one deeper is refused, wherever it ends")
  func nesting() throws {
    #expect(try read(message(nesting: 512)).reason == .done)
    let cut = message(nesting: 513, ends: false)
    for text in [message(nesting: 513), cut, cut + "\r"] {
      #expect(throws: SyncError.self) { try read(text) }
    }
  }

  @Test("text that nests too deep is refused, whatever its last byte", arguments: ["[", "{", "\r"])
  func lastByte(byte: String) throws {
    let text = String(repeating: "[", count: 513) + byte
    #expect(throws: DecodingError.self) {
      try ReceivedJSON.decode([String: String].self, from: Array(text.utf8))
    }
  }
}
