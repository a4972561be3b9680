import Channel
import GitSupport
import Membership
import TestSupport

@testable import Exchange
@testable import Git

/// Messages at random: those of notes-protocol(7), in any order, with something changed in most of them.
struct RandomMessages {
  var random: SplitMix64
  let device: Device

  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
  private mutating func one<Element>(of all: [Element]) -> Element { all[below(all.count)] }

  /// What a session may be made of.
  mutating func frames(knowing ids: [ObjectID], from script: HostileScript) throws -> [Frame] {
    try (0..<1 + below(8)).map { _ in
      var frame = try frame(ids, script)
      for _ in 0..<below(3) { frame = changed(frame) }
      return frame
    }
  }

  private mutating func frame(_ ids: [ObjectID], _ script: HostileScript) throws -> Frame {
    let heads = ids.shuffled(using: &random).prefix(below(4))
    let made = HandmadePack.id(.blob, Array("\(below(99))".utf8))
    let these = heads.isEmpty ? [made] : Array(heads)
    switch below(15) {
    case 0, 1: return try Frame(script.hello(heads: Array(heads)))
    case 2:
      let membership = device.context.membership
      let broken = membership.certificates.map { [$0[0] ^ UInt8(below(256))] + $0.dropFirst() }
      return try Frame(
        MembershipMessage(
          certificates: (membership.certificates + broken).map(Base64.init), revocations: [],
          more: below(3) == 0 ? true : nil))
    case 3, 4: return try Frame(WantMessage(wants: these, haves: Array(heads)))
    case 5: return try Frame(PackMessage(objects: below(9), versions: below(9), heads: these))
    case 6:
      return try Frame(
        AppliedMessage(
          tip: these[0], heads: these, heard: below(9), received: below(9), conflicts: below(9),
          refused: one(of: [nil, "mass_deletion", "large_version", "x"])))
    case 7: return try Frame(WorkingMessage())
    case 8: return try Frame(PingMessage())
    case 9: return try Frame(PongMessage())
    case 10: return try Frame(HeadsMessage(tip: these[0], heads: these))
    case 11: return try Frame(EditingMessage(paths: [Base64(Array("n.txt".utf8)), Base64([0xFF])]))
    case 12: return try Frame(ByeMessage(reason: .failed, message: "\u{1b}[2J\u{202e}"))
    case 13:
      return Frame(
        type: MessageType.data.rawValue,
        payload: Array("PACK".utf8.prefix(below(5)))
          + (0..<below(200)).map { _ in UInt8(below(256)) })
    default: return Frame(type: UInt8(below(256)), payload: Array("{}".utf8))
    }
  }

  private static let tokens = [
    "null", "true", "-1", "0", "1e400", "99999999999999999999999", "0.5", "\"\"", "\"\\u0000\"",
    "\"\\ud800\"", "[]", "{}", "[[[[[[]]]]]]", "\"\u{1b}[2J\"", "[null]", "\"AA==\"",
    "\"\u{202e}\"",
    "\"0000000000000000000000000000000000000000\"", "\"4B825DC642CB6EB9A060E54BF8D69288FBEE4904\"",
  ]

  /// The same with a value replaced, a field added or said twice, bytes changed, or cut.
  private mutating func changed(_ frame: Frame) -> Frame {
    var payload = frame.payload
    guard !payload.isEmpty else { return frame }
    let places = payload.indices.filter { payload[$0] == UInt8(ascii: ":") }
    switch below(6) {
    case 0, 1, 2:
      guard !places.isEmpty, let place = places.randomElement(using: &random) else { return frame }
      let end = payload[(place + 1)...].firstIndex {
        $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "}")
      }
      payload.replaceSubrange(
        place + 1..<(end ?? payload.count), with: Array(one(of: Self.tokens).utf8))
    case 3:
      let field = "{\"\(one(of: ["heads", "tip", "x", "more", "once"]))\":\(one(of: Self.tokens)),"
      if payload.count > 2, payload[0] == UInt8(ascii: "{") {
        payload.replaceSubrange(0..<1, with: Array(field.utf8))
      }
    case 4: payload[below(payload.count)] = UInt8(below(256))
    default: payload.removeLast(below(payload.count))
    }
    return Frame(type: frame.type, payload: payload)
  }
}
