import Channel
import Discovery
import ExchangeSupport
import FoundationEssentials
import Git
import History
import Logging
import Membership
import Notebook
import TestSupport

@testable import Exchange
@testable import Watch

/// A device that watches its notebook, on a thread of its own.
final class Watcher {
  let folder: TemporaryFolder
  let name: String
  let context: SessionContext
  let events = EventLog<Event>()
  /// Seconds between visits to hubs while nothing happens.
  var hubInterval = 300.0
  private let network: InMemoryNetwork
  private var running: (token: CancellationToken, ended: BlockingQueue<Bool>, service: Service)?

  var key: DeviceKey { context.key }

  /// The founder of a notebook.
  init(
    founding name: String, on network: InMemoryNetwork, timeouts: ProtocolTimeouts = .brief
  ) throws {
    self.name = name
    self.network = network
    folder = try TemporaryFolder()
    context = try .founded(by: name, in: folder, timeouts: timeouts)
  }

  /// A device that `founder` certified.
  ///
  /// - Parameter network: where it looks for others; the founder's when nil.
  init(
    _ name: String, certifiedBy founder: Watcher, as role: Role = .writer,
    on network: InMemoryNetwork? = nil
  ) throws {
    self.name = name
    self.network = network ?? founder.network
    folder = try TemporaryFolder()
    context = try founder.context.certified(name, as: role, in: folder)
  }

  /// A device that has a notebook, in the folder `notes` of this one.
  init(
    _ name: String, _ context: SessionContext, in folder: TemporaryFolder,
    on network: InMemoryNetwork
  ) {
    (self.name, self.context, self.folder, self.network) = (name, context, folder, network)
  }

  deinit { stop() }

  var sessions: SessionTable? {
    running?.service.watched[context.membership.notebookID]?.sessions
  }

  /// Where it listens.
  var port: UInt16? {
    for case .listening(_, let port) in events.all { return port }
    return nil
  }

  /// Tells it that the machine was asleep.
  func awake() { running?.service.occurrences.put(.awoke) }

  /// Has it try everybody who is not connected.
  func reachAll(_ settled: BlockingQueue<Bool>) {
    running?.service.occurrences.put(.reachAll(settled))
  }

  /// Tells it that nothing has happened for a while.
  func rest() { running?.service.watched[context.membership.notebookID]?.rest() }

  /// How many packs of its notebook this process holds open.
  var openPacks: Int {
    let maps = (try? readFile("/proc/self/maps")).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let mapped = maps.split(separator: "\n").count {
      $0.contains(folder["notes/"]) && $0.contains(".pack")
    }
    let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return mapped
      + files.count { file in
        let target = try? FileManager.default.destinationOfSymbolicLink(
          atPath: "/proc/self/fd/" + file)
        return target?.hasPrefix(folder["notes/"]) == true && target?.contains(".pack") == true
      }
  }

  func start() throws {
    let service = try Service(
      contexts: [context],
      discovery: InMemoryDiscovery(deviceID: key.deviceID, network: network),
      listen: Address(host: "127.0.0.1", port: 0),
      logger: Logger(label: "notes") { _ in SwiftLogNoOpLogHandler() }, isWatching: true,
      control: folder["run"], hubInterval: hubInterval)
    let token = try CancellationToken()
    let ended = BlockingQueue<Bool>()
    running = (token, ended, service)
    try Exchange.startThread { [events] in
      try? service.run(cancellation: token) { events.append($0) }
      ended.put(true)
    }
  }

  /// A command's connection to it.
  func control() -> ControlClient? {
    ControlClient.connect(
      in: folder["run"], notebookID: context.membership.notebookID, deviceID: key.deviceID)
  }

  /// What a device edits, as the watcher tells a command; nil while it is not connected.
  func editing(_ device: String) -> [TreePath]? {
    control()?.status(within: 40)?.peers.first { $0.identity.name == device }?.shows.editing
  }

  /// How often versions of others were joined that changed notes here, and that changed nothing.
  var received: Int { joins.count { !$0.changes.isEmpty } }
  var receivedInVain: Int { joins.count { $0.changes.isEmpty } }

  private var joins: [MergeOutcome] {
    events.all.compactMap { if case .received(_, let join, _) = $0 { join } else { nil } }
  }

  func stop() {
    guard let running else { return }
    running.token.cancel()
    _ = running.ended.take(until: Instant.now + 40)
    self.running = nil
  }

  func write(_ text: String, to note: String) throws { try folder.write(text, to: "notes/" + note) }
  func text(_ note: String) throws -> String { try folder.text("notes/" + note) }
  func tip() throws -> ObjectID? { try Notebook.open(at: folder["notes"]).state().tip }

  /// Waits until `holds`, looking whenever something happens.
  func wait(_ seconds: Double = 160, until holds: () throws -> Bool) rethrows -> Bool {
    let end = TestSupport.Moment.now + seconds
    while try !holds() {
      if TestSupport.Moment.now >= end {
        for event in events.all.suffix(20) { print("\(name): \(event)") }
        return false
      }
      _ = events.wait(within: 0.02) { _ in false }
    }
    return true
  }
}
