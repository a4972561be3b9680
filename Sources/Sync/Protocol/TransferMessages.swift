internal import Git

/// What a side lacks, and what it has.
struct WantMessage: Message {
  static let type = MessageType.want

  var wants: [ObjectID]
  var haves: [ObjectID]

  func validate() throws {
    try MessageRules.check(count: wants.count, limit: ProtocolLimits.heads, "heads of a side")
    try MessageRules.check(count: haves.count, limit: ProtocolLimits.haves, "commits it has")
  }
}

/// The pack that follows.
struct PackMessage: Message {
  static let type = MessageType.pack

  var objects: Int
  var versions: Int
  var heads: [ObjectID]

  func validate() throws {
    try MessageRules.check(count: heads.count, limit: ProtocolLimits.heads, "heads of a side")
    guard objects >= 0, versions >= 0 else { throw SyncError.protocolBroken("a negative count") }
    try MessageRules.check(
      count: objects, limit: PackLimits.standard.objects, "objects in a pack")
  }
}

/// What a side shows after it settled what it was told.
struct AppliedMessage: Message {
  static let type = MessageType.applied

  var tip: ObjectID?
  var heads: [ObjectID]
  /// How many times the receiver had told its heads by what is settled.
  var heard: Int?
  var received: Int
  var conflicts: Int
  /// Why nothing was merged.
  var refused: String?

  /// The value of `refused` when the mass deletion guard stopped the merge.
  static let massDeletion = "mass_deletion"

  func validate() throws {
    try MessageRules.check(count: heads.count, limit: ProtocolLimits.heads, "heads of a side")
  }
}

/// The sender is busy and alive.
struct WorkingMessage: Message {
  static let type = MessageType.working
}
