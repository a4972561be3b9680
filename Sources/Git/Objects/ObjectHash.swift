extension ObjectID {
  /// Text is hashed here. Everything else goes to libgit2, whose hash refuses the blocks by which
  /// SHA-1 collisions are made: noise, never text. Objects from elsewhere are always hashed
  /// there.
  static func hashing(_ kind: ObjectKind, _ content: [UInt8]) throws -> ObjectID {
    // Trees and commits are made here, of names and IDs.
    guard kind != .blob || isText(content) else {
      return try Libgit2.shared.get().id(of: kind, content)
    }
    return plain(kind, content)
  }

  /// The ID that `content` would have as a blob, by SHA-1 alone: for what is compared and not stored. No
  /// look for collisions, for which libgit2 would have to be loaded.
  public static func digest(ofBlob content: [UInt8]) -> ObjectID { plain(.blob, content) }

  static func plain(_ kind: ObjectKind, _ content: [UInt8]) -> ObjectID {
    var hash = SHA1()
    hash.update(LooseObjects.header(kind, size: content.count))
    hash.update(content)
    return ObjectID(bytes: hash.finish()) ?? .zero
  }

  /// Whether an object that was read is the one of that ID. Of a tree of some size this is not looked
  /// at: it takes longer than reading it, and zlib's own checksum speaks for it, which is all git looks
  /// at.
  static func matches(_ id: ObjectID, _ object: StoredObject) -> Bool {
    if object.kind == .tree, object.data.count >= largeTree { return true }
    return plain(object.kind, object.data) == id
  }

  private static let largeTree = 1 << 11

  /// Whether bytes are UTF-8 without control characters but those that part lines and words.
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
