import Channel
import ExchangeSupport
import FoundationEssentials
import Git
import History
import Membership
import Notebook
import Synchronization
import TestSupport

@testable import Exchange

/// A device with a notebook.
final class Device {
  let folder: TemporaryFolder
  let name: String
  let context: SessionContext

  var key: DeviceKey { context.key }
  var notes: String { folder["notes"] }

  /// The founder of a notebook.
  init(founding name: String) throws {
    self.name = name
    folder = try TemporaryFolder()
    context = try .founded(by: name, in: folder, timeouts: .forTests)
  }

  /// A device that `founder` certified.
  init(_ name: String, certifiedBy founder: Device, as role: Role = .writer) throws {
    self.name = name
    folder = try TemporaryFolder()
    context = try founder.context.certified(name, as: role, in: folder)
  }

  /// The same device on another machine.
  init(cloneOf other: Device) throws {
    name = other.name
    folder = try TemporaryFolder()
    context = try other.context.cloned(in: folder)
  }

  func write(_ text: String, to note: String) throws { try folder.write(text, to: "notes/" + note) }
  func text(_ note: String) throws -> String { try folder.text("notes/" + note) }
  func remove(_ note: String) throws {
    try FileManager.default.removeItem(atPath: notes + "/" + note)
  }
  func exists(_ note: String) -> Bool { FileManager.default.fileExists(atPath: notes + "/" + note) }
  func notebook() throws -> Notebook { try Notebook.open(at: notes) }
  func tip() throws -> ObjectID? { try notebook().state().tip }
}

extension ProtocolTimeouts {
  /// As they are, but for a handshake that hangs.
  static let forTests: ProtocolTimeouts = {
    var timeouts = ProtocolTimeouts()
    timeouts.handshake = 5
    return timeouts
  }()
}

/// Both ends of a connection between two devices, each on a thread of its own.
func withConnections<Served: Sendable, Called: Sendable>(
  from caller: Device, to server: Device,
  serve: @escaping @Sendable (Connection) throws -> Served,
  call: (Connection) throws -> Called,
  before: () throws -> Void = {}
) throws -> (served: Result<Served, any Error>, called: Result<Called, any Error>) {
  let listener = try Listener(at: Address(host: "127.0.0.1", port: 0))
  let credentials = try server.context.credentials()
  let box = BlockingQueue<Result<Served, any Error>>()
  try Exchange.startThread {
    box.put(
      Result {
        let socket = try listener.accept(deadline: .after(seconds: 40), cancellation: nil)
        let connection = try Connection.accept(
          socket, offering: ServerOffer(member: { _ in credentials }),
          deadline: .after(seconds: 40), cancellation: nil)
        return try serve(connection)
      })
  }
  try before()
  let called = Result {
    try call(
      Connection.connect(
        to: [Address(host: "127.0.0.1", port: listener.port)],
        as: caller.context.credentials(), deadline: .after(seconds: 40), cancellation: nil))
  }
  guard let served = box.take(until: .now + 60) else { throw SyncError.timedOut("the server") }
  return (served, called)
}

/// A session between two devices.
func sync(
  _ caller: Device, _ server: Device, mode: SyncMode = .both, serverMode: SyncMode = .both,
  allowsMassDeletion: Bool = false
) throws -> (SessionResult, SessionResult) {
  let context = server.context
  let results = try withConnections(from: caller, to: server) { connection in
    var options = SessionOptions()
    options.mode = serverMode
    return try Session.run(on: connection, as: context, options: options)
  } call: { connection in
    var options = SessionOptions()
    options.mode = mode
    options.allowsMassDeletion = allowsMassDeletion
    return try Session.run(on: connection, as: caller.context, options: options)
  }
  return (try results.called.get(), try results.served.get())
}
