internal import Git

/// The figures of notes-protocol(7).
public enum ProtocolLimits {
  /// The version of the protocol that this code holds.
  public static let version = 1
  /// Bytes of a JSON message.
  public static let messageBytes = 1 << 20
  /// Bytes of a piece of a pack.
  public static let dataBytes = 256 << 10
  /// Certificates and revocation lists in one message.
  public static let certificatesPerMessage = 256
  /// Bytes of certificates and revocation lists that a side puts in one message: as base64 they
  /// fit into `messageBytes`, and the largest revocation list of notes-security(7) fits alone.
  static let membershipBytes = 640 << 10
  /// Certificates and revocation lists in all.
  public static let certificates = 4096
  /// Heads of a side.
  public static let heads = 256
  /// Commits that a side may say it has.
  public static let haves = 256
  /// Bytes of a name.
  public static let nameBytes = 255
  /// Former IDs of a notebook in an offer.
  static let formerIDs = 64
  /// Characters of the line in a `bye`.
  public static let byeCharacters = 200
  /// Packs that a side takes in a session that is to end.
  public static let packsTaken = 4
  /// Handshakes under way at once; the oldest makes room for a new one.
  public static let handshakes = 64
  /// Handshakes under way from one address; the oldest of these makes room for a new one.
  public static let handshakesPerAddress = 16
  /// Handshakes that are computed at once; the others wait for their turn.
  public static let handshakesComputed = 4
  /// Sessions at once.
  public static let sessions = 64
  /// Sessions at once with one address.
  public static let sessionsPerAddress = 16
  /// Notes that a side may say it edits.
  public static let editedNotes = 64
  /// Bytes of a path.
  public static let pathBytes = 4096
  /// Bytes of a pack that come in the time for a piece where a side that fetches keeps others waiting.
  public static let fetchedBytes = 1 << 20
  /// Messages that tell something new, taken at once and in a second.
  static let told = 300.0
  static let toldPerSecond = 20.0
}

/// How long a side waits, in seconds; the figures of notes-protocol(7).
public struct ProtocolTimeouts: Sendable, Equatable {
  /// For a connection.
  public var connect = 5.0
  /// For the handshake.
  public var handshake = 10.0
  /// For the next message, or progress of a pack.
  public var message = 10.0
  /// For a message that `working` announces again and again.
  public var patience = 15 * 60.0
  /// Between two `working` of a busy side.
  public var working = 2.0
  /// Without a word on a session that goes on, before a sign of life is asked for.
  public var ping = 60.0
  /// For a piece of a pack on a session that goes on.
  public var piece = 60.0
  /// For somebody to answer an offer.
  public var answer = 5 * 60.0
  /// How long an invitation lives.
  public var invitation = 10 * 60.0

  /// The figures of notes-protocol(7).
  public static let standard = ProtocolTimeouts()

  package init() {}
}
