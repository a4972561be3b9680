/// Why a side ends a session; notes-protocol(7), REASONS.
public enum ByeReason: String, Sendable, Codable {
  case done
  case version
  case wrongNotebook = "wrong_notebook"
  case notAMember = "not_a_member"
  case duplicate
  case busy
  case overLimit = "over_limit"
  case protocolBroken = "protocol"
  case refusedPack = "refused_pack"
  case stopped
  case failed
  case expired

  /// Reasons of later versions count as a failure.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    self = ByeReason(rawValue: text) ?? .failed
  }
}

/// The last message of a side.
struct ByeMessage: Message {
  static let type = MessageType.bye

  var reason: ByeReason
  var message: String?
}
