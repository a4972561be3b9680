/// The content of a claim to be the founder, or of a stop of one: notes-security(7), "A lost founder".
enum ClaimStatement: Hashable, Sendable {
  /// The signer claims to be the founder in place of the device with the key `founder`. `anchor` is the serial
  /// number of the admin's certificate that the founder issued for the signer. `staying` is that of the
  /// certificate with which the former founder stays an admin.
  case claim(founder: [UInt8], anchor: [UInt8], staying: [UInt8])
  /// The signer stops the claims of that admin's key on the place of that founder.
  case stop(founder: [UInt8], claimer: [UInt8])

  /// The key identifier of the founder whose place is claimed.
  var founder: [UInt8] {
    switch self {
    case .claim(let founder, _, _), .stop(let founder, _): founder
    }
  }

  /// The value of a certificate's extension: 64 bytes.
  var bytes: [UInt8] {
    switch self {
    case .claim(let founder, let anchor, let staying): founder + anchor + staying
    case .stop(let founder, let claimer): founder + claimer
    }
  }

  /// The word in a certificate's subject.
  var word: String {
    switch self {
    case .claim: Certificate.Kind.claimWord
    case .stop: Certificate.Kind.stopWord
    }
  }

  /// Reads the 64 bytes of the extension of a claim or a stop. Nil for a certificate of another kind, or without the
  /// extension.
  init?(_ kind: Certificate.Kind, _ bytes: [UInt8]?) {
    guard let bytes else { return nil }
    let (founder, rest) = (Array(bytes.prefix(32)), bytes.dropFirst(32))
    switch kind {
    case .claim:
      self = .claim(
        founder: founder, anchor: Array(rest.prefix(Serial.size)),
        staying: Array(rest.dropFirst(Serial.size)))
    case .stop: self = .stop(founder: founder, claimer: Array(rest))
    case .root, .member, .name: return nil
    }
  }
}

extension Certificate.Kind {
  /// The words in the place of a role.
  static let (claimWord, stopWord) = ("claim", "stop")

  /// Whether it is a claim or a stop.
  var isStatement: Bool {
    switch self {
    case .claim, .stop: true
    case .root, .member, .name: false
    }
  }
}
