public import Exchange
internal import FoundationEssentials
public import Git
public import Membership

/// A command's requests to a running watcher: notes-control(7), "Requests".
public enum ControlRequest: Codable, Sendable {
  /// List the connected devices: a `watcher`, then a `peer` for each.
  case peers
  /// Send events until the connection ends: a `watcher`, then the `event`s.
  case follow
  /// Save everything, and wait up to `seconds` until the connected devices have it: the answer is
  /// that of `peers`.
  case sync(seconds: Double)
  /// Opens an invitation for `seconds`, and sends an `event` for each change of its state. Name and ID are
  /// those of the invited device, if the invitation is for one.
  case invite(role: Role, seconds: Double, name: String?, device: String?)
  /// Like `invite`, for another device of this device's person. It is a separate request because a watcher of
  /// an earlier version, which knows no persons, must refuse it.
  case inviteMine(role: Role, seconds: Double, name: String?, device: String?)
  /// Open `count` invitations for `seconds`, for other devices of this device's person if `mine` says so; the first
  /// are for persons with these names.
  case inviteSeveral(role: Role, seconds: Double, count: Int, mine: Bool, names: [String])
  /// Tell the other devices that somebody edits these notes, until the connection ends: a
  /// `watcher`.
  case edit(paths: [TreePath])
  /// Send a device, in a session, an invitation to another notebook, as long as the connection lasts. The
  /// answer is `told` when the device has it.
  case offer(invitation: CarriedInvitation)
  /// Close the connections, and make none.
  case pause
  /// Make connections again.
  case resume
}

/// The replies of a running watcher: notes-control(7), "Answers". The last line is `done` or
/// `error`.
public enum ControlReply: Codable, Sendable {
  /// The watcher's state.
  case watcher(state: WatcherState)
  /// A connected device.
  case peer(identity: PeerIdentity, shows: PeerState)
  /// An event.
  case event(what: Event)
  /// An event that is too large for a line.
  case changed
  /// The device has received the invitation.
  case told
  /// The request is complete.
  case done
  /// The request failed, with this message.
  case error(message: String)
}

/// The state of a watcher.
public struct WatcherState: Codable, Sendable {
  /// The watcher's process ID.
  public let process: Int32
  /// The port at which the watcher listens for other devices.
  public let port: UInt16
  /// Whether the user has paused connections.
  public let isPaused: Bool
  /// Whether save refuses to delete most notes.
  public let isDeletionRefused: Bool
  /// The version in this device's folder; nil before the first.
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

  /// Nil if the replies do not include the watcher's state.
  init?(_ replies: [ControlReply]) {
    guard case .watcher(let state)? = replies.first else { return nil }
    watcher = state
    peers = replies.compactMap {
      if case .peer(let identity, let shows) = $0 { (identity, shows) } else { nil }
    }
  }
}

/// The line of a request: the request, and the version of notes-control(7).
struct ControlQuestion: Codable {
  var version = Self.present
  let request: ControlRequest

  static let present = 1

  /// - Throws: `SyncError.failed` with the message for the command.
  static func request(in line: [UInt8]) throws -> ControlRequest {
    struct Head: Decodable { let version: Int }
    // Every failure gets the same message.
    let head = try? ReceivedJSON.decode(Head.self, from: line)
    guard let head, head.version == present else {
      throw SyncError.failed("the watcher speaks version \(present) of its protocol")
    }
    // Every failure gets the same message.
    guard let asked = try? ReceivedJSON.decode(Self.self, from: line, snakeCase: true) else {
      throw SyncError.failed("the watcher does not know this request")
    }
    return asked.request
  }
}

extension ControlLines {
  /// Sends a value as a line; false if the other side has closed the connection, or if the line is
  /// too long.
  func send(_ value: some Encodable) -> Bool {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = .sortedKeys
    // If encoding fails, sends nothing and returns false.
    guard let line = try? encoder.encode(value), line.count < Self.limit else { return false }
    return send(Array(line))
  }
}
