import Channel
import Discovery
import ExchangeSupport
import Git
import History
import Logging
import Membership
import Notebook
import Synchronization
import TestSupport

@testable import Exchange
@testable import Watch

/// A device that founded a notebook, with a service that runs on a thread of its own.
final class Host {
  let folder: TemporaryFolder
  let key: DeviceKey
  let context: SessionContext
  let service: Service
  let events = EventLog<Event>()
  let lines: EventLog<String>
  private let token: CancellationToken
  private let ended = BlockingQueue<Result<Bool, any Error>>()
  private var isStarted = false

  convenience init(_ name: String = "Ada", network: InMemoryNetwork? = nil) throws {
    let folder = try TemporaryFolder()
    try self.init(
      serving: .founded(by: name, in: folder, timeouts: .brief), in: folder, network: network)
  }

  /// A service for a notebook that is there.
  init(
    serving context: SessionContext, in folder: TemporaryFolder? = nil,
    network: InMemoryNetwork? = nil
  ) throws {
    self.context = context
    self.folder = try folder ?? TemporaryFolder()
    key = context.key
    let lines = EventLog<String>()
    self.lines = lines
    var logger = Logger(label: "notes") { _ in LineLog(lines: lines) }
    logger.logLevel = .info
    let device = key.deviceID
    service = try Service(
      contexts: [context],
      discovery: network.map { InMemoryDiscovery(deviceID: device, network: $0) },
      listen: Address(host: "127.0.0.1", port: 0), logger: logger)
    token = try CancellationToken()
  }

  deinit { stop() }

  /// Starts the service and returns its port.
  @discardableResult
  func start(until invitation: Invitation? = nil) throws -> UInt16 {
    isStarted = true
    try Exchange.startThread { [service, token, events, ended] in
      ended.put(
        Result {
          try service.run(cancellation: token, until: [invitation].compactMap { $0 }) {
            events.append($0)
          }
          return true
        })
    }
    let event = events.next { if case .listening = $0 { true } else { false } }
    guard case .listening(_, let port)? = event else { throw SyncError.timedOut("the service") }
    return port
  }

  /// Waits until the service has ended by itself.
  func wait() throws {
    guard let result = ended.take(until: .now + 30) else { throw SyncError.timedOut("the service") }
    _ = try result.get()
    ended.put(result)
  }

  func stop() {
    token.cancel()
    guard isStarted else { return }
    if let result = ended.take(until: .now + 10) { ended.put(result) }
  }

  func tip() throws -> ObjectID? { try Notebook.open(at: folder["notes"]).state().tip }
}

/// A device that is told a code.
struct Guest {
  let folder: TemporaryFolder
  let key: DeviceKey
  let name: String
  var notes: String { folder["notes"] }

  init(_ name: String = "Bob") throws {
    self.name = name
    folder = try TemporaryFolder()
    key = try DeviceKey.loadOrCreate(in: folder["data"])
  }

  func joining(_ code: InvitationCode, port: UInt16) -> PairingClient {
    var joining = PairingClient(code: code, name: name, key: key) { [folder = notes] _ in folder }
    joining.addresses = [Address(host: "127.0.0.1", port: port)]
    joining.timeouts = .brief
    return joining
  }

  func tip() throws -> ObjectID? { try Notebook.open(at: notes).state().tip }
}

extension ProtocolTimeouts {
  /// Short, so that tests of silence end soon.
  static let brief: ProtocolTimeouts = {
    var timeouts = ProtocolTimeouts()
    timeouts.handshake = 2
    timeouts.message = 5
    timeouts.piece = 3
    return timeouts
  }()
}

/// Keeps what is logged.
struct LineLog: LogHandler {
  let lines: EventLog<String>
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.info

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { lines.append("\(event.level): \(event.message)") }
}
