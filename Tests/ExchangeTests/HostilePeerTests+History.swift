import Channel
import GitSupport
import TestSupport
import Testing

@testable import Exchange
@testable import Git

// What a history may cost whoever takes it, or refuses it: each in a notebook of its own, with an honest
// member served meanwhile.
extension HostilePeerTests {
  /// Offers a pack as Bob.
  private func offer(
    _ heads: [ObjectID], _ pack: HandmadePack, to world: HostileWorld
  ) throws {
    try world.play { script in
      try script.greet(heads: heads)
      try script.offer(pack.bytes(), heads: heads, objects: pack.count)
      while try script.stream.receive().type != .applied {}
    }
  }

  private func letters(_ number: Int, count: Int) -> [UInt8] {
    (0..<count).map { UInt8(ascii: number >> $0 & 1 == 0 ? "a" : "A") }.reversed()
  }

  // notes-merge(7), "Bounds".
  @Test("300 heads, in two sessions")
  func manyHeads() throws {
    let world = try HostileWorld()
    try world.measure("300 heads in two sessions", takesLong: true) {
      for range in [0..<256, 256..<300] {
        var pack = HandmadePack()
        let heads = try range.map { number in
          let blob = try pack.add(.blob, Array("\(number)\n".utf8))
          let tree = try pack.addTree([("100644", Array("\(number).txt".utf8), blob)])
          return try pack.addCommit(tree)
        }
        try offer(heads.sorted(), pack, to: world)
      }
    }
    // They were taken, and the next edit as well as a new device live with it.
    #expect(try world.ada.text("299.txt") == "299\n")
    try world.synchronise(Device("Dora", certifiedBy: world.ada))
    try expectSound(world)
  }

  @Test("thousands of conflicts from a small pack")
  func manyConflicts() throws {
    let world = try HostileWorld()
    let count = HostileTable.isFull ? 4_300 : 300
    var pack = HandmadePack()
    let names = (0..<count).map { Array("\(10_000 + $0).txt".utf8) }
    let trees = try ["base", "one", "two"].map { text in
      let blob = try pack.add(.blob, Array("\(text)\n".utf8))
      return try pack.addTree(names.map { ("100644", $0, blob) })
    }
    let base = try pack.addCommit(trees[0])
    let heads = try trees.dropFirst().map { try pack.addCommit($0, parents: [base]) }
    try world.measure("\(count) conflicts", takesLong: true) {
      try offer(heads.sorted(), pack, to: world)
    }
    #expect(try world.ada.text("10000.txt").contains("======="))
    try expectSound(world)
  }

  @Test("two sides of a note too large for one block")
  func largeSides() throws {
    let world = try HostileWorld()
    let bytes = HostileTable.isFull ? 40 << 20 : 1 << 20
    var pack = HandmadePack()
    func version(_ letter: UInt8, _ count: Int, on base: [ObjectID]) throws -> ObjectID {
      let blob = try pack.add(.blob, [UInt8](repeating: letter, count: count))
      return try pack.addCommit(
        pack.addTree([("100644", Array("l.txt".utf8), blob)]), parents: base)
    }
    let base = try version(0x61, 2, on: [])
    let heads = try [version(0x61, bytes, on: [base]), version(0x62, bytes, on: [base])]
    try world.measure("two sides of \(bytes >> 20) MiB", takesLong: true) {
      try offer(heads.sorted(), pack, to: world)
    }
    try expectSound(world)
  }

  // notes-merge(7), "Names that meet".
  @Test("names that differ by case alone")
  func namesByCase() throws {
    let world = try HostileWorld()
    let bits = HostileTable.isFull ? 14 : 10
    var pack = HandmadePack()
    let blob = try pack.add(.blob, [])
    let names = (0..<1 << bits).map { letters($0, count: bits) }
    let tree = try pack.addTree(
      names.sorted { $0.lexicographicallyPrecedes($1) }.map { ("100644", $0, blob) })
    let head = try pack.addCommit(tree)
    try world.measure("\(1 << bits) names that differ by case", takesLong: true) {
      try offer([head], pack, to: world)
    }
    try expectSound(world)
  }

  // notes-protocol(7), LIMITS: "folders inside one another".
  @Test("very many notes below as many folders as there may be")
  func deepFolders() throws {
    let world = try HostileWorld()
    let count = HostileTable.isFull ? 16_384 : 500
    var pack = HandmadePack()
    let blob = try pack.add(.blob, [])
    var tree = try pack.addTree((0..<count).map { ("100644", Array("\(100_000 + $0)".utf8), blob) })
    for _ in 0..<62 { tree = try pack.addTree([("40000", Array("folder".utf8), tree)]) }
    let head = try pack.addCommit(tree)
    try world.measure("\(count) notes 62 folders deep", takesLong: true) {
      try offer([head], pack, to: world)
    }
    try expectSound(world)
  }

  // notes-protocol(7), LIMITS: "bytes that a pack unpacks to".
  @Test("deltas that unpack to much, each a few bytes")
  func deltasOfZeros() throws {
    let world = try HostileWorld()
    var pack = HandmadePack()
    let base = try pack.add(.blob, [UInt8](repeating: 0, count: 1 << 20))
    for number in 0..<1_000 {
      var delta: [UInt8] = []
      PackDelta.appendSize(1 << 20, to: &delta)
      PackDelta.appendSize(60 << 20 | 1, to: &delta)
      // gitformat-pack(5): copy 1 MiB less a little from 0, 60 times over; then one byte.
      for _ in 0..<60 { delta += [0xF0, 0xFF, 0xFF, 0x0F] }
      delta += [0xB0, 0x3C, 0x00, 1, UInt8(truncatingIfNeeded: number)]
      try pack.add(.blob, delta, type: 7, between: base.bytes)
    }
    let head = try pack.addCommit(pack.addTree([]))
    try world.measure("1,000 deltas of 60 MiB each", takesLong: true) {
      try offer([head], pack, to: world)
    }
    #expect(try world.refusal().contains("unpacks to"))
    try expectSound(world)
  }

  // notes-protocol(7), "Large versions".
  @Test("a version of gigabytes in a few kilobytes")
  func largeVersion() throws {
    let world = try HostileWorld()
    var pack = HandmadePack()
    let blob = try pack.add(.blob, [UInt8](repeating: 0, count: 60 << 20))
    let tree = try pack.addTree((10..<70).map { ("100644", Array("\($0)".utf8), blob) })
    let head = try pack.addCommit(tree)
    try world.measure("3.5 GiB that came as 60 KiB", takesLong: true) {
      try offer([head], pack, to: world)
    }
    #expect(!world.ada.exists("10"))
    try expectSound(world)
  }

  @Test("commits of 255 parents each")
  func manyParents() throws {
    let world = try HostileWorld()
    let count = HostileTable.isFull ? 3_000 : 150
    var pack = HandmadePack()
    let tree = try pack.addTree([])
    var commits: [ObjectID] = []
    for number in 0..<255 + count {
      commits.append(
        try pack.addCommit(
          tree, parents: number < 255 ? [] : commits.suffix(255).reversed(),
          author: "author A <a@example.org> \(1_700_000_000 + number) +0000"))
    }
    try world.measure("\(count) commits of 255 parents", takesLong: true) {
      try offer([commits[commits.count - 1]], pack, to: world)
    }
    #expect(try world.refusal().contains("parents"))
    try expectSound(world)
  }

  // notes-merge(7), "Files that are not versioned".
  @Test("an ignore file of everything")
  func ignoreEverything() throws {
    let world = try HostileWorld()
    try world.bob.write("*\n", to: ".gitignore")
    try world.measure("an ignore file of *", takesLong: true) { try world.synchronise(world.bob) }
    try world.ada.write("still versioned\n", to: "after.txt")
    _ = try world.serveCarol()
    #expect(try world.carol.text("after.txt") == "still versioned\n")
  }

  /// The notebook is one that git finds nothing wrong with, and nothing that came is left half taken.
  private func expectSound(_ world: HostileWorld) throws {
    let check = try run(["git", "fsck", "--strict", "--no-dangling"], in: world.ada.notes)
    #expect(check.isSuccess, "\(check)")
    #expect(try world.quarantined().isEmpty)
    try world.synchroniseCarol()
    #expect(try world.carol.tip() == world.ada.tip())
  }
}
