extension ObjectID {
  /// Hashes text here, and everything else with libgit2, which refuses the blocks used for SHA-1
  /// collisions; such blocks are never text. Objects from other devices are always hashed by
  /// libgit2.
  static func hashing(_ kind: ObjectKind, _ content: [UInt8]) throws -> ObjectID {
    // Trees and commits are made by notes itself, from names and IDs.
    guard kind != .blob || isText(content) else {
      return try Libgit2.shared.get().id(of: kind, content)
    }
    return try plain(kind, content)
  }

  /// The ID that `content` would have as a blob, for content that is compared and not stored. This is plain
  /// SHA-1 without a check for collisions, which would load libgit2.
  public static func digest(ofBlob content: [UInt8]) throws -> ObjectID {
    try plain(.blob, content)
  }

  static func plain(_ kind: ObjectKind, _ content: [UInt8]) throws -> ObjectID {
    let hash = try SHA1()
    hash.update(LooseObjects.header(kind, size: content.count))
    hash.update(content)
    return try ObjectID(bytes: hash.finish()) ?? .zero
  }

  /// Whether an object that was read has that ID. Does not check a large tree: that would take longer than
  /// reading it, and zlib's checksum covers the bytes. git checks no more.
  static func matches(_ id: ObjectID, _ object: StoredObject) throws -> Bool {
    if object.kind == .tree, object.data.count >= largeTree { return true }
    return try plain(object.kind, object.data) == id
  }

  private static let largeTree = 1 << 11

  /// Whether bytes are UTF-8 without control characters, except those that separate lines and
  /// words.
  static func isText(_ content: [UInt8]) -> Bool {
    var isASCII = true
    for byte in content {
      if byte >= 0x80 {
        isASCII = false
      } else if byte < 0x20 || byte == 0x7f {
        guard byte == 0x0a || byte == 0x09 || byte == 0x0d || byte == 0x0c else { return false }
      }
    }
    return isASCII || String(validating: content, as: UTF8.self) != nil
  }
}
