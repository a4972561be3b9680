import Channel

@testable import Exchange

/// The first byte is the type, the rest the payload. A message that is understood is written so that
/// it is understood alike.
enum MessageTarget {
  static func run(_ bytes: [UInt8]) {
    guard let first = bytes.first, let kind = MessageType(rawValue: first)?.message else { return }
    read(kind, Frame(type: first, payload: Array(bytes.dropFirst())))
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
