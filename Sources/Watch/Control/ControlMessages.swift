/// What a command asks of a running watcher: one line of JSON.
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
    /// Let connections go, and make them again.
    case pause
    case resume
  }

  public var verb: Verb
  /// For an invitation.
  public var role: String?
  public var minutes: Int?
  /// How many seconds a sync may take.
  public var seconds: Double?

  public init(_ verb: Verb) { self.verb = verb }
}

/// What a running watcher says: one line of JSON. The last line has the type `done` or `error`.
public struct ControlReply: Codable, Sendable {
  public var type: String
  /// The watcher's process, and the port it listens at.
  public var process: Int?
  public var port: Int?
  public var isPaused: Bool?
  /// A device.
  public var name: String?
  public var device: String?
  public var role: String?
  public var address: String?
  public var tip: String?
  /// Paths, as bytes in hexadecimal digits.
  public var editing: [String]?
  public var sentBytes: Int?
  public var receivedBytes: Int?
  /// An invitation.
  public var code: String?
  public var expires: Int64?
  public var attemptsLeft: Int?
  /// What went wrong.
  public var message: String?

  public init(_ type: String) { self.type = type }
}
