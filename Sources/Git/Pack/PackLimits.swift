/// How much a pack may bring. The figures are part of notes-protocol(7).
public struct PackLimits: Sendable, Equatable {
  /// Objects in a pack.
  public var objects = 5_000_000
  /// Bytes of a pack as sent.
  public var packBytes = 4 << 30
  /// Bytes of one object, unpacked.
  public var objectBytes = 64 << 20
  /// Bytes of one commit.
  public var commitBytes = 1 << 20
  /// Bytes of one tree.
  public var treeBytes = 32 << 20
  /// Bytes that all deltas of a pack unpack to, together.
  public var deltaBytes = 256 << 30
  /// Parents of a commit.
  public var parents = 256
  /// Folders inside one another.
  public var depth = 64
  /// Bytes of a path.
  public var pathBytes = 4096
  /// Files in one version.
  public var files = 1_000_000

  /// The limits of notes-protocol(7).
  public static let standard = PackLimits()

  public init() {}
}
