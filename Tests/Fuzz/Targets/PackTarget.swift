@testable import Git

/// A pack is the same in one piece or in several, and never accepted beyond its limits. What is
/// accepted has the IDs that a second reading finds, whatever is kept meanwhile.
enum PackTarget {
  private static let limits: PackLimits = {
    var limits = PackLimits()
    limits.objectBytes = 1 << 16
    limits.commitBytes = 1 << 12
    limits.treeBytes = 1 << 14
    limits.unpackedBytes = 1 << 22
    limits.objects = 1000
    limits.chain = 20
    return limits
  }()

  static func run(_ bytes: [UInt8]) {
    let middle = bytes.count / 3
    let whole = ids([bytes[...]], keeping: .max)
    precondition(whole == ids([bytes[..<middle], bytes[middle...]], keeping: .max))
    // With little room, bases are unpacked again: that may take too long, and else changes nothing.
    if let again = ids([bytes[...]], keeping: 100) { precondition(whole == again) }
  }

  private static func ids(_ parts: [ArraySlice<UInt8>], keeping kept: Int) -> [ObjectID]? {
    var limits = limits
    limits.keptBytes = kept
    do {
      let unpacking = UnpackingLimit(limits)
      var stream = try PackStream(limits: limits, unpacking)
      for part in parts { try part.withUnsafeBytes { try stream.read($0) } }
      guard stream.isComplete else { return nil }
      let pack = Array(parts.joined())
      var deltas = try PackDeltas(
        of: &stream, pack: MappedFile(copying: pack), limits: limits, unpacking)
      try deltas.apply(outside)
      let entries = deltas.takeEntries()
      for entry in entries {
        precondition(entry.id != .zero && entry.kind != nil && entry.offset < pack.count)
      }
      return entries.map(\.id)
    } catch {
      return nil
    }
  }

  /// What the receiver has: the empty blob, and one note.
  private static var outside: PackDeltas.Outside {
    PackDeltas.Outside(
      object: { id in
        let note = Array("a note\n".utf8)
        if id == .emptyBlob { return (.blob, []) }
        return try id == ObjectID.plain(.blob, note) ? (.blob, note) : nil
      },
      append: { _, _ in PackEntry(offset: 12, crc: 0) })
  }
}

/// What is let through is what the rules of notes-protocol(7) say: no name that leaves the folder or
/// means `.git`, and nothing that the reader of our own objects cannot read.
enum ObjectTarget {
  static func run(_ bytes: [UInt8]) {
    if (try? QuarantineCommit.check(bytes, id: .emptyBlob, limits: .standard)) != nil {
      guard let commit = try? Commit(parsing: bytes, id: .emptyBlob) else {
        preconditionFailure("a commit that was let through cannot be read")
      }
      precondition(commit.author.time >= 0 && commit.author.time <= 253_402_300_799)
    }
    if (try? QuarantineTree.check(bytes, id: .emptyTree)) != nil {
      guard let tree = try? Tree(parsing: bytes, id: .emptyTree) else {
        preconditionFailure("a tree that was let through cannot be read")
      }
      for entry in tree.entries {
        let name = entry.name.bytes
        precondition(!name.isEmpty && !name.contains(0) && !name.contains(UInt8(ascii: "/")))
        precondition(name != Array("..".utf8) && name != Array(".".utf8))
        precondition(entry.name.description.lowercased() != ".git")
      }
    }
    _ = NameRules.problem(with: TreePath(bytes: bytes))
  }
}
