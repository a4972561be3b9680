import GitSupport
import TestSupport
import Testing

@testable import Git

// notes-protocol(7), PACKS: "A pack is git's (gitformat-pack(5), version 2)".
@Suite struct ReceivedPackTests {
  /// How git is asked to write a pack.
  struct Writing: CustomTestStringConvertible, Sendable {
    let options: [String]
    var isThin: Bool { options.contains("--thin") }
    var testDescription: String { options.joined(separator: " ") }

    init(_ options: String) { self.options = options.split(separator: " ").map(String.init) }

    static let all = [
      "--window=10 --depth=50", "--window=250 --depth=400 --delta-base-offset", "--depth=0",
      "--window=30 --depth=7", "--thin --window=250 --depth=200",
      "--thin --delta-base-offset", "--thin --window=3 --depth=500",
    ].map(Writing.init)
  }

  /// A history of texts that resemble one another, in folders, made by git.
  private static func history(_ random: inout SplitMix64) throws -> PackRepository {
    var stream = ""
    var texts: [String: [String]] = [:]
    for number in 0..<150 {
      let path = "\(["", "a/", "a/b/"][Int.random(in: 0..<3, using: &random)])n\(number % 7).txt"
      var lines = texts[path] ?? (0..<40).map { "line \($0) of \(path)\n" }
      for _ in 0...Int.random(in: 0..<3, using: &random) {
        let line = Int.random(in: 0...lines.count, using: &random)
        lines.insert("\(UInt64.random(in: 0...UInt64.max, using: &random))\n", at: line)
      }
      texts[path] = lines
      let text = lines.joined()
      stream += """
        commit refs/heads/main
        committer A <a@example.org> \(1_700_000_000 + number) +0000
        data 2
        m
        M 100644 inline \(path)
        data \(text.utf8.count)
        \(text)

        """
    }
    let sender = try PackRepository()
    try sender.git("fast-import", "--quiet", "--force", input: Array(stream.utf8))
    return sender
  }

  @Test(arguments: Writing.all) func `git finds the same objects in a pack`(writing: Writing) throws
  {
    var random = SplitMix64.reported(for: "received packs")
    let sender = try Self.history(&random)
    let middle = try sender.git("rev-parse", "main~\(Int.random(in: 1..<149, using: &random))")
    let wants = "main\n" + (writing.isThin ? "^\(middle)" : "")
    let pack = try sender.bytes(
      of: "pack-objects", ["--revs", "--stdout", "--no-reuse-delta", "-q"] + writing.options,
      input: wants)

    let receiver = try PackRepository()
    if writing.isThin {
      let first = try sender.bytes(of: "pack-objects", ["--revs", "--stdout", "-q"], input: middle)
      try receiver.git("index-pack", "--stdin", input: first)
    }
    let before = try receiver.packs
    try receiver.git("index-pack", "--stdin", "--fix-thin", "--strict", input: pack)
    let theirs = try #require(receiver.packs.subtracting(before).first)

    for kept in [PackLimits.standard.keptBytes, 0, 3000] {
      let folder = try TemporaryFolder()
      var limits = PackLimits()
      limits.keptBytes = kept
      let received = try ReceivedPack(in: folder.path, for: receiver.repository, limits: limits)
      var rest = pack[...]
      while !rest.isEmpty {
        let piece = Array(rest.prefix(Int.random(in: 1...5000, using: &random)))
        try piece.withUnsafeBytes { try received.append($0) }
        rest = rest.dropFirst(piece.count)
      }
      let finished = try received.finish()
      try receiver.git("verify-pack", finished.path + ".idx")
      if writing.isThin {
        // The bases that git adds stand in another order.
        #expect(try receiver.objects(in: finished.path) == receiver.objects(in: theirs))
      } else {
        let path = receiver.folder.path + "/" + theirs
        #expect(
          try readFile(finished.path + ".idx") == readFile(path + ".idx"))
      }
    }
  }

  // notes-protocol(7), PACKS: "or the receiver has it".
  @Test func `a base that the pack lacks is added`() throws {
    let receiver = try PackRepository()
    _ = try receiver.commit(["a.txt": "kept\n"])
    let old = Array("kept\n".utf8)
    var pack = HandmadePack()
    let new = Array("kept\nmore\n".utf8)
    try pack.add(
      .blob, PackDelta.blob(from: old, to: new), type: 7,
      between: HandmadePack.id(.blob, old).bytes)
    // "a delta's base stands before it": here by its ID.
    let newest = Array("kept\nmore\nand more\n".utf8)
    try pack.add(
      .blob, PackDelta.blob(from: new, to: newest), type: 7,
      between: HandmadePack.id(.blob, new).bytes)
    let head = try pack.addCommit(named: [
      HandmadePack.id(.blob, new), HandmadePack.id(.blob, newest),
    ])
    #expect(try receiver.receive(pack.bytes(), promised: [head]) == 1)
    #expect(try receiver.repository.blob(HandmadePack.id(.blob, newest)) == newest)
    try receiver.git("update-ref", "refs/heads/main", head.hex)
    try receiver.git("fsck", "--strict", "--no-dangling")
    let name = try #require(receiver.packs.first)
    #expect(try receiver.objects(in: name).count == 5)
  }

  @Test func `a delta before its base is refused`() throws {
    let receiver = try PackRepository()
    let (old, new) = (Array("one\n".utf8), Array("one\ntwo\n".utf8))
    let newest = Array("one\ntwo\nthree\n".utf8)
    var pack = HandmadePack()
    let wanted = HandmadePack.id(.blob, new)
    try pack.add(.blob, PackDelta.blob(from: new, to: newest), type: 7, between: wanted.bytes)
    let base = HandmadePack.id(.blob, old)
    try pack.add(.blob, PackDelta.blob(from: old, to: new), type: 7, between: base.bytes)
    #expect(throws: PackError.baseMissing(wanted)) {
      try receiver.receive(pack.bytes(), promised: [])
    }
  }

  // notes-protocol(7), LIMITS: "bytes that a pack unpacks to".
  @Test func `what is unpacked again counts`() throws {
    let receiver = try PackRepository()
    var pack = HandmadePack()
    let text = [UInt8](repeating: UInt8(ascii: "a"), count: 1000)
    var (content, unpacked) = (text, 0)
    // Two deltas apply to each object, and both are bases of others.
    for number in 0..<100 {
      for side in ["l", "r"] {
        let next = text + Array("\(number)\(side)\n".utf8)
        let base = HandmadePack.id(.blob, content)
        if number == 0, side == "l" {
          try pack.add(.blob, content)
          unpacked += content.count
        }
        let delta = PackDelta.blob(from: content, to: next)
        try pack.add(.blob, delta, type: 7, between: base.bytes)
        unpacked += delta.count + next.count
        let leaf = next + Array("leaf\n".utf8)
        let small = PackDelta.blob(from: next, to: leaf)
        try pack.add(.blob, small, type: 7, between: HandmadePack.id(.blob, next).bytes)
        unpacked += small.count + leaf.count
        if side == "r" { content = next }
      }
    }
    let folder = try TemporaryFolder()
    func receive(keeping kept: Int, _ name: String) throws {
      var limits = PackLimits()
      (limits.keptBytes, limits.unpackedBytes) = (kept, unpacked)
      let path = folder.path + "/" + name
      try makeFolder(path)
      let received = try ReceivedPack(in: path, for: receiver.repository, limits: limits)
      try pack.bytes().withUnsafeBytes { try received.append($0) }
      _ = try received.finish()
    }
    try receive(keeping: .max, "much")
    #expect(throws: PackError.costly("bytes that a pack unpacks to", limit: unpacked)) {
      try receive(keeping: 0, "nothing")
    }
  }

  private enum Marker { case none, first, afterMany, late, delta }

  /// A commit of texts of 5 kB, which are deltas of one as the versions of a large folder are, and one that may
  /// raise the limit.
  private func marked(
    _ letter: String, of count: Int, _ marker: Marker = .none
  ) throws -> (pack: HandmadePack, head: ObjectID) {
    var pack = HandmadePack()
    let author = "author marker <\(letter)@example.org> 1700000000 +0000"
    var marks: [ObjectID] = []
    func mark(_ number: Int = 0) throws {
      marks.append(
        try pack.addCommit(
          HandmadePack.id(.tree, []), author: author.replacing("00 +", with: "\(10 + number) +")))
    }
    switch marker {
    case .first: try mark()
    case .afterMany: for number in 0...UnpackingGrant.mostCandidates { try mark(number) }
    case .delta:
      let plain = Array("tree \(HandmadePack.id(.tree, []))\nauthor A <a@b> 1 +0000\n".utf8)
      let end = Array("committer A <a@b> 1 +0000\n\nm\n".utf8)
      let base = try pack.add(.commit, plain + end)
      let delta = PackDelta.blob(from: plain + end, to: plain + end + Array("marker".utf8))
      try pack.add(.commit, delta, type: 7, between: base.bytes)
      marks = [base, HandmadePack.id(.commit, plain + end + Array("marker".utf8))]
    case .none, .late: break
    }
    let text = [UInt8](repeating: UInt8(ascii: "a"), count: 5_000) + Array(letter.utf8)
    let base = try pack.add(.blob, text)
    var names = [base]
    for number in 0..<count {
      let next = text + Array("\(number)".utf8)
      try pack.add(.blob, PackDelta.blob(from: text, to: next), type: 7, between: base.bytes)
      names.append(HandmadePack.id(.blob, next))
    }
    if marker == .late { try mark() }
    if marker != .none { try pack.addTree([]) }
    let tree = try pack.addTree(
      zip(UInt8(ascii: "a")..., names).map { ("100644", [$0], $1) })
    let head = try pack.addCommit(tree, parents: marks)
    return (pack, head)
  }

  /// notes-protocol(7), LIMITS: "Before the pack exceeded the limit, a version in it arrived, not as a delta".
  @Test("A pack may unpack to more only by a version that arrived in it, whatever the receiver has")
  func grants() throws {
    let receiver = try PackRepository()
    var limits = PackLimits()
    (limits.unpackedBytesOfAny, limits.unpackedBytesPerByte) = (60_000, 0)
    (limits.unpackedBytesOfForgetting, limits.unpackedBytesPerOwn) = (250_000, 0)
    var asked: [Int] = []
    func receive(
      _ made: (pack: HandmadePack, head: ObjectID), where isGiven: @escaping () -> Bool = { true }
    ) throws {
      asked = []
      let grant = UnpackingGrant(isCandidate: { $0.firstRange(of: Array("marker".utf8)) != nil }) {
        asked.append($0.count)
        return isGiven()
      }
      let quarantine = try receiver.repository.quarantine(limits: limits, grant)
      try quarantine.append(made.pack.bytes())
      try quarantine.join(promised: [made.head])
      receiver.repository.forgetObjects()
    }
    func refusal(_ limit: Int = 60_000) -> PackError {
      .costly("bytes that a pack unpacks to", limit: limit)
    }
    try receive(marked("a", of: 20, .first))
    #expect(asked == [1])
    try receive(marked("b", of: 20, .afterMany))
    #expect(asked == [UnpackingGrant.mostCandidates])
    // The receiver's packs unpack to 200 kB now, which allows nothing.
    for marker in [Marker.none, .late, .delta] {
      #expect(throws: refusal()) { try receive(marked("c", of: 20, marker)) }
      #expect(asked == [], "\(marker)")
    }
    #expect(throws: refusal()) { try receive(marked("c", of: 20, .first), where: { false }) }
    #expect(asked == [1])
    #expect(throws: refusal(250_000)) { try receive(marked("c", of: 60, .first)) }
    #expect(asked == [1])
    // "to four times what the receiver's own packs unpack to, if that is more"
    limits.unpackedBytesOfForgetting = 100_000
    #expect(throws: refusal(100_000)) { try receive(marked("e", of: 20, .first)) }
    limits.unpackedBytesPerOwn = 4
    #expect(throws: refusal()) { try receive(marked("e", of: 20, .none)) }
    try receive(marked("e", of: 20, .first))
    #expect(asked == [1])
    // A pack that needs no more is not asked for anything.
    try receive(marked("d", of: 2, .first))
    #expect(asked == [])
  }

  /// notes-protocol(7), LIMITS: "The check of the trees unpacks them once more, in the order of the
  /// versions, and keeps as much".
  @Test func `the check unpacks each tree once, and counts what it unpacks again`() throws {
    let receiver = try PackRepository()
    var pack = HandmadePack()
    let blobs = [try pack.add(.blob, [0x61]), try pack.add(.blob, [0x62])]
    // A folder of 200 files, of which each version changes one.
    var entries: [(mode: String, name: [UInt8], id: ObjectID)] = (100..<300).map {
      ("100644", Array("\($0)".utf8), blobs[0])
    }
    var content = HandmadePack.treeContent(entries)
    var trees = [try pack.add(.tree, content)]
    for number in 0..<40 {
      entries[number * 5].id = blobs[1]
      let next = HandmadePack.treeContent(entries)
      let delta = try #require(PackDelta.tree(from: content, to: next))
      try pack.add(.tree, delta, type: 7, between: trees[number].bytes)
      trees.append(HandmadePack.id(.tree, next))
      content = next
    }
    /// The bytes that the check of versions with these trees, one on another, unpacks.
    func unpacked(_ trees: [ObjectID], keeping kept: Int, _ pack: HandmadePack) throws -> Int {
      var (pack, heads) = (pack, [ObjectID]())
      let start = pack.body.count
      for tree in trees { heads = [try pack.addCommit(tree, parents: heads)] }
      #expect(pack.body.count > start)
      let folder = try TemporaryFolder()
      var limits = PackLimits()
      limits.keptBytes = kept
      let received = try ReceivedPack(in: folder.path, for: receiver.repository, limits: limits)
      try pack.bytes().withUnsafeBytes { try received.append($0) }
      let objects = try received.finish()
      let before = objects.unpackedBytes
      var check = QuarantineCheck(of: objects, for: receiver.repository, limits: limits)
      #expect(try check.run(promised: heads).count == trees.count)
      return objects.unpackedBytes - before
    }
    let once = try unpacked(trees, keeping: 128 << 20, pack)
    // 41 trees, and commits of less than 300 bytes.
    #expect((41 * content.count...41 * (content.count + 300)).contains(once))
    // In whatever order the versions name them, as long as they can be kept.
    #expect(try unpacked(trees.reversed(), keeping: 128 << 20, pack) == once)
    let again = try unpacked(trees.reversed(), keeping: 0, pack)
    #expect(again > 10 * once)
    print("a check of 41 trees of \(content.count) bytes unpacks \(once) bytes, at worst \(again)")
  }
}

extension PackRepository {
  /// What git writes that is no text.
  fileprivate func bytes(of command: String, _ arguments: [String], input: String) throws -> [UInt8]
  {
    let result = try run(
      ["git", command] + arguments, in: folder.path,
      environment: TestEnvironment.isolated(home: folder.path), input: Array((input + "\n").utf8))
    guard result.isSuccess else { throw GitFailure(description: "\(result)") }
    return result.output
  }

  /// The packs there are, as paths without `.pack`.
  fileprivate var packs: Set<String> {
    get throws {
      Set(
        try run(["find", ".git/objects/pack", "-name", "*.pack"], in: folder.path).lines
          .map { String($0.dropLast(5)) })
    }
  }

  /// The objects of a pack by git's reading of its index.
  fileprivate func objects(in pack: String) throws -> [String] {
    let path = pack.hasPrefix("/") ? pack : folder.path + "/" + pack
    return try git("show-index", input: readFile(path + ".idx"))
      .split(separator: "\n").map { String($0.split(separator: " ")[1]) }
  }
}
