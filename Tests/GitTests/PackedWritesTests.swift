import TestSupport
import Testing

@testable import Git

@Suite struct PackedWritesTests {
  @Test("Trees that are stored as deltas are the trees that were written, for git as well")
  func stored() throws {
    var random = SplitMix64.reported(for: "packed writes")
    let made = try PackRepository()
    let repository = made.repository
    let texts = try (0..<4).map { try repository.write(blob: Array("\($0)\n".utf8)) }
    func file(_ number: Int) -> TreePath {
      TreePath((number % 3 == 0 ? "folder/" : "") + "note \(number).txt")
    }
    func entry(_ path: TreePath) -> TreeEntry {
      TreeEntry(name: path.name, mode: .regular, id: texts[Int.random(in: 0..<4, using: &random)])
    }
    var trees: [ObjectID] = []
    var commits: [ObjectID] = []
    for count in [120, 70] {
      try repository.withPackedWrites {
        for _ in 0..<count {
          var changes: [TreePath: TreeEntry?] = [:]
          for _ in 0..<(trees.isEmpty ? 300 : Int.random(in: 1...3, using: &random)) {
            let path = file(Int.random(in: 0..<200, using: &random))
            changes[path] = .some(Int.random(in: 0..<9, using: &random) == 0 ? nil : entry(path))
          }
          let base = trees.last
          let tree = try repository.write(tree: base, replacing: changes)
          trees.append(tree)
          let files = try Dictionary(
            uniqueKeysWithValues: repository.files(in: tree).map { ($0.path, $0.entry) })
          for (path, change) in changes { #expect(files[path] == change) }
          commits.append(
            try repository.write(
              commit: tree, parents: commits.suffix(1), author: PackRepository.author,
              committer: PackRepository.author, message: "m\n"))
        }
      }
    }
    #expect(repository.packed == nil)
    let contents = try trees.map { try repository.tree($0).serialized }
    repository.close()
    for (tree, content) in zip(trees, contents) {
      #expect(try ObjectID.plain(.tree, content) == tree)
      #expect(try repository.object(tree).data == content)
    }
    try made.git("update-ref", "refs/heads/main", try #require(commits.last).hex)
    try made.git("fsck", "--strict", "--no-dangling")
    let packed = try made.git("count-objects", "-v").split(separator: "\n")
    #expect(packed.contains("packs: 2"))
    // A whole tree of each folder in each pack; all others are deltas, and take less than a tenth.
    let size = try #require(packed.compactMap { Int($0.trimmingPrefix("size-pack: ")) }.last)
    #expect(size < contents.reduce(0) { $0 + $1.count } / 1024 / 10)
  }

  @Test("Little stays in memory, however much is written at once") func bounded() throws {
    let made = try PackRepository()
    let repository = made.repository
    var ids: [ObjectID] = []
    try repository.withPackedWrites {
      for number in 0..<40 {
        ids.append(
          try repository.write(
            blob: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 1 << 20)))
      }
      #expect(try made.git("count-objects", "-v").contains("packs: 5\n"))
      #expect(try repository.blob(ids[0]).count == 1 << 20)
    }
    repository.close()
    for (number, id) in ids.enumerated() {
      #expect(try repository.blob(id).first == UInt8(number))
    }
  }

  /// git-repack(1) leaves packs with such a file alone.
  @Test("Packs of objects that no reference will name are kept until the end")
  func kept() throws {
    let made = try PackRepository()
    let repository = made.repository
    let tip = try made.commit(["a.txt": "a\n"])
    var blob = ObjectID.zero
    func marks() throws -> Int {
      try run(["find", ".git/objects/pack", "-name", "*.keep"], in: made.folder.path).lines.count
    }
    try repository.keepingPacks {
      try repository.withPackedWrites { blob = try repository.write(blob: Array("kept\n".utf8)) }
      try repository.set(reference: "refs/heads/main", to: tip, message: "test")
      #expect(try marks() == 1)
      try made.git("repack", "-adq")
      repository.close()
      #expect(try repository.blob(blob) == Array("kept\n".utf8))
    }
    #expect(try marks() == 0)
  }

  @Test("What fails is not stored") func failing() throws {
    struct Failure: Error {}
    let made = try PackRepository()
    let text = Array("text\n".utf8)
    #expect(throws: Failure.self) {
      try made.repository.withPackedWrites {
        let id = try made.repository.write(blob: text)
        #expect(try made.repository.blob(id) == text)
        throw Failure()
      }
    }
    #expect(try !made.repository.contains(ObjectID.plain(.blob, text)))
  }
}

@Suite struct TreeComparisonTests {
  /// The comparison skips equal entries many at a time; this one reads each.
  private static func plainly(_ old: [UInt8], _ new: [UInt8]) throws -> [String] {
    func entries(_ tree: [UInt8]) throws -> [String: ObjectID] {
      Dictionary(
        uniqueKeysWithValues: try #require(TreeBytes.entries(tree)).map { entry in
          let value = entry.value(in: tree)
          return ("\(value.name) \(value.mode)", value.id)
        })
    }
    let (before, after) = (try entries(old), try entries(new))
    return Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted().map {
      "\($0) \(before[$0]?.hex ?? "-") \(after[$0]?.hex ?? "-")"
    }
  }

  @Test("The differences of two trees are those of their entries, and the rest is called the same")
  func differences() throws {
    var random = SplitMix64.reported(for: "tree comparison")
    /// IDs with bytes that names and modes have, too.
    func id() -> ObjectID {
      let byte = [0, 0x20, 0x31, 0x34, 0x61].randomElement(using: &random) ?? 0
      let bytes = (0..<20).map { _ in
        Bool.random(using: &random) ? UInt8(byte) : UInt8.random(in: 0...255, using: &random)
      }
      return ObjectID(bytes: bytes) ?? .zero
    }
    for _ in 0..<300 {
      var entries: [TreePath: TreeEntry] = [:]
      for _ in 0..<Int.random(in: 0...60, using: &random) {
        let length = Int.random(in: 1...30, using: &random)
        let name = TreePath(
          bytes: (0..<length).map { _ in UInt8.random(in: 97...99, using: &random) })
        let mode: FileMode =
          [.regular, .executable, .tree].randomElement(using: &random) ?? .regular
        entries[name] = TreeEntry(name: name, mode: mode, id: id())
      }
      var others = entries
      for name in entries.keys.sorted() where Int.random(in: 0..<20, using: &random) == 0 {
        guard let entry = entries[name] else { continue }
        others[name] =
          Bool.random(using: &random) ? nil : TreeEntry(name: name, mode: entry.mode, id: id())
      }
      let old = Tree(entries: Array(entries.values)).serialized
      let new = Tree(entries: Array(others.values)).serialized
      var found: [String] = []
      var equal = 0
      let isWellFormed = TreeBytes.compare(old, new) { before, after, count in
        #expect(old[before..<before + count] == new[after..<after + count])
        equal += count
      } changed: { before, after in
        let (before, after) = (before?.value(in: old), after?.value(in: new))
        let named = before ?? after
        found.append(
          "\(named?.name ?? TreePath("")) \(named?.mode ?? .regular) "
            + "\(before?.id.hex ?? "-") \(after?.id.hex ?? "-")")
      }
      #expect(isWellFormed)
      #expect(try found.sorted() == Self.plainly(old, new))
      let changed = found.compactMap { line in line.hasSuffix("-") ? nil : line }.count
      #expect(equal < new.count || changed == 0)
      let delta = try #require(PackDelta.tree(from: old, to: new))
      #expect(PackDelta.applied(delta, to: old, limit: .max) == new)
    }
  }
}
