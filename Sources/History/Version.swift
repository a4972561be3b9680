public import Git

/// A version with what it changed.
public struct Version: Sendable {
  /// The commit that holds it.
  public let commit: Commit
  /// Whether it is a derived merge, which nobody wrote.
  public let isDerived: Bool
  /// What it changed against its first parent, by path; in the versions of one note, what it
  /// changed in that note.
  public let changes: [VersionChange]

  /// The device it was made on, or nil for a foreign commit.
  public var deviceID: String? { commit.deviceID }

  /// The message's first line.
  public var subject: String {
    String(commit.message.prefix { !$0.isNewline })
  }
}

extension Commit {
  /// The device it was made on, or nil for a foreign commit.
  public var deviceID: String? { DeviceIdentity.deviceID(inEmail: author.email) }
}
