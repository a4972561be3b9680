internal import Git

/// What the sender shows now.
struct HeadsMessage: Message {
  static let type = MessageType.heads

  var tip: ObjectID?
  var heads: [ObjectID]

  func validate() throws {
    try MessageRules.check(count: heads.count, limit: ProtocolLimits.heads, "heads of a side")
    guard Set(heads).count == heads.count, (tip == nil) == heads.isEmpty else {
      throw SyncError.protocolBroken("a tip that does not fit the heads")
    }
  }
}

/// Asks for a sign of life.
struct PingMessage: Message {
  static let type = MessageType.ping
}

/// The sign of life.
struct PongMessage: Message {
  static let type = MessageType.pong
}

/// An invitation to another notebook, for the device at the other end.
struct InvitationMessage: Message {
  static let type = MessageType.invitation

  var invitation: HelloInvitation

  func validate() throws { try invitation.validate() }
}

/// Which notes are edited at the sender's.
struct EditingMessage: Message {
  static let type = MessageType.editing

  /// Paths, as bytes: they need not be text.
  var paths: [Base64]

  func validate() throws {
    try MessageRules.check(
      count: paths.count, limit: ProtocolLimits.editedNotes, "notes that are edited")
    for path in paths {
      try MessageRules.check(
        count: path.bytes.count, limit: ProtocolLimits.pathBytes, "bytes of a path")
    }
  }
}
