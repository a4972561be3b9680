import TestSupport

@testable import Git

/// A repository in a temporary folder, with objects made by hand.
struct PackRepository {
  let folder: TemporaryFolder
  let repository: Repository

  init() throws {
    folder = try TemporaryFolder()
    repository = try Repository.create(at: folder.path)
  }

  static let author = Signature(name: "A", email: "a@example.org", time: 1_700_000_000, offset: 60)

  /// Runs git in the repository's folder and returns what it prints.
  @discardableResult
  func git(_ arguments: String..., input: [UInt8] = []) throws -> String {
    let result = try run(
      ["git"] + arguments, in: folder.path,
      environment: TestEnvironment.isolated(home: folder.path), input: input)
    guard result.isSuccess else { throw GitFailure(description: "\(result)") }
    return result.text
  }

  struct GitFailure: Error, CustomStringConvertible { let description: String }

  /// A commit of these files.
  func commit(_ files: [String: String], parents: [ObjectID] = [], time: Int64 = 0) throws
    -> ObjectID
  {
    let tree = try repository.write(
      tree: nil,
      replacing: Dictionary(
        uniqueKeysWithValues: files.map { path, text in
          let id = try repository.write(blob: Array(text.utf8))
          return (
            TreePath(path), TreeEntry(name: TreePath(path).name, mode: .regular, id: id)
          )
        }))
    var author = Self.author
    author.time += time
    return try repository.write(
      commit: tree, parents: parents, author: author, committer: author, message: "m\n")
  }

  /// All of a pack.
  func pack(wants: [ObjectID], haves: [ObjectID] = []) throws -> [UInt8] {
    let writer = try repository.pack(wants: wants, haves: haves)
    var bytes: [UInt8] = []
    while let chunk = try writer.next() { bytes += chunk }
    return bytes
  }

  /// Takes a pack in, in pieces.
  @discardableResult
  func receive(_ pack: [UInt8], promised: [ObjectID], pieces: Int = 7) throws -> Int {
    let quarantine = try repository.quarantine()
    var rest = pack[...]
    let size = max(1, pack.count / pieces)
    while !rest.isEmpty {
      try quarantine.append(Array(rest.prefix(size)))
      rest = rest.dropFirst(size)
    }
    return try quarantine.join(promised: promised)
  }

  /// What lies in quarantine.
  var leftovers: String {
    get throws { try run(["find", ".git/notes/incoming", "-mindepth", "1"], in: folder.path).text }
  }

  /// The packs and loose objects there are.
  var objectFiles: String {
    get throws {
      try run(["find", ".git/objects", "-type", "f"], in: folder.path).lines.sorted()
        .joined(separator: "\n")
    }
  }
}

/// Packs made object by object, so that they can break any rule.
struct HandmadePack {
  private(set) var body: [UInt8] = []
  private(set) var count = 0

  /// The ID of an object with this content.
  static func id(_ kind: ObjectKind, _ content: [UInt8]) -> ObjectID {
    var checksum = PackChecksum()
    checksum.update(Array("\(kind) \(content.count)\0".utf8))
    checksum.update(content)
    return ObjectID(bytes: checksum.finish()) ?? .zero
  }

  /// Adds an object; `size` and `type` are what its header says.
  @discardableResult
  mutating func add(
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
  mutating func addTree(_ entries: [(mode: String, name: [UInt8], id: ObjectID)]) throws
    -> ObjectID
  {
    try add(
      .tree,
      entries.flatMap { Array("\($0.mode) ".utf8) + $0.name + [0] + $0.id.bytes })
  }

  /// Adds a commit of a tree.
  @discardableResult
  mutating func addCommit(
    _ tree: ObjectID, parents: [ObjectID] = [],
    author: String = "author A <a@example.org> 1700000000 +0100"
  ) throws -> ObjectID {
    let lines =
      ["tree \(tree)"] + parents.map { "parent \($0)" } + [
        author, "committer A <a@example.org> 1700000000 +0100", "", "m", "",
      ]
    return try add(.commit, Array(lines.joined(separator: "\n").utf8))
  }

  /// The bytes of the pack.
  func bytes(count: Int? = nil) -> [UInt8] {
    var bytes = Array("PACK".utf8) + [0, 0, 0, 2]
    bytes += withUnsafeBytes(of: UInt32(count ?? self.count).bigEndian) { Array($0) }
    bytes += body
    var checksum = PackChecksum()
    checksum.update(bytes)
    return bytes + checksum.finish()
  }
}
