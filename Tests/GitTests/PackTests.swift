import System
import TestSupport
import Testing

@testable import Git

// notes-protocol(7), PACKS: "A pack is git's (gitformat-pack(5), version 2). It is thin".
@Suite struct PackTests {
  @Test func `git indexes a whole history and finds nothing wrong`() throws {
    let sender = try PackRepository()
    var tip: [ObjectID] = []
    for number in 0..<60 {
      var files: [String: String] = [:]
      for note in 0..<30 {
        files["folder \(note % 3)/note \(note).txt"] =
          String(repeating: "line of note \(note)\n", count: 20)
          + (note == number % 30 ? "edit \(number)\n" : "")
      }
      // A note that grows with every version makes the longest chains.
      files["journal.txt"] =
        String(repeating: "an old day\n", count: 50) + (0...number).map { "day \($0)\n" }.joined()
      tip = [try sender.commit(files, parents: tip, time: Int64(number))]
    }
    let pack = try sender.pack(wants: tip)
    let receiver = try PackRepository()
    try receiver.git("index-pack", "--stdin", "--strict", "--fsck-objects", input: pack)
    try receiver.git("update-ref", "refs/heads/main", tip[0].hex)
    try receiver.git("fsck", "--strict", "--no-dangling")
    let here = try sender.git("rev-list", "--objects", "--no-object-names", tip[0].hex)
    let there = try receiver.git("rev-list", "--objects", "--no-object-names", "main")
    #expect(Set(here.split(separator: "\n")) == Set(there.split(separator: "\n")))
    // "in chains of at most 50"
    let chains = try receiver.git("verify-pack", "-v", packIndex(of: receiver))
    let depths = chains.split(separator: "\n").compactMap { line -> Int? in
      let fields = line.split(separator: " ")
      return fields.count == 7 ? Int(fields[5]) : nil
    }
    #expect(depths.max() ?? 0 <= 50)
    #expect((depths.max() ?? 0) > 10)
  }

  private func packIndex(of receiver: PackRepository) throws -> String {
    try run(["find", ".git/objects/pack", "-name", "*.idx"], in: receiver.folder.path).lines[0]
  }

  // A side that waits hears something every 10 s (notes-protocol(7), "Time-outs"), however slowly a film is
  // compressed.
  @Test func `an object that is larger than a piece is compressed in several`() throws {
    let sender = try PackRepository()
    var random = SplitMix64(seed: 5)
    let words = (0..<100_000).map { _ in random.next() }
    let film = try sender.repository.write(blob: words.withUnsafeBytes { Array($0) })
    let tree = try sender.repository.write(
      tree: nil,
      replacing: [
        TreePath("film.mp4"): TreeEntry(name: TreePath("film.mp4").name, mode: .regular, id: film)
      ])
    let tip = try sender.repository.write(
      commit: tree, parents: [], author: PackRepository.author, committer: PackRepository.author,
      message: "m\n")
    let writer = try sender.repository.pack(wants: [tip], haves: [])
    var pieces: [[UInt8]] = []
    while let piece = try writer.next() { pieces.append(piece) }
    #expect(pieces.count > 4)
    #expect(pieces.map(\.count).max() ?? 0 < 300_000)
    let receiver = try PackRepository()
    try receiver.git("index-pack", "--stdin", "--strict", input: Array(pieces.joined()))
    #expect(try receiver.git("cat-file", "-s", film.hex) == "800000\n")
  }

  // notes-protocol(7), "pack": "the size of the objects together, before compression".
  @Test func `both sides count the same bytes of objects, however the pack is cut`() throws {
    let sender = try PackRepository()
    let long = (0..<400).map { "line \($0)\n" }.joined()
    let base = try sender.commit(["a.txt": long, "b.txt": "b\n"])
    let tip = try sender.commit(
      ["a.txt": long + "more\n", "b.txt": "b\n"], parents: [base], time: 1)
    let writer = try sender.repository.pack(wants: [tip], haves: [])
    let all = try writer.contentBytes()
    var pack: [UInt8] = []
    while let piece = try writer.next() { pack += piece }
    #expect(writer.contentWritten == all && all > 2 * long.utf8.count)
    let receiver = try PackRepository()
    for size in [1, 7, 100, pack.count] {
      let quarantine = try receiver.repository.quarantine()
      var (rest, seen) = (pack[...], 0)
      while !rest.isEmpty {
        try quarantine.append(Array(rest.prefix(size)))
        #expect((seen...all).contains(quarantine.contentBytes))
        seen = quarantine.contentBytes
        rest = rest.dropFirst(size)
      }
      #expect(seen == all)
    }
  }

  @Test func `one edit among many notes costs little`() throws {
    let sender = try PackRepository()
    var files: [String: String] = [:]
    for note in 0..<2000 { files["note \(note).txt"] = "text \(note)\n" }
    let base = try sender.commit(files)
    files["note 77.txt"] = "text 77, edited\n"
    let tip = try sender.commit(files, parents: [base], time: 1)
    let pack = try sender.pack(wants: [tip], haves: [base])
    #expect(pack.count < 600)

    let receiver = try PackRepository()
    try receiver.receive(try sender.pack(wants: [base]), promised: [base])
    #expect(try receiver.receive(pack, promised: [tip]) == 1)
    #expect(try receiver.repository.commit(tip).parents == [base])
    try receiver.git("update-ref", "refs/heads/main", tip.hex)
    try receiver.git("fsck", "--strict", "--no-dangling")
  }

  @Test(arguments: [false, true])
  func `random histories arrive whole, whatever the receiver has`(copies: Bool) throws {
    var random = SplitMix64.reported(for: "packs")
    let sender = try PackRepository()
    var commits: [(id: ObjectID, files: [String: String])] = []
    for number in 0..<40 {
      let first = commits.randomElement(using: &random)
      var files = first?.files ?? [:]
      var parents = first.map { [$0.id] } ?? []
      if let second = commits.randomElement(using: &random), second.id != first?.id,
        Bool.random(using: &random)
      {
        parents.append(second.id)
        files.merge(second.files) { mine, theirs in Bool.random(using: &random) ? mine : theirs }
      }
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        let folder = ["", "a/", "a/b/", "a.txt/", "z/"].randomElement(using: &random) ?? ""
        let path = "\(folder)n\(Int.random(in: 0..<6, using: &random)).txt"
        files[path] =
          Bool.random(using: &random)
          ? nil
          : String(
            repeating: "\(Int.random(in: 0..<3, using: &random))\n",
            count: Int.random(in: 0..<50, using: &random))
      }
      commits.append((try sender.commit(files, parents: parents, time: Int64(number)), files))
    }
    let receiver = try PackRepository()
    var known: [ObjectID] = []
    for turn in 0..<25 {
      guard let want = commits.randomElement(using: &random)?.id else { continue }
      if copies {
        // A pack of git's more, and at times one of all.
        try sender.git("update-ref", "refs/heads/\(turn)", want.hex)
        try sender.git("repack", "-d", "--quiet", Bool.random(using: &random) ? "-a" : "-l")
        sender.repository.close()
      }
      let haves = known.filter { _ in Bool.random(using: &random) }
      let pack = try sender.pack(wants: [want], haves: haves, copies: copies)
      try receiver.receive(
        pack, promised: [want], pieces: Int.random(in: 1...2000, using: &random))
      known.append(want)
      try receiver.git("update-ref", "refs/heads/\(known.count)", want.hex)
      #expect(try receiver.leftovers.isEmpty)
    }
    try receiver.git("fsck", "--strict", "--no-dangling")
  }

  @Test func `an edit that was taken back arrives`() throws {
    let sender = try PackRepository()
    var tip: [ObjectID] = []
    for number in 0..<8 {
      let files = ["kept.txt": "kept\n", "note.txt": number % 2 == 0 ? "one\n" : "two\n"]
      tip = [try sender.commit(files, parents: tip, time: Int64(number))]
    }
    let receiver = try PackRepository()
    #expect(try receiver.receive(sender.pack(wants: tip), promised: tip) == 8)
  }

  @Test func `an edit of what the receiver has arrives with its being taken back`() throws {
    let sender = try PackRepository()
    let text = (0..<50).map { "line \($0)\n" }.joined()
    var commits: [ObjectID] = []
    for number in 0..<5 {
      let files = ["kept.txt": "kept\n", "note.txt": number % 2 == 0 ? text : text + "more\n"]
      commits.append(
        try sender.commit(files, parents: Array(commits.suffix(1)), time: Int64(number)))
    }
    let receiver = try PackRepository()
    try receiver.receive(sender.pack(wants: [commits[0]]), promised: [commits[0]])
    let pack = try sender.pack(wants: [commits[4]], haves: [commits[0]])
    #expect(try receiver.receive(pack, promised: [commits[4]]) == 4)
  }

  @Test func `nothing to send is an empty pack`() throws {
    let sender = try PackRepository()
    let tip = try sender.commit(["a.txt": "a\n"])
    let writer = try sender.repository.pack(wants: [tip], haves: [tip])
    #expect(writer.objectCount == 0)
    let receiver = try PackRepository()
    #expect(try receiver.receive(sender.pack(wants: [tip], haves: [tip]), promised: []) == 0)
    #expect(throws: PackError.headMissing(tip)) {
      try receiver.receive(sender.pack(wants: [tip], haves: [tip]), promised: [tip])
    }
  }

  @Test(arguments: [0, 1, 55, 56, 63, 64, 65, 119, 1000])
  func `the checksum is SHA-1`(count: Int) throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
    let checksum = try SHA1()
    var rest = bytes[...]
    while !rest.isEmpty {
      checksum.update(Array(rest.prefix(37)))
      rest = rest.dropFirst(37)
    }
    let expected = try run(["sha1sum"], input: bytes).text.prefix(40)
    #expect(try String(hexadecimal: checksum.finish()) == expected)
  }
}
