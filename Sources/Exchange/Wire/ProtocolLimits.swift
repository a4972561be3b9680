/// The numbers of notes-protocol(7), LIMITS.
package enum ProtocolLimits {
  /// The version of the protocol that this code implements.
  package static let version = 2
  /// The protocol versions in which a history that obeys these forgettings can be exchanged.
  static func versions(obeying forgettings: [String]) -> [Int] {
    // A device with version 1 would merge the history from before.
    forgettings.isEmpty ? [1, version] : [version]
  }
  /// Bytes of a JSON message.
  static let messageBytes = 1 << 20
  /// Bytes of a piece of a pack.
  static let dataBytes = 256 << 10
  /// Certificates and revocation lists in one message.
  static let certificatesPerMessage = 256
  /// How many bytes of certificates and revocation lists a side puts into one message. As base64 they fit into
  /// `messageBytes`, and so does the largest revocation list of notes-security(7) by itself.
  static let membershipBytes = 640 << 10
  /// Certificates, and revocation lists, in total.
  static let (certificates, revocationLists) = (4096, 128)
  /// Bytes of a certificate, of a revocation list, and of all of them: the largest set that
  /// notes-security(7) allows.
  static let (certificateBytes, revocationListBytes) = (2 << 10, 512 << 10)
  static let allMembershipBytes = 24 << 20
  /// The heads that each side shows, and the commits that it says it has.
  static let heads = 256
  static let haves = 256
  /// The hubs in a greeting, and the bytes of a name.
  static let hubs = 16
  /// The devices that a side reports to have connected to.
  static let meetings = 128
  /// The accepted claims that an inviter sends.
  static let claims = 4
  /// The withdrawn invitations in a greeting.
  static let withdrawals = 16
  static let nameBytes = 255
  /// The former IDs of the notebook in an offer.
  static let formerIDs = 64
  /// The members in an offer.
  static let offeredMembers = 256
  /// Characters of the line in a `bye`.
  static let byeCharacters = 200
  /// Packs that a side accepts in a session that ends.
  package static let packsTaken = 4
  /// Handshakes in progress; a new one replaces the oldest.
  package static let handshakes = 64
  static let handshakesPerAddress = 16
  /// Handshakes computed in parallel; others wait for their turn.
  static let handshakesComputed = 4
  static let sessions = 64
  static let sessionsPerAddress = 16
  /// Sessions of one device in one notebook; a new one replaces the oldest.
  static let sessionsPerDevice = 4
  /// Notes that a side may report as being edited.
  package static let editedNotes = 64
  static let pathBytes = 4096
  /// Messages with new facts, accepted at once and in a second.
  static let (told, toldPerSecond) = (300.0, 20.0)
}

/// How long a side waits, in seconds; the numbers of notes-protocol(7).
public struct ProtocolTimeouts: Sendable, Equatable {
  /// The wait for a connection.
  package var connect = 5.0
  /// The wait for the end of the handshake.
  package var handshake = 10.0
  /// The wait for the next message, or for progress of a pack.
  var message = 10.0
  /// The wait for a message while `working` messages arrive.
  var patience = 15 * 60.0
  /// The time between two `working` messages of a busy side.
  var working = 2.0
  /// The wait for a message in a continuous session, after which a sign of life is requested.
  var ping = 60.0
  /// The time after which a continuous session ends for the next one: less than a day, so each day has a greeting.
  package var renewal = 20 * 3600.0
  /// The wait for a piece of a pack in a continuous session.
  var piece = 60.0
  /// The wait for a person's answer to an offer.
  var answer = 5 * 60.0
  /// The lifetime of an invitation.
  package var invitation = 10 * 60.0

  /// The numbers of notes-protocol(7).
  public static let standard = ProtocolTimeouts()
}
