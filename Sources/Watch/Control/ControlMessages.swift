public import Exchange
internal import FoundationEssentials
public import Git
public import Membership

/// The requests of a command to a running watcher: notes-control(7), "Requests".
public enum ControlRequest: Codable, Sendable {
  /// The connected devices: a `watcher`, then a `peer` for each.
  case peers
  /// The events until the connection ends: a `watcher`, then an `event` each time.
  case follow
  /// Save everything, and wait so many seconds until the devices that are connected have it: then
  /// as `peers`.
  case sync(seconds: Double)
  /// Open an invitation for so many seconds: an `event` for what becomes of it. The device that it
  /// is meant for is named, if it is for one.
  case invite(role: Role, seconds: Double, name: String?, device: String?)
  /// Tell the other devices that these notes are edited, until the connection ends: a `watcher`.
  case edit(paths: [TreePath])
  /// Tell a device, in a session, of an invitation to another notebook, until the connection ends:
  /// `told` when it was.
  case offer(invitation: CarriedInvitation)
  /// Close the connections, and make none.
  case pause
  /// Make connections again.
  case resume
}

/// The answers of a running watcher: notes-control(7), "Answers". The last line is `done` or `error`.
public enum ControlReply: Codable, Sendable {
  /// How the watcher is.
  case watcher(state: WatcherState)
  /// A device that is connected.
  case peer(identity: PeerIdentity, shows: PeerState)
  /// An event.
  case event(what: Event)
  /// Something happened that does not fit into a line.
  case changed
  /// The device was told of the invitation.
  case told
  /// All was done, or said.
  case done
  /// Why it was not.
  case error(message: String)
}

/// How a watcher is.
public struct WatcherState: Codable, Sendable {
  /// Its process.
  public let process: Int32
  /// The port at which it listens for other devices.
  public let port: UInt16
  /// Whether the user wants no connections now.
  public let isPaused: Bool
  /// Whether a version that would delete most notes is held back.
  public let isDeletionRefused: Bool
  /// The version that this device shows; nil before its first.
  public let tip: ObjectID?

  private enum CodingKeys: String, CodingKey {
    case process, port, isPaused, tip
    case isDeletionRefused = "isHolding"
  }
}

/// A watcher and the devices that are connected to it.
public struct WatcherStatus: Sendable {
  /// The watcher's own state.
  public let watcher: WatcherState
  /// The connected devices, and the versions that each shows.
  public let peers: [(identity: PeerIdentity, shows: PeerState)]

  /// Nil where the watcher says nothing of itself.
  init?(_ replies: [ControlReply]) {
    guard case .watcher(let state)? = replies.first else { return nil }
    watcher = state
    peers = replies.compactMap {
      if case .peer(let identity, let shows) = $0 { (identity, shows) } else { nil }
    }
  }
}

/// The line of a request: what is asked, and in which version of notes-control(7).
struct ControlQuestion: Codable {
  var version = Self.present
  let request: ControlRequest

  static let present = 1

  /// - Throws: `SyncError.failed` with the words for the command.
  static func request(in line: [UInt8]) throws -> ControlRequest {
    struct Head: Decodable { let version: Int }
    // Every failure means the same: the words below.
    let head = try? ReceivedJSON.decode(Head.self, from: line)
    guard let head, head.version == present else {
      throw SyncError.failed("the watcher speaks version \(present) of its protocol")
    }
    // Every failure means the same: the words below.
    guard let asked = try? ReceivedJSON.decode(Self.self, from: line, snakeCase: true) else {
      throw SyncError.failed("the watcher does not know what was asked")
    }
    return asked.request
  }
}

extension ControlLines {
  /// Sends a value as a line; false when the other end has gone, or it does not fit into a line.
  func send(_ value: some Encodable) -> Bool {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = .sortedKeys
    // A value that makes no line is not sent, as false says.
    guard let line = try? encoder.encode(value), line.count < Self.limit else { return false }
    return send(Array(line))
  }
}
