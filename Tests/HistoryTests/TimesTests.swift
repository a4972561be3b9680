import Git
import Glibc
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Merge
@testable import Notebook

/// notes-merge(7), "Times", and notes-versions(7), "Order".
@Suite struct TimesTests {
  private static let morning: Int64 = 1_700_000_000
  private static let hour: Int64 = 3_600
  // No later than files can be dated.
  private static let year2035: Int64 = 2_051_222_400

  private func times(_ home: Fixture, _ version: ObjectID?) throws -> [Int64] {
    let commit = try home.notebook.repository.commit(#require(version))
    return [commit.author.time, commit.committer.time]
  }

  @Test func `The author's time is the latest of the files' whose content is taken`() throws {
    let home = try Fixture()
    home.seconds.now = Self.morning + 12 * Self.hour
    try home.write("a.txt", "one\n", at: Self.morning)
    try home.write("b.txt", "one\n", at: Self.morning + Self.hour)
    #expect(
      try times(home, home.notebook.save().version) == [
        Self.morning + Self.hour, home.seconds.now,
      ])
    // Never after now.
    try home.write("a.txt", "two\n", at: home.seconds.now + 5)
    #expect(
      try times(home, home.notebook.save().version) == [home.seconds.now, home.seconds.now])
    // Many files are read in another way.
    for number in 0..<150 { try home.write("many/\(number).txt", "\(number)\n", at: 7) }
    try home.write("many/149.txt", "last\n", at: 8)
    #expect(try times(home, home.notebook.save().version) == [8, home.seconds.now])
  }

  @Test func `A file that is moved, deleted or made executable is not written`() throws {
    let home = try Fixture()
    try home.write("a.txt", "one\n", at: 5)
    try home.write("b.txt", "two\n", at: 6)
    #expect(try times(home, home.notebook.save().version) == [6, home.seconds.now])
    for change in [
      { rename(home.path + "/a.txt", home.path + "/c.txt") }, { unlink(home.path + "/b.txt") },
      { chmod(home.path + "/c.txt", 0o755) },
    ] {
      home.seconds.now += 60
      #expect(change() == 0)
      #expect(
        try times(home, home.notebook.save().version) == [home.seconds.now, home.seconds.now])
    }
  }

  @Test func `The zone is that of the time at which it was written`() throws {
    let home = try Fixture()
    home.notebook.clock.offset = { $0 < Self.morning ? 120 : 60 }
    try home.write("a.txt", "one\n", at: Self.morning - 5)
    let commit = try home.notebook.repository.commit(#require(try home.notebook.save().version))
    #expect(commit.author.offset == 120 && commit.committer.offset == 60)
  }

  @Test func `A clock that stood elsewhere dates its own versions alone`() throws {
    for wrong in [0, Self.year2035] {
      let home = try Fixture()
      var versions: [ObjectID] = []
      for (number, time) in [Self.morning, wrong, wrong, Self.morning + Self.hour].enumerated() {
        home.seconds.now = time
        try home.write("a.txt", "\(number)\n", at: time)
        versions.append(try #require(try home.notebook.save().version))
        #expect(try times(home, versions.last) == [time, time])
      }
      home.seconds.now = Self.morning + 2 * Self.hour
      let history = home.notebook.history
      // The latest version is found by now, and the one before the clock went wrong by then.
      #expect(try history.version(named: "now").id == versions[3])
      #expect(try history.version(named: "now", of: "a.txt").id == versions[3])
      #expect(
        try history.pastTip(at: Self.morning + Self.hour, named: "then").id == versions[3])
      let modified = try #require(try history.times(of: ["a.txt"]).first ?? nil)
      #expect(modified.modified == Self.morning + Self.hour && modified.created == Self.morning)
      #expect(try ids(history.versions()) == versions.reversed())
    }
  }

  @Test func `A file with an old date is no older version of the notebook`() throws {
    let home = try Fixture()
    try home.write("a.txt", "1\n")
    let first = try #require(try home.notebook.save().version)
    home.seconds.now += 24 * Self.hour
    try home.write("a.txt", "2\n")
    let second = try #require(try home.notebook.save().version)
    home.seconds.now += 24 * Self.hour
    try home.write("old.txt", "from the archive\n", at: 1_000_000_000)
    let third = try #require(try home.notebook.save().version)
    let history = home.notebook.history
    #expect(try history.pastTip(at: Self.morning + Self.hour, named: "then").id == first)
    #expect(try history.pastTip(at: Self.morning + 25 * Self.hour, named: "then").id == second)
    #expect(try history.times(of: ["old.txt"])[0]?.created == 1_000_000_000)
    let day = (Self.morning + 47 * Self.hour)..<(Self.morning + 49 * Self.hour)
    #expect(try ids(history.versions(in: day)) == [third])
    #expect(try ids(history.versions(of: "a.txt", in: 0..<Self.morning + 1)) == [first])
  }

  @Test func `The side that was written last is the newer, whoever saved last`() throws {
    let ada = try Fixture(device: "Ada")
    try ada.write("Note.txt", "milk\n")
    _ = try ada.notebook.save()
    let ben = try ada.clone(device: "Ben")
    try ada.write("Note.txt", "oat milk\n", at: Self.morning + Self.hour)
    try ben.write("Note.txt", "soy milk\n", at: Self.morning + 2 * Self.hour)
    ben.seconds.now += 2 * Self.hour
    _ = try ben.notebook.save()
    ada.seconds.now += 3 * Self.hour
    _ = try ada.notebook.save()
    // Another note makes Ada's head the newer one.
    try ada.write("Other.txt", "x\n", at: ada.seconds.now)
    _ = try ada.notebook.save()
    try ada.receive(from: ben)
    let sides = try #require(try ada.notebook.history.conflicts().first).sides
    #expect(sides.map(\.name) == ["Ben", "Ada"])
    #expect(sides.map(\.time) == [Self.morning + 2 * Self.hour, Self.morning + Self.hour])
    #expect(try ada.notebook.resolve("Note.txt", keeping: .newer) != nil)
    #expect(try ada.read("Note.txt") == "soy milk\n")
  }

  // notes-versions(7): "Each version comes after all versions that are based on it"; "If several versions could
  // be next, the one with the latest date is"; "the fewest dates count as wrong without which they never do".
  @Test func `Any clocks: children come first, and dates never go back`() throws {
    let seed =
      TestEnvironment.variable("NOTES_TEST_SEED").flatMap { UInt64($0) }
      ?? UInt64.random(in: 0..<1 << 40)
    print("times: NOTES_TEST_SEED=\(seed)")
    var random = SplitMix64(seed: seed)
    for _ in 0..<200 {
      let (table, tip, commits) = try randomTable(&random)
      let order = VersionOrder(of: table, from: tip)
      var waiting: Set<Int> = [tip]
      var shown: Set<Int> = []
      for version in order.versions {
        let best = waiting.max { left, right in
          (table.orderingTime(of: left), table.id(of: left))
            < (table.orderingTime(of: right), table.id(of: right))
        }
        #expect(version == best, "seed \(seed)")
        waiting.remove(version)
        shown.insert(version)
        for parent in commits[version]
        where commits.indices.allSatisfy({ child in
          shown.contains(child) || !commits[child].contains(parent)
        }) { waiting.insert(parent) }
      }
      #expect(order.versions.count == tip + 1, "seed \(seed)")
      let now: Int64 = 80
      let dates = order.dates(in: table, now: now)
      let told = order.versions.map { dates[$0] }
      #expect(zip(told, told.dropFirst()).allSatisfy { $0 >= $1 }, "seed \(seed)")
      #expect(told.allSatisfy { $0 <= now }, "seed \(seed)")
      let own = order.versions.reversed().map { table.orderingTime(of: $0) }.filter { $0 <= now }
      let kept = order.versions.filter { dates[$0] == table.orderingTime(of: $0) }.count
      #expect(kept >= Self.longestAscent(own), "seed \(seed)")
    }
  }

  /// A history in which every version but the last has a child, and what parents each has.
  private func randomTable(
    _ random: inout SplitMix64
  ) throws -> (table: HistoryTable, tip: Int, parents: [[Int]]) {
    var builder = HistoryTableBuilder(extending: HistoryTable())
    var commits: [(id: ObjectID, parents: [Int])] = []
    let count = Int.random(in: 1..<12, using: &random)
    for number in 0..<count {
      var parents = Set((0..<number).filter { _ in Int.random(in: 0..<4, using: &random) == 0 })
      if number == count - 1 {
        // All that nothing was made on yet.
        parents = Set(0..<number).subtracting(commits.flatMap(\.parents))
      }
      let person = Signature(
        name: "P", email: "p@example.org", time: Int64.random(in: 0..<100, using: &random),
        offset: 0)
      var bytes = [UInt8](repeating: 0, count: ObjectID.byteCount)
      bytes[0] = UInt8.random(in: 0...255, using: &random)
      bytes[1] = UInt8(number)
      let commit = Commit(
        id: try #require(ObjectID(bytes: bytes)), tree: .emptyTree,
        parents: parents.sorted().map { commits[$0].id }, author: person, committer: person,
        message: "")
      builder.add(commit, changes: [], moves: [])
      commits.append((commit.id, parents.sorted()))
    }
    return (builder.table, count - 1, commits.map(\.parents))
  }

  /// By trying all ways: for each position the longest ascent that ends there.
  private static func longestAscent(_ times: [Int64]) -> Int {
    var best: [Int] = []
    for (position, time) in times.enumerated() {
      best.append(
        (0..<position).filter { times[$0] <= time }.map { best[$0] }.max().map { $0 + 1 } ?? 1)
    }
    return best.max() ?? 0
  }

  private func ids(_ walk: VersionWalk) throws -> [ObjectID] {
    var found: [ObjectID] = []
    while let version = try walk.next() { found.append(version.commit.id) }
    return found
  }
}
