/// What a command asks of a running watcher, as one line of JSON: notes-control(7), "Requests".
public struct ControlRequest: Codable, Sendable {
  /// What is asked.
  public enum Verb: String, Codable, Sendable {
    /// Who is connected: a `peer` a line.
    case peers
    /// A `changed` whenever something happened, until the connection ends.
    case follow
    /// Save everything, and wait until the devices that are connected have it: a `peer` a line.
    case sync
    /// Open an invitation: what becomes of it, a line each.
    case invite
    /// Tell the other devices which notes are edited, until the connection ends.
    case edit
    /// Tell a device, in a session, of an invitation to another notebook, until the connection
    /// ends: a `told` when it was.
    case offer
    /// Let connections go, and make them again.
    case pause
    case resume
  }

  package var verb: Verb
  /// For an invitation: a `Role` in words, and the device that it is meant for, if for one.
  public var role: String?
  package var name: String?
  package var device: String?
  /// The notes that are edited, as bytes in hexadecimal digits.
  public var paths: [String]?
  /// What a device is to be told.
  public var offer: ControlOffer?
  /// How many seconds a sync may take, or an invitation is open.
  public var seconds: Double?

  package init(_ verb: Verb) { self.verb = verb }
}

/// What a running watcher says, as one line of JSON: notes-control(7), "Answers". The last line has
/// the type `done` or `error`.
public struct ControlReply: Codable, Sendable {
  package var type: String
  /// The watcher's process, and the port it listens at.
  public var process: Int?
  package var port: Int?
  package var paused: Bool?
  /// Whether a version that would delete most notes is held back.
  public var held: Bool?
  /// A device.
  public var name: String?
  package var device: String?
  package var role: String?
  package var address: String?
  package var tip: String?
  package var inSync: Bool?
  /// Paths, as bytes in hexadecimal digits.
  public var editing: [String]?
  /// What the session has moved so far.
  public var sentBytes: Int?
  package var receivedBytes: Int?
  package var sentVersions: Int?
  package var receivedVersions: Int?
  /// Why versions are not joined: `mass_deletion`, or `mass_deletion_there`.
  public var refused: String?
  /// An invitation; its end is in seconds since 1970.
  public var code: String?
  package var expires: Int64?
  package var attemptsLeft: Int?
  /// What went wrong, or how an invitation ended.
  public var message: String?

  package init(_ type: String) { self.type = type }

  private enum CodingKeys: String, CodingKey {
    case type, process, port, paused, held, name, device, role, address, tip, editing, refused
    case code, expires, message
    case inSync = "in_sync"
    case sentBytes = "sent_bytes"
    case receivedBytes = "received_bytes"
    case sentVersions = "sent_versions"
    case receivedVersions = "received_versions"
    case attemptsLeft = "attempts_left"
  }
}
