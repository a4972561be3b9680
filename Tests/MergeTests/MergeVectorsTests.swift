import FoundationEssentials
import Git
import Glibc
import History
import Merge
import TestSupport
import Testing

// The vectors of Tests/Vectors: heads in, tree and commit ID out. Tests/Reference/make_vectors.py
// writes them with a second implementation of notes-merge(7).

struct MergeVector: Decodable {
  struct File: Decodable {
    var path: String
    var mode: String
    var text: String?
    var base64: String?
    var before: String?
    var repeated: String?
    var times: Int?
    var after: String?

    var treePath: TreePath { MergeTrailers.unquoted(Array(path.utf8)) ?? TreePath(path) }

    var content: [UInt8] {
      if let text { return Array(text.utf8) }
      if let base64 { return [UInt8](Data(base64Encoded: base64) ?? Data()) }
      let middle = String(repeating: repeated ?? "", count: times ?? 0)
      return Array(((before ?? "") + middle + (after ?? "")).utf8)
    }
  }

  enum Parent: Decodable {
    case commit(String)
    case tip([String])

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let name = try? container.decode(String.self) {
        self = .commit(name)
      } else {
        self = .tip(try container.decode([String].self))
      }
    }
  }

  struct Version: Decodable {
    var name: String
    var parents: [Parent]
    var author: String
    var email: String
    var time: Int64
    /// The committer's time, where it is another than the author's.
    var made: Int64?
    var zone: Int
    var message: String
    var files: [File]
  }

  var about: String
  var commits: [Version]
  var heads: [String]
  var tip: String
  var tree: String
  var conflicts: [String]
  var message: String
  var result: [File]
}

@Suite struct MergeVectorsTests {
  static let folder = BuiltBinary.sourceFolder + "/Tests/Vectors"

  static func names() throws -> [String] {
    guard let handle = opendir(folder) else { throw SystemError("opendir", folder) }
    defer { closedir(handle) }
    var names: [String] = []
    while let entry = readdir(handle) {
      let name = String(decoding: nameBytes(of: entry), as: UTF8.self)
      if name.hasSuffix(".json") { names.append(name) }
    }
    return names.sorted()
  }

  @Test func everyVectorHasItsTip() throws {
    let names = try Self.names()
    #expect(names.count >= 100)
    let folder = try TemporaryFolder()
    let repository = try Repository.create(at: folder.path)
    try repository.withBatchedWrites {
      for name in names { try check(name, repository) }
    }
  }

  private func check(_ name: String, _ repository: Repository) throws {
    let data = Data(try readFile("\(Self.folder)/\(name)"))
    let vector = try JSONDecoder().decode(MergeVector.self, from: data)
    var ids: [String: ObjectID] = [:]
    for version in vector.commits { ids[version.name] = try write(version, ids, repository) }
    let heads = vector.heads.compactMap { ids[$0] }
    let about = Comment(rawValue: "\(name): \(vector.about)")
    for order in [heads, heads.reversed()] {
      let tip = try DerivedMerge.tip(of: order, in: repository)
      let commit = try repository.commit(tip.id)
      #expect(tip.id.hex == vector.tip, about)
      #expect(commit.tree.hex == vector.tree, about)
      #expect(commit.message == vector.message, about)
      #expect(
        tip.conflicts == vector.conflicts.map { MergeTrailers.unquoted(Array($0.utf8)) }, about)
      for file in vector.result {
        let entry = try repository.entry(at: file.treePath, in: commit.tree)
        #expect(try entry.map { try repository.blob($0.id) } == file.content, about)
      }
    }
  }

  private func write(
    _ version: MergeVector.Version, _ ids: [String: ObjectID], _ repository: Repository
  ) throws -> ObjectID {
    var files: [TreePath: TreeEntry?] = [:]
    for file in version.files {
      let mode = FileMode(rawValue: UInt32(file.mode, radix: 8) ?? 0)
      let id = try repository.write(blob: file.content)
      files[file.treePath] = TreeEntry(name: file.treePath.name, mode: mode, id: id)
    }
    let tree = try repository.write(tree: nil, replacing: files)
    let parents = try version.parents.compactMap { parent in
      switch parent {
      case .commit(let name): ids[name]
      case .tip(let names):
        try DerivedMerge.tip(of: names.compactMap { ids[$0] }, in: repository).id
      }
    }
    // The trailers that the version carries are what `notes` would write.
    let carried = try OpenConflicts.carried(
      from: parents.map { try repository.commit($0) }, to: tree, in: repository)
    if version.email.hasSuffix("@notes.invalid") {
      #expect(MergeTrailers(message: version.message).conflicts == carried.conflicts)
    }
    let author = Signature(
      name: version.author, email: version.email, time: version.time, offset: version.zone)
    var committer = author
    committer.time = version.made ?? version.time
    return try repository.write(
      commit: tree, parents: parents, author: author, committer: committer,
      message: version.message)
  }
}
