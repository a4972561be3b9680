import GitSupport
import Notebook
import TestSupport
import Testing

@testable import Exchange
@testable import Git

// Packs that a quarantine refuses.
extension LimitsTests {
  /// What a quarantine with these limits says of a pack.
  private func refusal(
    _ limits: PackLimits, _ make: (inout HandmadePack) throws -> ObjectID
  ) throws -> String? {
    let device = try Device(founding: "Ada")
    var pack = HandmadePack()
    let head = try make(&pack)
    let quarantine = try device.notebook().repository.quarantine(limits: limits)
    defer { quarantine.discard() }
    do {
      try quarantine.append(pack.bytes())
      try quarantine.join(promised: [head])
      return nil
    } catch PackError.overLimit(let what, _) {
      return what
    } catch PackError.costly(let what, _) {
      return what
    }
  }

  @Test("A commit, a tree, a path and parents over the limit")
  func packs() throws {
    let long = [UInt8](repeating: 0x61, count: 200)
    func deep(_ pack: inout HandmadePack) throws -> ObjectID {
      let blob = try pack.add(.blob, [])
      var tree = try pack.addTree([("100644", long, blob)])
      for _ in 0..<21 { tree = try pack.addTree([("40000", long, tree)]) }
      return try pack.addCommit(tree)
    }
    // 22 names of 200 bytes: the standard limit as it is.
    #expect(try refusal(.standard, deep) == "bytes in a path")
    var limits = PackLimits.standard
    limits.pathBytes = 22 * 201
    #expect(try refusal(limits, deep) == nil)
    func parents(_ pack: inout HandmadePack) throws -> ObjectID {
      let tree = try pack.addTree([])
      let roots = try (0...PackLimits.standard.parents).map { number in
        try pack.addCommit(
          tree, author: "author A <a@example.org> \(1_700_000_000 + number) +0000")
      }
      return try pack.addCommit(tree, parents: roots)
    }
    #expect(try refusal(.standard, parents) == "parents of a commit")
    limits.parents += 1
    #expect(try refusal(limits, parents) == nil)
    func large(_ pack: inout HandmadePack) throws -> ObjectID {
      let author = "author A <a@example.org> 1700000000 +0000"
      let name = String(repeating: "A", count: PackLimits.standard.commitBytes)
      return try pack.addCommit(
        try pack.addTree([]), author: author.replacing("A <", with: name + " <"))
    }
    #expect(try refusal(.standard, large) == "bytes in an object")
    func wide(_ pack: inout HandmadePack) throws -> ObjectID {
      let blob = try pack.add(.blob, [])
      let names = (0..<100).map { Array("\(1000 + $0)".utf8) + long }
      return try pack.addCommit(try pack.addTree(names.map { ("100644", $0, blob) }))
    }
    #expect(try refusal(.standard, wide) == nil)
    limits.treeBytes = 20_000
    #expect(try refusal(limits, wide) == "bytes in an object")
  }

  @Test("Deltas that unpack to too much together")
  func deltas() throws {
    func many(_ pack: inout HandmadePack) throws -> ObjectID {
      let base = [UInt8](repeating: 0x61, count: 60_000)
      let blob = try pack.add(.blob, base)
      var names: [(mode: String, name: [UInt8], id: ObjectID)] = [("100644", [0x61], blob)]
      for number in 0..<10 {
        // Sizes of source and result, copy 50,000 bytes from 0, insert one (gitformat-pack(5)).
        let result = Array(base.prefix(50_000)) + [UInt8(number)]
        let delta: [UInt8] = [
          0xe0, 0xd4, 0x03, 0xd1, 0x86, 0x03, 0xb0, 0x50, 0xc3, 0x01, UInt8(number),
        ]
        try pack.add(.blob, delta, type: 7, between: blob.bytes)
        names.append(
          ("100644", [0x62 + UInt8(number)], HandmadePack.id(.blob, result)))
      }
      return try pack.addCommit(try pack.addTree(names))
    }
    #expect(try refusal(.standard, many) == nil)
    var limits = PackLimits.standard
    limits.unpackedBytes = 400_000
    #expect(try refusal(limits, many) == "bytes that a pack unpacks to")
    // Ten times 50,000 bytes and one of 60,000 from a pack of a few hundred.
    (limits.unpackedBytes, limits.unpackedBytesOfAny) = (1 << 30, 100_000)
    limits.unpackedBytesPerByte = 1
    #expect(try refusal(limits, many) == "bytes that a pack unpacks to")
    limits.unpackedBytesPerByte = 10_000
    #expect(try refusal(limits, many) == nil)

    func merges(_ pack: inout HandmadePack) throws -> ObjectID {
      let tree = try pack.addTree([("100644", [0x61], try pack.add(.blob, []))])
      let first = try pack.addCommit(tree)
      return try pack.addCommit(
        tree, parents: [try pack.addCommit(tree, parents: [first]), first])
    }
    limits = .standard
    (limits.allParents, limits.parentsPerCommit) = (3, 0)
    #expect(try refusal(limits, merges) == nil)
    limits.allParents = 2
    #expect(try refusal(limits, merges) == "parents of all commits")
    (limits.allParents, limits.parentsPerCommit) = (0, 1)
    #expect(try refusal(limits, merges) == nil)

    func chain(_ pack: inout HandmadePack) throws -> ObjectID {
      var content = [UInt8](repeating: 0x61, count: 100)
      var base = try pack.add(.blob, content)
      for number in 0..<4 {
        // Sizes of source and result, copy all of the source, insert one byte.
        let size = UInt8(content.count)
        let delta: [UInt8] = [size, size + 1, 0x90, size, 0x01, UInt8(number)]
        try pack.add(.blob, delta, type: 7, between: base.bytes)
        content.append(UInt8(number))
        base = HandmadePack.id(.blob, content)
      }
      // Only the last one is in the version, so the others are not needed by it.
      return try pack.addCommit(try pack.addTree([("100644", [0x61], base)]))
    }
    limits = .standard
    limits.chain = 3
    #expect(try refusal(limits, chain) == "deltas that lead to one object")
  }

  /// notes-protocol(7), "Large versions": 64 GB of zeros are sent as 62 MB; 10,000 versions of 100,000
  /// notes in one folder as 4 MB.
  @Test("What unpacks to much, or has many parents, is taken only where large is allowed")
  func large() throws {
    let (usual, large) = (PackLimits.standard, PackLimits.large)
    #expect(throws: PackError.self) { try usual.check(unpacked: 3 << 29, ofPack: 62_000_000) }
    #expect(throws: PackError.self) { try usual.check(unpacked: 40 << 30, ofPack: 4_000_000) }
    try large.check(unpacked: 40 << 30, ofPack: 4_000_000)
    // As much of photographs as a pack may have, and a year's text.
    try usual.check(unpacked: 5 << 30, ofPack: 4 << 30)
    try usual.check(unpacked: 1 << 30, ofPack: 100_000_000)
    #expect(usual.allParents + 3_000 * usual.parentsPerCommit < 3_000 * 255)
    #expect(large.allParents > 3_000 * 255)
  }
}
