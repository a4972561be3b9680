import Git
import Glibc
import History
import Notebook
import State
import TestSupport
import Testing
import WorkTree

@testable import notes

/// A notebook with a fixed clock and fixed names, so that every ID in a report is the same in every
/// run.
final class ReportFixture {
  let folder: TemporaryFolder
  let notebook: Notebook
  /// What relative times count from.
  static let now: Int64 = 1_700_010_000

  init(device: String = "Ann") throws {
    setenv("TZ", "UTC", 1)
    tzset()
    folder = try TemporaryFolder()
    _ = try Notebook.prepare(at: folder.path)
    notebook = try Notebook.adopt(
      at: folder.path,
      as: NotebookIdentity(
        id: "notebookid", name: "Home",
        device: DeviceIdentity(name: device, deviceID: device.uppercased() + "ID")))
    // One note's name holds a control character.
    notebook.workTree.takesUnfitNames = true
    at(1_700_000_000)
  }

  func at(_ seconds: Int64) { notebook.clock = Clock { (seconds, 60) } }

  @discardableResult
  func save(_ files: [(String, String)], at seconds: Int64, _ message: String? = nil) throws
    -> SaveResult
  {
    for (name, text) in files { try folder.write(text, to: name) }
    at(seconds)
    return try notebook.save(message: message)
  }

  /// What another device made of this notebook's first version, joined here.
  @discardableResult
  func meet(_ name: String, _ files: [(String, String)], at seconds: Int64) throws -> MergeOutcome {
    let other = try TemporaryFolder()
    let git = ["git", "-C", folder.path]
    let root = try run(git + ["rev-list", "--max-parents=0", "HEAD"]).lines[0]
    try #require(try run(["git", "clone", "-q", folder.path, other.path]).isSuccess)
    try #require(try run(["git", "-C", other.path, "reset", "-q", "--hard", root]).isSuccess)
    let state = try Notebook.prepare(at: other.path)
    #expect(state.path.hasSuffix("/.git/notes"))
    let theirs = try Notebook.adopt(
      at: other.path,
      as: NotebookIdentity(
        id: "notebookid", name: "Home",
        device: DeviceIdentity(name: name, deviceID: name.uppercased() + "ID")))
    for (name, text) in files { try other.write(text, to: name) }
    theirs.workTree.takesUnfitNames = true
    theirs.clock = Clock { (seconds, 60) }
    let saved = try theirs.save()
    try #require(try run(git + ["fetch", "-q", other.path, "HEAD"]).isSuccess)
    return try notebook.merge([try #require(saved.version)])
  }
}

@Suite(.serialized) struct ReportTests {
  private let now = ReportFixture.now

  /// A notebook in which everything is to be seen: versions, a conflict, a fine-grained merge,
  /// changes, skipped files and names that play tricks.
  static func eventful() throws -> ReportFixture {
    let fixture = try ReportFixture()
    try fixture.save(
      [
        ("Shopping.txt", "milk\n"), ("Journal.txt", "one\ntwo\nthree\n"),
        ("recipes/Soup.md", "# Soup\n"), ("photo.png", "\u{0}png"),
        ("evil\u{1B}[31m\u{202E}.txt", "x\n"),
      ], at: 1_700_000_000, "Start notebook Home")
    try fixture.save(
      [("Shopping.txt", "milk\neggs\n"), ("Journal.txt", "one\nTWO\nthree\n")],
      at: 1_700_003_600)
    try fixture.meet(
      "Ben's phone",
      [("Shopping.txt", "milk\nbread\n"), ("Journal.txt", "one\nzwei\nthree\n")],
      at: 1_700_007_200)
    return fixture
  }

  private func both(_ name: String, _ text: (Terminal) -> String) throws {
    try Golden.screens(name, text)
  }

  private func lines(_ values: [JSON]) -> String {
    Golden.lines(values)
  }

  @Test func `init`() throws {
    let fixture = try ReportFixture()
    try fixture.folder.write("x\n", to: "A.txt")
    try fixture.folder.write("x\n", to: "B.txt")
    try fixture.folder.write("x\n", to: "c.png")
    try #require(symlink("A.txt", fixture.folder["link.txt"]) == 0)
    let saved = try fixture.notebook.save()
    let repository = fixture.notebook.repository
    let tree = try repository.commit(#require(saved.version)).tree
    let report = InitReport(
      identity: fixture.notebook.identity, folder: "/home/ann/notes",
      files: try repository.files(in: tree), bytes: 6, saved: saved, tip: saved.version)
    try both("init") { report.text(on: $0) }
    try Golden.expect(lines([report.json]), matches: "init.json")
  }

  private func statusReport(_ fixture: ReportFixture) throws -> StatusReport {
    StatusReport(
      status: try fixture.notebook.status(), folder: "/home/ann/notes",
      conflicts: try fixture.notebook.conflictReports())
  }

  @Test func `status`() throws {
    let fixture = try Self.eventful()
    try fixture.folder.write("milk\neggs\nbread\nham\n", to: "Shopping.txt")
    try fixture.folder.write("new\n", to: "A note with a rather long name that will not fit.txt")
    try #require(unlink(fixture.folder["recipes/Soup.md"]) == 0)
    try #require(symlink("A.txt", fixture.folder["link.txt"]) == 0)
    let report = try statusReport(fixture)
    try both("status") { report.text(on: $0, now: now) }
    try Golden.expect(lines([report.json]), matches: "status.json")
  }

  @Test func `status of a clean and of an empty notebook`() throws {
    let fixture = try ReportFixture()
    try Golden.expect(
      try statusReport(fixture).text(on: .screen(), now: now), matches: "status-empty.txt")
    try fixture.save([("A.txt", "x\n")], at: 1_700_000_000)
    try Golden.expect(
      try statusReport(fixture).text(on: .screen(), now: now), matches: "status-clean.txt")
  }

  @Test func `conflicts`() throws {
    let fixture = try Self.eventful()
    let conflicts = try fixture.notebook.conflictReports()
    try both("conflicts") { conflicts.text(on: $0, now: now) }
    try Golden.expect(lines(conflicts.map(\.json)), matches: "conflicts.json")
    #expect([ConflictReport]().text(on: .plain, now: now) == "No conflicts.\n")
  }

  @Test func `save`() throws {
    let fixture = try ReportFixture()
    let files = (1...23).map { ("Note \($0).txt", "x\n") }
    let report = SaveReport(
      result: try fixture.save(files, at: 1_700_000_000), branch: "main")
    try both("save") { report.text(on: $0) }
    try Golden.expect(lines([report.json]), matches: "save.json")
  }

  @Test func `list`() throws {
    let fixture = try Self.eventful()
    try fixture.folder.write("unsaved\n", to: "日本語のノート.txt")
    let notes = try fixture.notebook.history.notes()
    var style = ListStyle()
    style.names = try ListCommand.authors(
      of: notes.compactMap(\.lastVersion), in: fixture.notebook)
    let report = ListReport(notes: notes, style)
    try both("list") { report.text(on: $0, now: now) }
    style.isLong = true
    let long = ListReport(notes: notes, style)
    try both("list-long") { long.text(on: $0, now: now) }
    try Golden.expect(lines(report.json), matches: "list.json")
  }
}
