import Git
import Glibc
import History
import NotebookSupport
import Synchronization
import System
import TestSupport
import Testing

@testable import Notebook
@testable import WorkTree

/// notes-merge(7), "Files that are not versioned": "nothing reads a folder that is becoming a notebook".
@Suite("A notebook inside another one")
struct NestedNotebookTests {
  private let outer: Fixture

  init() throws {
    outer = try Fixture()
    try outer.write("a.txt", "a\n")
    _ = try outer.notebook.save()
  }

  private var versioned: Set<TreePath> {
    get throws {
      let repository = outer.notebook.repository
      let tip = try #require(try outer.notebook.state().tip)
      return Set(try repository.files(in: repository.commit(tip).tree).map(\.path))
    }
  }

  @Test("nothing of it is taken at any step of its making", arguments: [".git.new", ".git"])
  func steps(name: String) throws {
    let head = "Work/\(name)/HEAD"
    try outer.write(head, "ref: refs/heads/main\n")
    try outer.write("Work/theirs.txt", "theirs\n")
    try outer.write("Work/deep/er.txt", "theirs\n")
    let scopes: [SaveScope] = [
      .only([TreePath(head)]), .only(["Work/theirs.txt", "Work/deep"]), .only(["Work"]),
      .only(["Work/deep/er.txt", TreePath("Work/\(name)")]), .allBut([]), .everything,
    ]
    for scope in scopes { #expect(try outer.notebook.autosave(scope)?.version == nil) }
    #expect(
      try outer.notebook.status().skipped == [SkippedFile(path: "Work", reason: .nestedRepository)])
    let folders = try outer.notebook.workTree.versionedFolders()
    #expect(!folders.contains { $0.description.hasPrefix("Work") })
  }

  private final class State: Sendable {
    let isOver = Atomic(false)
    let failure = Mutex<String?>(nil)
    let ended = BlockingQueue<Bool>()
  }

  @Test("saves that race with its making take nothing of it")
  func race() throws {
    let path = outer.path
    let state = State()
    TestSupport.startThread {
      do {
        let notebook = try Notebook.open(at: path)
        while !state.isOver.load(ordering: .relaxed) {
          _ = try notebook.save()
          _ = try notebook.autosave(.only(["Work", "Work/.git.new/HEAD", "Work/theirs.txt"]))
        }
      } catch {
        state.failure.withLock { $0 = "\(error)" }
      }
      state.ended.put(true)
    }
    for round in 0..<60 {
      let work = path + "/Work"
      let inner = try Notebook.make(at: work) { _ in
        NotebookIdentity(
          id: "inner", name: "Work", device: DeviceIdentity(name: "Ada", deviceID: "ADA"))
      }
      try outer.write("Work/theirs.txt", "\(round)\n")
      _ = try inner.save()
      // Gone in one step, as a person moves it away.
      try #require(rename(work, "\(path)-away") == 0)
      removeTree("\(path)-away")
    }
    state.isOver.store(true, ordering: .relaxed)
    #expect(state.ended.take(until: .now + 60) == true)
    #expect(state.failure.withLock { $0 } == nil)
    let repository = outer.notebook.repository
    for id in try repository.commits(from: outer.notebook.state().heads) {
      let files = try repository.files(in: repository.commit(id).tree).map(\.path)
      #expect(files == ["a.txt"], "\(files)")
    }
  }
}
