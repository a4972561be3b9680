import Git
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Notebook

@Suite("The table of the history")
struct HistoryTableTests {
  /// Where the seeds begin: `NOTES_TEST_SEED`, or somewhere else in every run.
  private static let firstSeed: UInt64 = {
    let seed =
      TestEnvironment.variable("NOTES_TEST_SEED").flatMap { UInt64($0) }
      ?? UInt64.random(in: 0..<1 << 40)
    print("history table: NOTES_TEST_SEED=\(seed)")
    return seed
  }()

  /// A random history of two devices that exchange now and then, with renames, deletions and notes
  /// that come back.
  private func randomHistory(seed: UInt64) throws -> Fixture {
    var random = SplitMix64(seed: seed)
    let home = try Fixture()
    let away = try Fixture(device: "Bo")
    for round in 0..<30 {
      let device = Bool.random(using: &random) ? home : away
      device.seconds.now += Int64.random(in: 0..<3, using: &random)
      let name = "note \(Int.random(in: 0..<5, using: &random)).txt"
      let other = "folder/note \(Int.random(in: 0..<5, using: &random)).txt"
      let text = try device.read(name)
      switch Int.random(in: 0..<10, using: &random) {
      case 0 where text != nil: try device.remove(name)
      case 1 where text != nil:
        try device.remove(name)
        try device.write(other, text ?? "")
      default:
        try device.write(name, (text ?? "one\ntwo\nthree\nfour\n") + "line \(round)\n")
      }
      _ = try device.notebook.save()
      if Int.random(in: 0..<4, using: &random) == 0 {
        if Bool.random(using: &random) {
          try home.receive(from: away)
        } else {
          try away.receive(from: home)
        }
      }
    }
    try home.receive(from: away)
    return home
  }

  private func ids(_ walk: VersionWalk) throws -> [ObjectID] {
    var found: [ObjectID] = []
    while let version = try walk.next() { found.append(version.commit.id) }
    return found
  }

  @Test("a note's versions are the same with a table and without, and come newest first")
  func streamAndTable() throws {
    let base = Self.firstSeed
    for seed in base..<(base + 8) {
      let home = try randomHistory(seed: seed)
      let notebook = home.notebook
      let tip = try #require(try notebook.repository.head().commit)
      for path in try notebook.history.files().map(\.path) {
        let told = try ids(notebook.history.versions(of: path, includingDerived: true))
        let read = try ids(
          VersionWalk(notebook.history, from: tip, of: path, in: nil, includesDerived: true))
        #expect(Set(told) == Set(read), "\(path), seed \(seed)")
        for (position, id) in told.enumerated() {
          for later in told[position...].dropFirst() {
            #expect(try !notebook.repository.isAncestor(id, of: later), "\(path), seed \(seed)")
          }
        }
        #expect(!told.isEmpty)
      }
    }
  }

  // notes-versions(7): "~0 is always the note as the last version has it".
  @Test("the last version of a note has the note's text, whatever was merged")
  func lastVersion() throws {
    let base = Self.firstSeed
    for seed in base..<(base + 8) {
      let home = try randomHistory(seed: seed)
      let history = home.notebook.history
      let tip = try #require(try home.notebook.repository.head().commit)
      let head = try home.notebook.repository.commit(tip)
      for path in try history.files().map(\.path) {
        let last = try history.noteVersion(named: "~0", of: path)
        #expect(
          try history.text(of: last) == history.text(of: path, at: head), "\(path), seed \(seed)")
      }
    }
  }

  @Test("a deletion that a merge did not take leaves the versions before it, and is one")
  func keptDeletion() throws {
    let home = try Fixture()
    try home.write("n.txt", "one\n")
    _ = try home.notebook.save()
    let away = try home.clone(device: "Bob")
    try away.write("n.txt", "one\ntwo\n")
    _ = try away.notebook.save()
    home.seconds.now += 100
    try home.remove("n.txt")
    _ = try home.notebook.save()
    try home.receive(from: away)
    #expect(try home.read("n.txt") == "one\ntwo\n")
    let history = home.notebook.history
    func text(_ name: String) throws -> String {
      String(
        decoding: try history.text(of: history.noteVersion(named: name, of: "n.txt")), as: UTF8.self
      )
    }
    #expect(try text("~0") == "one\ntwo\n")
    #expect(throws: HistoryError.self) { try text("~1") }
    #expect(try text("~2") == "one\ntwo\n")
    #expect(try text("~3") == "one\n")
    do {
      Issue.record("~4 is \(try text("~4"))")
    } catch HistoryError.tooFewVersions(_, let count) {
      #expect(count == 4)
    }
  }

  // notes-list(1), "Note IDs": an ID is the same on every device.
  @Test("a file's times and ID are alike on every device, and whatever else is asked for")
  func timesOfEach() throws {
    let base = Self.firstSeed
    for seed in base..<(base + 8) {
      let home = try randomHistory(seed: seed)
      let away = try Fixture(device: "Cy")
      try away.receive(from: home)
      let files = try home.notebook.history.files()
      let others = try away.notebook.history.files()
      #expect(files.map(\.path) == others.map(\.path), "seed \(seed)")
      for (file, other) in zip(files, others) {
        #expect(!file.id.isEmpty && file.id == other.id, "\(file.path), seed \(seed)")
        #expect(
          file.modified == other.modified && file.lastVersion == other.lastVersion,
          "\(file.path), seed \(seed)")
        let alone = try #require(try home.notebook.history.times(of: [file.path]).first ?? nil)
        #expect(try home.notebook.history.noteID(alone) == file.id, "\(file.path), seed \(seed)")
        #expect(alone.lastVersion == file.lastVersion, "\(file.path), seed \(seed)")
      }
    }
  }

  // notes-list(1), "Note IDs": a name that was given to another note by a rename leads to that one.
  @Test("a note under a name that another had before is a note of its own, also when that is gone")
  func reusedName() throws {
    let home = try Fixture()
    func save() throws {
      home.seconds.now += 10
      _ = try home.notebook.save()
    }
    try home.write("Plan.txt", "one\ntwo\nthree\n")
    try save()
    let first = try #require(try home.notebook.history.files().first?.id)
    try home.remove("Plan.txt")
    try home.write("Trip.txt", "one\ntwo\nthree\n")
    try save()
    try home.write("Plan.txt", "something else entirely\n")
    try save()
    let both = try home.notebook.history.files().map(\.id)
    #expect(both.count == 2 && both[0] != first && both[1] == first)
    try home.remove("Trip.txt")
    try save()
    #expect(try home.notebook.history.files().map(\.id) == [both[0]])
    #expect(try home.notebook.history.deletedFiles().map(\.id) == [first])
  }

  @Test("the folder's files come by path: changed, new and deleted ones too")
  func filesOfTheFolder() throws {
    let seed = Self.firstSeed
    let home = try randomHistory(seed: seed)
    var random = SplitMix64(seed: seed)
    let history = home.notebook.history
    var expected = Set(try history.files().map(\.path.description))
    for file in expected.sorted() {
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        try home.remove(file)
        expected.remove(file)
      case 1: try home.write(file, "changed, and longer than it was before \(seed)\n")
      case 2:
        try home.write(file + " new.txt", "new\n")
        expected.insert(file + " new.txt")
      default: break
      }
    }
    let files = try history.files()
    #expect(files.map(\.path) == expected.map { TreePath($0) }.sorted(), "seed \(seed)")
    for file in files {
      #expect(try home.read(file.path.description)?.utf8.count == file.size, "seed \(seed)")
    }
  }

  @Test("a cache extended step by step says what one made at once says")
  func stepByStep() throws {
    let home = try Fixture()
    for round in 0..<10 {
      home.seconds.now += 10
      try home.write("a.txt", "line \(round)\nmore\n")
      if round == 5 { try home.write("b.txt", "other\n") }
      _ = try home.notebook.save()
      #expect(try ids(home.notebook.history.versions(of: "a.txt")).count == round + 1)
    }
    let step = try #require(try home.notebook.history.historyTable())
    try home.remove(".git/notes/cache/history")
    let once = try #require(try home.notebook.history.historyTable())
    #expect(step.table.serialized == once.table.serialized)
    #expect(
      try home.notebook.history.times(of: ["a.txt", "b.txt"])[1]?.created == 1_700_000_060)
  }

  @Test("damage of any kind makes the cache as good as none, and it is made again")
  func damage() throws {
    let seed = Self.firstSeed
    let home = try randomHistory(seed: seed)
    let table = try #require(try home.notebook.history.historyTable()).table
    let whole = table.serialized
    #expect(HistoryTable(parsing: whole) != nil)
    var random = SplitMix64(seed: seed)
    for _ in 0..<2_000 {
      var file = whole
      if Bool.random(using: &random) {
        file[Int.random(in: 0..<file.count, using: &random)] ^=
          1 << UInt8.random(in: 0..<8, using: &random)
      } else {
        file.removeLast(Int.random(in: 1...file.count, using: &random))
      }
      #expect(HistoryTable(parsing: file) == nil)
      guard file.count > 24 else { continue }
      // With a checksum that fits, nothing in it leads astray: whatever is accepted can be used.
      let sum = HistoryTable.checksum(of: file.dropLast(8))
      file.replaceSubrange(
        (file.count - 8)..., with: withUnsafeBytes(of: sum.littleEndian) { Array($0) })
      guard let forged = HistoryTable(parsing: file), forged.versions.count > 0 else {
        continue
      }
      let last = forged.versions.count - 1
      let paths = forged.paths.indices.map { forged.path($0) }
      let order = VersionOrder(of: forged, from: last)
      for path in paths { _ = forged.trail(of: path, from: last, in: order) }
      _ = forged.lives(of: paths.sorted(), at: last, in: order)
      _ = order.dates(in: forged, now: 1_700_000_000)
      _ = forged.parents(among: [0, last / 2], from: last)
    }
    try home.write(".git/notes/cache/history", "notesHT5 nonsense")
    #expect(try home.notebook.history.historyTable()?.table == table)
    #expect(try home.read(".git/notes/cache/history") != nil)
  }

  @Test("a note that was renamed on one device and edited on another keeps all its versions")
  func renameAgainstEdit() throws {
    let home = try Fixture()
    try home.write("Plan.txt", "one\ntwo\nthree\nfour\nfive\n")
    let first = try #require(try home.notebook.save().version)
    let away = try home.clone(device: "Bo")
    home.seconds.now += 10
    away.seconds.now += 20
    try home.remove("Plan.txt")
    try home.write("Trip.txt", "one\ntwo\nthree\nfour\nfive\n")
    let renamed = try #require(try home.notebook.save().version)
    try away.write("Plan.txt", "one\ntwo\nthree\nfour\nfive\nsix\n")
    let edited = try #require(try away.notebook.save().version)
    try home.receive(from: away)
    #expect(try home.read("Trip.txt")?.hasSuffix("six\n") == true)
    #expect(try ids(home.notebook.history.versions(of: "Trip.txt")) == [edited, renamed, first])
    let times = try #require(try home.notebook.history.times(of: ["Trip.txt"]).first ?? nil)
    #expect(
      times.lastVersion == edited && times.firstVersion == first && times.firstPath == "Plan.txt")
  }

  @Test("a note renamed and edited in one version is followed while half of it is the same")
  func renamedAndEdited() throws {
    let home = try Fixture()
    try home.write("a.txt", "one\ntwo\nthree\nfour\n")
    let first = try #require(try home.notebook.save().version)
    home.seconds.now += 10
    try home.remove("a.txt")
    try home.write("b.txt", "one\ntwo\nthree\nchanged\n")
    let second = try #require(try home.notebook.save().version)
    #expect(try ids(home.notebook.history.versions(of: "b.txt")) == [second, first])
    // An older note that had the name before is another note.
    try home.write("a.txt", "something else entirely\n")
    home.seconds.now += 10
    let third = try #require(try home.notebook.save().version)
    #expect(try ids(home.notebook.history.versions(of: "b.txt")) == [second, first])
    #expect(try ids(home.notebook.history.versions(of: "a.txt")).first == third)
  }

  // notes-log(1), --graph: "a line goes to the next version before that changed the note".
  @Test("the graph of a note has its versions alone, each on the nearest before it")
  func graph() throws {
    let base = Self.firstSeed
    for seed in base..<(base + 4) {
      let home = try randomHistory(seed: seed)
      defer { withExtendedLifetime(home) {} }
      let notebook = home.notebook
      for path in try notebook.history.notes().map(\.path) {
        let chosen = Set(try ids(notebook.history.versions(of: path, includingDerived: true)))
        let parents = try notebook.history.parents(inHistoryOf: path)
        #expect(Set(parents.keys) == chosen, "seed \(seed)")
        for (version, found) in parents {
          // On the way back from each parent, the first chosen ones.
          var met: Set<ObjectID> = []
          var waiting = try notebook.repository.commit(version).parents
          while let next = waiting.popLast() {
            if chosen.contains(next) {
              met.insert(next)
            } else {
              waiting += try notebook.repository.commit(next).parents
            }
          }
          let nearest = try notebook.repository.heads(among: Array(met))
          #expect(Set(found) == nearest && found.count == nearest.count, "seed \(seed)")
        }
      }
    }
  }

  @Test("a long history is read once, while nobody waits")
  func longHistory() throws {
    let home = try randomHistory(seed: Self.firstSeed)
    let path = try #require(try home.notebook.history.notes().first?.path)
    // A save or a merge may have made the table, where it looked for a note that went.
    try home.remove(".git/notes/cache")
    let fresh = try Notebook.open(at: home.path)
    #expect(try fresh.history.historyTable(newVersions: 2) == nil)
    try fresh.history.rememberLongHistory(beyond: 2)
    let next = try Notebook.open(at: home.path)
    #expect(try next.history.historyTable(newVersions: 2) != nil)
    #expect(try !next.history.versions(of: path).lacksTable)
  }
}
