/// The figures of notes-protocol(7), LIMITS.
package enum ProtocolLimits {
  /// The version of the protocol that this code holds.
  package static let version = 2
  /// The versions that it understands, as a history that obeys these forgettings is exchanged.
  static func versions(obeying forgettings: [String]) -> [Int] {
    // One of version 1 would merge the history from before.
    forgettings.isEmpty ? [1, version] : [version]
  }
  /// Bytes of a JSON message.
  static let messageBytes = 1 << 20
  /// Bytes of a piece of a pack.
  static let dataBytes = 256 << 10
  /// Certificates and revocation lists in one message.
  static let certificatesPerMessage = 256
  /// Bytes of certificates and revocation lists that a side puts in one message: as base64 they
  /// fit into `messageBytes`, and the largest revocation list of notes-security(7) fits alone.
  static let membershipBytes = 640 << 10
  /// Certificates, and revocation lists, in all.
  static let (certificates, revocationLists) = (4096, 128)
  /// Bytes of a certificate, of a revocation list, and of all of them together: as many as a set of
  /// notes-security(7) has at most.
  static let (certificateBytes, revocationListBytes) = (2 << 10, 512 << 10)
  static let allMembershipBytes = 24 << 20
  /// Of a side.
  static let heads = 256
  static let haves = 256
  /// In a greeting.
  static let hubs = 16
  static let nameBytes = 255
  /// In an offer.
  static let formerIDs = 64
  /// In an offer.
  static let offeredMembers = 256
  /// Characters of the line in a `bye`.
  static let byeCharacters = 200
  /// Packs that a side takes in a session that is to end.
  package static let packsTaken = 4
  /// Under way at once; the oldest makes room for a new one.
  package static let handshakes = 64
  static let handshakesPerAddress = 16
  /// At once; the others wait for their turn.
  static let handshakesComputed = 4
  static let sessions = 64
  static let sessionsPerAddress = 16
  /// Of one device in one notebook; the oldest makes room for a new one.
  static let sessionsPerDevice = 4
  /// Notes that a side may say it edits.
  package static let editedNotes = 64
  static let pathBytes = 4096
  /// Messages that tell something new, taken at once and in a second.
  static let (told, toldPerSecond) = (300.0, 20.0)
}

/// How long a side waits, in seconds; the figures of notes-protocol(7).
public struct ProtocolTimeouts: Sendable, Equatable {
  /// For a connection.
  package var connect = 5.0
  /// For the handshake.
  package var handshake = 10.0
  /// For the next message, or progress of a pack.
  var message = 10.0
  /// For a message that `working` announces again and again.
  var patience = 15 * 60.0
  /// Between two `working` of a busy side.
  var working = 2.0
  /// Without a word on a session that goes on, before a sign of life is asked for.
  var ping = 60.0
  /// For a piece of a pack on a session that goes on.
  var piece = 60.0
  /// For somebody to answer an offer.
  var answer = 5 * 60.0
  /// How long an invitation lives.
  package var invitation = 10 * 60.0

  /// The figures of notes-protocol(7).
  public static let standard = ProtocolTimeouts()
}
