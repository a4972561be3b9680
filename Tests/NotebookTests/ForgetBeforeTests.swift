import Git
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Notebook

/// notes-forget(1), "The first version", in a notebook whose history no other device has.
@Suite("Forgetting older versions on one device")
struct ForgetBeforeTests {
  let home: Fixture
  /// After the note was renamed, and before it was edited again.
  private let day: Int64

  init() throws {
    home = try Fixture()
    // Only a version whose ID covers a signature can be the first one.
    let signature = "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n"
    home.notebook.signer = VersionSigner(
      load: { _ in { _ in Array(signature.utf8) } }, counts: { _, _, _ in true })
    try home.write("Plan.txt", "one\n")
    try home.write("Old.txt", "words that nobody wants\n")
    try home.write("Keep.txt", "a\nb\nc\n")
    home.seconds.now += 10
    _ = try home.notebook.save()
    try home.write("Keep.txt", "a\nb\nc\nstashed\n")
    _ = try home.git(["stash", "-q"])
    _ = try home.git(["branch", "former"])
    try home.write("Plan.txt", "one\ntwo\n")
    try home.write("Keep.txt", "A\nb\nc\n")
    home.seconds.now += 10
    _ = try home.notebook.save()
    try home.remove("Old.txt")
    home.seconds.now += 10
    _ = try home.notebook.save()
    _ = try home.notebook.rename("Plan.txt", to: "Plans.txt")
    day = home.seconds.now + 5
    home.seconds.now += 10
    try home.write("Plans.txt", "one\ntwo\nthree\n")
    _ = try home.notebook.save()
    home.seconds.now += 10
    _ = try home.notebook.undo()
  }

  private func forget(before time: Int64) throws -> Forgotten {
    home.seconds.now += 10
    return try home.notebook.forget(.before(time))
  }

  private func expectNone(
    before time: Int64, _ location: SourceLocation = #_sourceLocation
  ) throws {
    let earliest = #expect(throws: ForgetError.self, sourceLocation: location) {
      try home.notebook.forgetPlan(.before(time))
    }
    guard case .noFirstVersion(time, let next)? = earliest else {
      Issue.record("\(String(describing: earliest))", sourceLocation: location)
      return
    }
    #expect(next ?? time >= time, sourceLocation: location)
  }

  private func commits(_ format: String = "%s") throws -> [Substring] {
    try home.git(["log", "--format=" + format]).split(separator: "\n")
  }

  private func expectWhole() throws {
    #expect(try home.git(["fsck", "--strict", "--no-dangling"]).isEmpty)
    #expect(try home.git(["status", "--porcelain"]).isEmpty)
    #expect(try home.notebook.save().version == nil)
  }

  @Test("The last version before the time is the first one, and all later ones stay")
  func first() throws {
    let former = try commits("%an %ae %at %ct %T")
    let old = try home.git(["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"])
      .split(separator: "\n").map(String.init)
    let plan = try home.notebook.forgetPlan(.before(day))
    #expect(plan.versions == 3)
    #expect(plan.paths == ["Old.txt"])
    #expect(
      try plan.first?.version.hex == home.git(["rev-parse", "HEAD~2"]).filter { !$0.isNewline })
    let done = try forget(before: day)
    #expect(done.plan == plan && done.rewritten >= 3)
    // Three versions stay, with one on top that says so.
    #expect(
      try Array(commits("%an %ae %at %ct %T").dropFirst().prefix(3)) == Array(former.prefix(3)))
    // The others keep author, dates and place, and nothing else.
    #expect(
      try Array(commits("%an %ae %at %ct").dropFirst())
        == former.map { $0.prefix(upTo: $0.lastIndex(of: " ") ?? $0.endIndex) })
    let emptied = try home.git(["log", "--format=%s %T", "HEAD~4"]).split(separator: "\n")
    #expect(emptied.count == former.count - 3)
    #expect(Set(emptied) == ["Older version [forgotten] 4b825dc642cb6eb9a060e54bf8d69288fbee4904"])
    let left = Set(
      try home.git(["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"])
        .split(separator: "\n").map(String.init))
    // The list names the version that became the first one.
    let gone = old.filter { !left.contains($0) && $0 != plan.first?.version.hex }
    #expect(
      try Leftovers(in: home.path).places(of: "words that nobody wants", ids: gone) == [])
    #expect(try home.read("Plans.txt") == "one\ntwo\n")
    try expectWhole()
    // The log of a note begins there, and what was undone can be redone.
    #expect(
      try home.git(["log", "--format=%s", "--", "Plans.txt"]).split(separator: "\n").count == 3)
    _ = try home.notebook.redo()
    #expect(try home.read("Plans.txt") == "one\ntwo\nthree\n")
    try expectWhole()
  }

  @Test("Its message lists all files, if notes composed it from the changes")
  func message() throws {
    _ = try forget(before: day - 10)
    let first = try home.git(["log", "--format=%s", "--", "Plan.txt"]).split(separator: "\n").last
    #expect(first?.hasPrefix("Add ") == true)
    try expectWhole()
  }

  @Test("A stash and a branch from before are put on top of it")
  func others() throws {
    _ = try forget(before: day)
    let root = try home.git(["rev-list", "--max-parents=0", "--all"])
    #expect(root.split(separator: "\n").count == 1, "\(root)")
    #expect(try home.git(["rev-parse", "former"]) == home.git(["rev-parse", "HEAD~3"]))
    _ = try home.git(["stash", "pop", "-q"])
    #expect(try home.read("Keep.txt") == "A\nb\nc\nstashed\n")
    _ = try home.notebook.save()
    try expectWhole()
  }

  @Test("Twice; and not where no version can be the first")
  func again() throws {
    try expectNone(before: 1)
    _ = try forget(before: day)
    try expectNone(before: day)
    // Neither do IDs of versions below the list help to name one.
    try expectNone(before: home.seconds.now + 100)
    try home.write("Keep.txt", "again\n")
    home.seconds.now += 10
    _ = try home.notebook.save()
    _ = try forget(before: home.seconds.now + 100)
    // On the last version is only the present list.
    #expect(try commits("%T").filter { !$0.hasPrefix("4b825dc") }.count == 2)
    #expect(try home.notebook.history.obeyed()?.lines.map(\.kind) == ["before", "before"])
    try expectWhole()
  }

  @Test("Versions of one time that others do not build on stay together")
  func beside() throws {
    // Somebody works beside the notebook, from the first version on, and merges at the end.
    let tip = try home.git(["rev-parse", "HEAD"]).filter { !$0.isNewline }
    _ = try home.git(["checkout", "-q", "former"])
    try home.write("Side.txt", "beside\n")
    _ = try home.git(["add", "Side.txt"])
    _ = try home.git(["commit", "-q", "-m", "beside"])
    _ = try home.git(["checkout", "-q", "main"])
    #expect(try home.git(["rev-parse", "HEAD"]).filter { !$0.isNewline } == tip)
    _ = try home.git(["merge", "-q", "--no-edit", "former"])
    try expectNone(before: day)
  }
}
