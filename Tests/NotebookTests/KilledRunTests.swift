import Git
import Glibc
import History
import NotebookSupport
import System
import TestSupport
import Testing

@testable import Notebook
@testable import WorkTree

/// Lock files of git's kind that killed runs left: nobody else would ever remove them.
@Suite("Runs that were killed, one after another")
struct KilledRunTests {
  let home: Fixture
  private var gitFolder: String { home.path + "/.git" }
  private let locks = ["refs/heads/main", "HEAD", "config", "packed-refs", "logs/HEAD"]

  init() throws {
    home = try Fixture()
    try home.write("a.txt", "one\n")
    _ = try home.notebook.save()
  }

  /// A run that begins, and is killed when it has left these lock files.
  private func killRun(leaving locks: [String] = []) throws {
    // What was written before has an earlier time.
    let before = WallClock.ofFiles
    while !(before < WallClock.ofFiles) { sched_yield() }
    let lock = try WriterLock(stateFolder: home.notebook.stateFolder, folder: home.path)
    for name in locks { try writeFile("\(gitFolder)/\(name).lock", []) }
    withExtendedLifetime(lock) {}
  }

  private func isThere(_ lock: String) -> Bool { access("\(gitFolder)/\(lock).lock", F_OK) == 0 }

  @Test("what the first one left goes, however many are killed after it", arguments: [0, 1, 3])
  func several(others: Int) throws {
    try killRun(leaving: locks)
    for _ in 0..<others { try killRun() }
    try home.write("a.txt", "two\n")
    #expect(try home.notebook.save().version != nil)
    #expect(locks.filter(isThere).isEmpty)
  }

  @Test("while git is in the middle of something, the locks go all the same")
  func duringMerge() throws {
    try killRun(leaving: locks + ["index"])
    let tip = try #require(try home.notebook.state().tip)
    try writeFile(gitFolder + "/MERGE_HEAD", Array("\(tip)\n".utf8))
    #expect(throws: NotebookError.self) { try home.notebook.save() }
    #expect(locks.filter(isThere).isEmpty)
    // It may be that git's.
    #expect(isThere("index"))
    unlink(gitFolder + "/MERGE_HEAD")
    try home.write("a.txt", "two\n")
    #expect(try home.notebook.save().version != nil)
  }

  @Test("a lock that is a second name of an older file goes, too")
  func secondName() throws {
    let copy = "refs/notes-state/made/heads/main"
    try killRun()
    try #require(link("\(gitFolder)/refs/heads/main", "\(gitFolder)/\(copy).lock") == 0)
    _ = try home.git(["commit", "-q", "--allow-empty", "-m", "by hand"])
    try home.write("a.txt", "two\n")
    #expect(try home.notebook.save().version != nil)
    #expect(!isThere(copy))
  }

  @Test("a lock that was there before the first of them is somebody's, and stays")
  func others() throws {
    try writeFile(gitFolder + "/refs/heads/other.lock", [])
    try killRun()
    _ = try home.notebook.save()
    #expect(isThere("refs/heads/other"))
  }
}
