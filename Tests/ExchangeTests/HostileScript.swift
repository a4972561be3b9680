import Membership
import TestSupport
import Testing

@testable import Channel
@testable import Exchange
@testable import Git

/// What a hostile device does in one session.
struct HostileRow: Sendable, CustomTestStringConvertible {
  enum Outcome { case refused, ignored }

  let name: String
  var outcome = Outcome.refused
  let play: @Sendable (HostileScript) throws -> Void

  var testDescription: String { name }
}

/// The moves of a hostile device.
struct HostileScript {
  let stream: MessageStream
  let device: Device

  /// A greeting as an honest device would send it, with these heads.
  func hello(heads: [ObjectID]) -> HelloMessage {
    HelloMessage(
      versions: [1], notebook: device.context.membership.notebookID, device: device.key.deviceID,
      name: "Bob", mode: .both, takes: true, tip: heads.first, heads: heads, notes: 1,
      membership: "", port: nil)
  }

  /// Says hello with these heads, and exchanges the membership where that is asked for.
  func greet(
    heads: [ObjectID], _ change: (inout HelloMessage) -> Void = { _ in }
  ) throws {
    var hello = hello(heads: heads)
    change(&hello)
    try stream.send(hello)
    _ = try stream.receive(HelloMessage.self)
    try stream.send(MembershipMessage(certificates: [], revocations: [], more: nil))
    _ = try stream.receive(MembershipMessage.self)
  }

  /// Waits until something is wanted, and answers with this pack.
  func offer(_ pack: [UInt8], heads: [ObjectID], objects: Int = 1) throws {
    while try stream.receive().type != .want {}
    try stream.send(PackMessage(objects: objects, versions: 1, heads: heads))
    try send(data: pack)
    try send(data: [])
  }

  func send(data: [UInt8]) throws {
    var rest = data[...]
    repeat {
      let piece = rest.prefix(ProtocolLimits.dataBytes)
      rest = rest.dropFirst(piece.count)
      try stream.send(Frame(type: MessageType.data.rawValue, payload: Array(piece)))
    } while !rest.isEmpty
  }

  /// Sends bytes that no frame of ours would hold.
  func send(raw bytes: [UInt8]) throws {
    let connection = stream.connection
    connection.outgoing += bytes
    while !connection.isFlushed {
      try connection.step(deadline: .after(seconds: 40), phase: .sending)
    }
  }
}
