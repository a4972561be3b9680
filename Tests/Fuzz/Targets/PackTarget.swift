@testable import Git

/// A pack is the same in one piece or in several, and never accepted beyond its limits.
enum PackTarget {
  private static let limits: PackLimits = {
    var limits = PackLimits()
    limits.objectBytes = 1 << 16
    limits.commitBytes = 1 << 12
    limits.treeBytes = 1 << 14
    limits.deltaBytes = 1 << 20
    limits.objects = 1000
    return limits
  }()

  static func run(_ bytes: [UInt8]) {
    let middle = bytes.count / 3
    let whole = isComplete([bytes[...]])
    precondition(whole == isComplete([bytes[..<middle], bytes[middle...]]))
  }

  private static func isComplete(_ parts: [ArraySlice<UInt8>]) -> Bool {
    do {
      var inspector = try PackInspector(limits: limits)
      for part in parts { try part.withUnsafeBytes { try inspector.inspect($0) } }
      return inspector.isComplete
    } catch {
      return false
    }
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
    if (try? bytes.withUnsafeBytes { try QuarantineTree.check($0, id: .emptyTree) }) != nil {
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
