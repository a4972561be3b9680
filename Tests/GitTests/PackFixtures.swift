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

  /// All of a pack; `copies` puts it together from what packs hold, however little it is.
  func pack(wants: [ObjectID], haves: [ObjectID] = [], copies: Bool = false) throws -> [UInt8] {
    let writer = try repository.pack(wants: wants, haves: haves, copiesFrom: copies ? 0 : .max)
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
