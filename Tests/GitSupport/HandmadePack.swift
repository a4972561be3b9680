@testable package import Git

/// Packs made object by object, so that they can break any rule.
package struct HandmadePack {
  package private(set) var body: [UInt8] = []
  package private(set) var count = 0

  /// One without objects.
  package init() {}

  /// The ID of an object with this content.
  package static func id(_ kind: ObjectKind, _ content: [UInt8]) -> ObjectID {
    ObjectID(bytes: checksum(Array("\(kind) \(content.count)\0".utf8) + content)) ?? .zero
  }

  /// Adds an object; `size` and `type` are what its header says.
  @discardableResult
  package mutating func add(
    _ kind: ObjectKind, _ content: [UInt8], size: Int? = nil, type: UInt8? = nil,
    between: [UInt8] = []
  ) throws -> ObjectID {
    var rest = (size ?? content.count) >> 4
    var byte = (type ?? UInt8(kind.rawValue)) << 4 | UInt8((size ?? content.count) & 15)
    while rest > 0 {
      body.append(byte | 0x80)
      byte = UInt8(rest & 0x7f)
      rest >>= 7
    }
    body.append(byte)
    body += between
    try Deflater().compress(content, into: &body)
    count += 1
    return Self.id(kind, content)
  }

  /// Adds a tree with entries as given: nothing is sorted.
  @discardableResult
  package mutating func addTree(_ entries: [(mode: String, name: [UInt8], id: ObjectID)]) throws
    -> ObjectID
  {
    try add(.tree, Self.treeContent(entries))
  }

  /// The content of such a tree.
  package static func treeContent(_ entries: [(mode: String, name: [UInt8], id: ObjectID)])
    -> [UInt8]
  {
    entries.flatMap { Array("\($0.mode) ".utf8) + $0.name + [0] + $0.id.bytes }
  }

  /// Adds a commit of a tree; `further` are lines that no commit has after its committer.
  @discardableResult
  package mutating func addCommit(
    _ tree: ObjectID, parents: [ObjectID] = [],
    author: String = "author A <a@example.org> 1700000000 +0100", further: [String] = []
  ) throws -> ObjectID {
    let lines =
      ["tree \(tree)"] + parents.map { "parent \($0)" } + [
        author, "committer A <a@example.org> 1700000000 +0100",
      ] + further + ["", "m", ""]
    return try add(.commit, Array(lines.joined(separator: "\n").utf8))
  }

  /// Adds a commit of these blobs, named a, b, c and so on.
  @discardableResult
  package mutating func addCommit(named blobs: [ObjectID]) throws -> ObjectID {
    try addCommit(addTree(zip(UInt8(ascii: "a")..., blobs).map { ("100644", [$0], $1) }))
  }

  /// The bytes of the pack.
  package func bytes(count: Int? = nil) -> [UInt8] {
    var bytes = Array("PACK".utf8) + [0, 0, 0, 2]
    bytes += withUnsafeBytes(of: UInt32(count ?? self.count).bigEndian) { Array($0) }
    bytes += body
    return bytes + Self.checksum(bytes)
  }

  /// SHA-1; nothing if it cannot be computed, so that no test passes by it.
  private static func checksum(_ bytes: [UInt8]) -> [UInt8] {
    (try? bytes.withUnsafeBytes(SHA1.of)) ?? []
  }
}
