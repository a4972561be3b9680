import Channel

@testable import Exchange

/// The first byte is the type, the rest the payload. A message that is understood is written so that
/// it is understood alike.
enum MessageTarget {
  static func run(_ bytes: [UInt8]) {
    guard let first = bytes.first, let type = MessageType(rawValue: first) else { return }
    let frame = Frame(type: first, payload: Array(bytes.dropFirst()))
    switch type {
    case .hello: read(HelloMessage.self, frame)
    case .membership: read(MembershipMessage.self, frame)
    case .want: read(WantMessage.self, frame)
    case .pack: read(PackMessage.self, frame)
    case .applied: read(AppliedMessage.self, frame)
    case .working: read(WorkingMessage.self, frame)
    case .bye: read(ByeMessage.self, frame)
    case .offer: read(PairingOffer.self, frame)
    case .accept: read(AcceptMessage.self, frame)
    case .decline: read(DeclineMessage.self, frame)
    case .certificate: read(CertificateMessage.self, frame)
    case .installed: read(InstalledMessage.self, frame)
    default: break
    }
  }

  private static func read<M: Message>(_ kind: M.Type, _ frame: Frame) {
    guard let message = try? frame.decode(kind) else { return }
    guard let written = try? Frame(message) else { preconditionFailure("it cannot be written") }
    guard let again = try? written.decode(kind), let same = try? Frame(again) else {
      preconditionFailure("it cannot be read again")
    }
    precondition(same == written)
    if let bye = message as? ByeMessage {
      let shown = (bye.message ?? "").printable
      precondition(!shown.unicodeScalars.contains { $0.properties.generalCategory == .control })
    }
  }
}
