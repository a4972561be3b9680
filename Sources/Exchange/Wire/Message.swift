internal import Channel
internal import FoundationEssentials
internal import Git
internal import History

/// The known types of frames.
enum MessageType: UInt8, Sendable {
  case hello = 1
  case membership = 2
  case want = 3
  case pack = 4
  case applied = 5
  case working = 6
  case bye = 7
  case heads = 8
  case ping = 9
  case pong = 10
  case editing = 11
  case invitation = 12
  case offer = 16
  case accept = 17
  case decline = 18
  case certificate = 19
  case installed = 20
  case data = 128
}

/// The content of a frame: notes-protocol(7), FRAMES.
protocol Message: Codable, Sendable {
  static var type: MessageType { get }

  func validate() throws
}

extension Message {
  func validate() throws {}
}

extension MessageType {
  /// The type of message that the payload contains; nil for bytes.
  var message: (any Message.Type)? {
    switch self {
    case .hello: HelloMessage.self
    case .membership: MembershipMessage.self
    case .want: WantMessage.self
    case .pack: PackMessage.self
    case .applied: AppliedMessage.self
    case .working: WorkingMessage.self
    case .bye: ByeMessage.self
    case .heads: HeadsMessage.self
    case .ping: PingMessage.self
    case .pong: PongMessage.self
    case .editing: EditingMessage.self
    case .invitation: InvitationMessage.self
    case .offer: PairingOffer.self
    case .accept: AcceptMessage.self
    case .decline: DeclineMessage.self
    case .certificate: CertificateMessage.self
    case .installed: InstalledMessage.self
    case .data: nil
    }
  }

  /// Whether this message of a session is about something other than versions: then it is passed on to `Notice`.
  var isNotice: Bool { self == .editing || self == .invitation }

  /// Whether a new message replaces an unsent one of the same type.
  var isLatestOnly: Bool { self == .editing }
}

extension Frame {
  init(_ message: some Message) throws {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    self.init(
      type: Swift.type(of: message).type.rawValue, payload: Array(try encoder.encode(message)))
  }

  func decode<M: Message>(_ kind: M.Type) throws -> M {
    guard type == kind.type.rawValue else {
      throw SyncError.protocolBroken("type \(type) in place of \(kind.type)")
    }
    guard payload.count <= ProtocolLimits.messageBytes else {
      throw SyncError.overLimit("bytes in a message")
    }
    let message: M
    do {
      message = try ReceivedJSON.decode(kind, from: payload, snakeCase: true)
    } catch {
      throw SyncError.protocolBroken("an unreadable message of type \(kind.type)")
    }
    try message.validate()
    return message
  }
}

/// JSON from another program or person: a peer, another process of the user, or an editor.
package enum ReceivedJSON {
  /// Decodes the value in a text. JSONDecoder guesses at UTF-16 and UTF-32, and skips a byte order mark.
  /// Neither is allowed here: RFC 8259, section 8.1.
  ///
  /// If arrays and objects nest deeper than 512, JSONDecoder reads one byte after the bracket for its error
  /// message, and crashes if the bracket was the last byte (swift-foundation, JSONScanner.scanArray). So this
  /// adds a space, which has no meaning in JSON.
  package static func decode<Value: Decodable>(
    _ kind: Value.Type, from text: [UInt8], snakeCase: Bool = false
  ) throws -> Value {
    // In all other encodings, a bracket includes a zero byte.
    guard !text.contains(0), text.first != byteOrderMark else {
      throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "not plain UTF-8"))
    }
    let decoder = JSONDecoder()
    if snakeCase { decoder.keyDecodingStrategy = .convertFromSnakeCase }
    var data = Data(capacity: text.count + 1)
    data.append(contentsOf: text)
    data.append(UInt8(ascii: " "))
    return try decoder.decode(kind, from: data)
  }

  private static let byteOrderMark: UInt8 = 0xEF
}

/// Bytes, represented in JSON as base64, as JSONEncoder writes Data.
struct Base64: Codable, Sendable, Equatable {
  var bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  init(from decoder: any Decoder) throws {
    bytes = Array(try decoder.singleValueContainer().decode(Data.self))
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(Data(bytes))
  }
}

enum MessageRules {
  static func check(name: String) throws {
    guard !name.isEmpty, name.utf8.count <= ProtocolLimits.nameBytes,
      !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else { throw SyncError.protocolBroken("a name that is empty, too long or not printable") }
  }

  /// Throws for a time before 1970 or after the year 9999, the limits for commits.
  static func check(time: Int64) throws {
    guard (0...253_402_300_799).contains(time) else {
      throw SyncError.protocolBroken("a time before 1970 or after the year 9999")
    }
  }

  static func check(count: Int, limit: Int, _ what: String) throws {
    guard count <= limit else { throw SyncError.overLimit(what) }
  }

  static func check(certificates: [Base64], revocations: [Base64]) throws {
    for (list, limit) in [
      (certificates, ProtocolLimits.certificateBytes),
      (revocations, ProtocolLimits.revocationListBytes),
    ] {
      try check(
        count: list.map(\.bytes.count).max() ?? 0, limit: limit, "bytes of a certificate")
    }
  }

  static func check(forgettings: [String]?) throws {
    guard let forgettings else { return }
    try check(
      count: forgettings.count, limit: ForgettingVersion.mostLines, "forgettings of a history")
    guard Set(forgettings).count == forgettings.count,
      forgettings.allSatisfy(ForgettingVersion.Line.isID)
    else { throw SyncError.protocolBroken("a forgetting that is none") }
  }

  static func check(heads: [ObjectID]) throws {
    try check(count: heads.count, limit: ProtocolLimits.heads, "heads of a side")
  }

  static func check(tip: ObjectID?, heads: [ObjectID]) throws {
    try check(heads: heads)
    guard Set(heads).count == heads.count, (tip == nil) == heads.isEmpty else {
      throw SyncError.protocolBroken("a tip that does not fit the heads")
    }
  }
}

/// The characters that can control a terminal, end a line or hide the text around them.
private let hiddenCategories: Set<Unicode.GeneralCategory> = [
  .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned,
]

extension String {
  /// The text as one line that cannot disturb a terminal.
  package var printable: String {
    String(
      String.UnicodeScalarView(
        unicodeScalars.prefix(ProtocolLimits.byeCharacters).filter {
          !hiddenCategories.contains($0.properties.generalCategory)
        }))
  }
}
