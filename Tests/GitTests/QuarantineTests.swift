import GitSupport
import Glibc
import TestSupport
import Testing

@testable import Git

/// A pack that has to be refused.
struct Attack: CustomTestStringConvertible, Sendable {
  let name: String
  let limits: PackLimits
  let make: @Sendable (inout HandmadePack) throws -> (pack: [UInt8]?, heads: [ObjectID])

  init(
    _ name: String, limits: PackLimits = .standard,
    _ make: @escaping @Sendable (inout HandmadePack) throws -> (pack: [UInt8]?, heads: [ObjectID])
  ) {
    self.name = name
    self.limits = limits
    self.make = make
  }

  var testDescription: String { name }

  /// A version with one tree of these entries; `blob` stands for a blob that is there.
  static func tree(
    _ name: String, _ entries: @escaping @Sendable (ObjectID) -> [(String, [UInt8])]
  ) -> Attack {
    Attack(name) { pack in
      let blob = try pack.add(.blob, [])
      let tree = try pack.addTree(entries(blob).map { ($0.0, $0.1, blob) })
      return (nil, [try pack.addCommit(tree)])
    }
  }

  /// A version with such a tree, and another one on it that is as it should be.
  static func former(
    _ name: String, _ make: @escaping @Sendable (inout HandmadePack) throws -> ObjectID
  ) -> Attack {
    Attack("\(name), in a former version") { pack in
      let former = try pack.addCommit(make(&pack))
      let tree = try pack.addTree([("100644", [98], try pack.add(.blob, [1]))])
      return (nil, [try pack.addCommit(tree, parents: [former])])
    }
  }

  static func named(_ name: String) -> Attack {
    tree("a file named \(name.debugDescription)") { _ in [("100644", Array(name.utf8))] }
  }

  static func author(_ author: String) -> Attack {
    Attack("author line \(author.debugDescription)") { pack in
      let blob = try pack.add(.blob, [])
      let tree = try pack.addTree([("100644", [97], blob)])
      return (nil, [try pack.addCommit(tree, author: author)])
    }
  }

  static let smallLimits: PackLimits = {
    var limits = PackLimits()
    limits.objectBytes = 1 << 20
    limits.objects = 20
    limits.packBytes = 1 << 16
    limits.depth = 8
    limits.files = 1000
    limits.parents = 3
    limits.chain = 4
    return limits
  }()
}

// notes-protocol(7), PACKS: "joins the repository only if all of these hold".
@Suite struct QuarantineTests {
  // notes-protocol(7), PACKS: "bytes of an object", "of a commit", "of a tree"
  @Test func `each kind of object has its own limit`() throws {
    let receiver = try PackRepository()
    var pack = HandmadePack()
    let tree = try pack.addTree([("100644", [97], try pack.add(.blob, [1]))])
    let head = try pack.addCommit(tree)
    var limits = PackLimits()
    (limits.objectBytes, limits.treeBytes) = (40, 40)
    let quarantine = try receiver.repository.quarantine(limits: limits)
    try quarantine.append(pack.bytes())
    try quarantine.join(promised: [head])
    #expect(try receiver.repository.commit(head).tree == tree)
  }

  @Test(arguments: attacks) func `refuses`(attack: Attack) throws {
    let receiver = try PackRepository()
    _ = try receiver.commit(["kept.txt": "kept\n"])
    let before = try receiver.objectFiles
    var pack = HandmadePack()
    let (bytes, heads) = try attack.make(&pack)
    let quarantine = try receiver.repository.quarantine(limits: attack.limits)
    #expect(throws: (any Error).self) {
      try quarantine.append(bytes ?? pack.bytes())
      try quarantine.join(promised: heads)
    }
    quarantine.discard()
    #expect(try receiver.leftovers.isEmpty)
    #expect(try receiver.objectFiles == before)
    #expect(throws: PackError.finished) { try quarantine.append([1]) }
  }

  @Test func `accepts what the rules allow`() throws {
    let receiver = try PackRepository()
    var pack = HandmadePack()
    let blob = try pack.add(.blob, Array("x\n".utf8))
    let names = [
      " ", "-rf", "...", ".git.txt", ".gitignore", "a\\b", "git~2", "CON", "nul.txt",
      "e\u{301}.txt", "\u{1F600}.txt", String(repeating: "n", count: 255),
    ].sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
    let folder = try pack.addTree(names.map { ("100644", Array($0.utf8), blob) })
    let tree = try pack.addTree([
      ("100755", Array("run".utf8), blob), ("40000", Array("sub".utf8), folder),
      ("100644", [0xff, 0xfe], blob),
    ])
    let commit = try pack.addCommit(tree)
    #expect(try receiver.receive(pack.bytes(), promised: [commit]) == 1)
    #expect(try receiver.repository.tree(folder).entries.count == names.count)
  }

  @Test func `measures each folder once, however many versions have it`() throws {
    let sender = try PackRepository()
    var tip: ObjectID?
    for number in 0..<20 {
      var files = ["n.txt": "\(number)\n"]
      for folder in 0..<40 { files["d\(folder)/e/f.txt"] = "same \(folder)\n" }
      tip = try sender.commit(files, parents: tip.map { [$0] } ?? [], time: Int64(number))
    }
    let receiver = try PackRepository()
    let pack = try ReceivedPack(
      in: receiver.folder.path, for: receiver.repository, limits: .standard)
    let head = try #require(tip)
    try sender.pack(wants: [head]).withUnsafeBytes { try pack.append($0) }
    var check = QuarantineCheck(
      of: try pack.finish(), for: receiver.repository, limits: .standard)
    #expect(try check.run(promised: [head]).count == 20)
    // Most are measured when they are looked at; those that stand above others, once more.
    #expect(check.extents.foldersRead <= 20 + 2 * 40)
  }

  @Test func `stores the empty tree, which git knows of without having it`() throws {
    let receiver = try PackRepository()
    var pack = HandmadePack()
    let commit = try pack.addCommit(.emptyTree)
    #expect(try receiver.receive(pack.bytes(), promised: [commit]) == 1)
    let checked = try run(["git", "fsck", "--strict", "--no-dangling"], in: receiver.folder.path)
    #expect(checked.isSuccess && !checked.errorText.contains("missing"), "\(checked)")
  }

  @Test func `removes what a killed process left`() throws {
    let receiver = try PackRepository()
    try receiver.folder.write("", to: ".git/notes/incoming/77-dead/lock")
    try receiver.folder.write("x", to: ".git/notes/incoming/77-dead/objects/pack/pack_git2_x")
    let live = try receiver.repository.quarantine()
    #expect(!(try receiver.leftovers).contains("77-dead"))
    #expect(!(try receiver.leftovers.isEmpty))
    let second = try receiver.repository.quarantine()
    #expect(try run(["ls", ".git/notes/incoming"], in: receiver.folder.path).lines.count == 2)
    live.discard()
    second.discard()
    #expect(try receiver.leftovers.isEmpty)
  }

  @Test func `a pack cut anywhere leaves nothing`() throws {
    let sender = try PackRepository()
    let tip = try sender.commit(["a.txt": "a\n", "b/c.txt": "c\n"])
    let pack = try sender.pack(wants: [tip])
    let receiver = try PackRepository()
    for length in 0..<pack.count {
      #expect(throws: (any Error).self, "cut after \(length) bytes") {
        try receiver.receive(Array(pack[..<length]), promised: [tip])
      }
    }
    #expect(try receiver.leftovers.isEmpty)
    #expect(try receiver.objectFiles == "")
  }

  @Test func `a flipped bit anywhere is noticed`() throws {
    let sender = try PackRepository()
    let tip = try sender.commit(["a.txt": "a\n", "b/c.txt": "c\n"])
    let pack = try sender.pack(wants: [tip])
    let receiver = try PackRepository()
    for position in 0..<pack.count {
      var damaged = pack
      damaged[position] ^= 1 << UInt8(position % 8)
      #expect(throws: (any Error).self) { try receiver.receive(damaged, promised: [tip]) }
    }
    #expect(try receiver.leftovers.isEmpty)
    #expect(try receiver.objectFiles == "")
  }
}
