import ExchangeSupport
import Git
import Glibc
import Notebook
import TestSupport
import Testing
import WorkTree

@testable import Exchange
@testable import Watch

/// notes-serve(1): what a service looks at when a session begins.
@Suite("What a service is told of its folder", .timeLimit(.minutes(20)))
struct InotifyChangesTests {
  let folder: TemporaryFolder
  let notebook: Notebook
  let changes: InotifyChanges

  init() throws {
    folder = try TemporaryFolder()
    let context = try SessionContext.founded(by: "Ada", in: folder, timeouts: .brief)
    notebook = try context.notebook()
    changes = InotifyChanges(of: notebook.folder)
    for number in 0..<60 { try write("\(number)\n", to: "\(number).txt") }
    try save()
  }

  private func write(_ text: String, to path: String) throws {
    try folder.write(text, to: "notes/" + path)
  }

  /// Saves as a session does.
  private func save() throws {
    let scope = changes.scope
    changes.saved(scope, without: try #require(try notebook.autosave(scope)).skipped)
  }

  /// The paths to look at; nil for all.
  private var named: Set<TreePath>? {
    if case .only(let paths) = changes.scope { paths } else { nil }
  }

  @Test("looks at all at first, and then at what was written alone")
  func looksAtLittle() throws {
    #expect(InotifyChanges(of: notebook.folder).scope.isEverything)
    #expect(named == [])
    try write("more\n", to: "7.txt")
    #expect(named == ["7.txt"])
    // A merge asks, too, and takes nothing from the next save.
    #expect(named == ["7.txt"])
    try save()
    #expect(named == [])
  }

  @Test("a file that is open still is saved as it is when a device asks")
  func openFile() throws {
    let file = open(notebook.folder + "/7.txt", O_WRONLY | O_APPEND)
    defer { close(file) }
    _ = Glibc.write(file, "half", 4)
    try save()
    #expect(try notebook.status().changes.isEmpty)
  }

  @Test("what a save had to leave, or failed on, is looked at again")
  func looksAgain() throws {
    try write("more\n", to: "7.txt")
    let scope = changes.scope
    #expect(named == ["7.txt"])
    changes.saved(scope, without: [SkippedFile(path: "7.txt", reason: .changing)])
    #expect(named == ["7.txt"])
    changes.saved(scope, without: [SkippedFile(path: "7.txt", reason: .specialFile)])
    #expect(named == [])
  }

  @Test("looks at all where very much was written, and where the folder went and came back")
  func looksAtAll() throws {
    for number in 0...2_000 { try write("many\n", to: "\(number).txt") }
    #expect(named == nil)
    try save()
    #expect(named == [])
    let path = notebook.folder
    rename(path, path + " elsewhere")
    #expect(named == nil)
    rename(path + " elsewhere", path)
    #expect(named == nil)
    try save()
    #expect(named == [])
  }

  @Test("whatever is made, written, moved and removed, no save leaves anything", arguments: 0..<3)
  func leavesNothing(_: Int) throws {
    var random = SplitMix64.reported()
    let folder = notebook.folder
    let folders = ["", "a/", "b/", "a/c/", "new/", "new/d/"]
    func place() -> String {
      folders.randomElement(using: &random).map { folder + "/" + $0 } ?? folder
    }
    for step in 0..<120 {
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let name = "\(Int.random(in: 0..<60, using: &random)).txt"
        switch Int.random(in: 0..<11, using: &random) {
        case 0...3: _ = try? writeFile(place() + name, Array("\(step)\n".utf8))
        case 4...5: rename(place() + name, place() + name)
        case 6: unlink(place() + name)
        case 7: rename(place(), place() + "moved")
        case 8: chmod(place() + name, step.isMultiple(of: 2) ? 0o755 : 0o644)
        case 9: _ = try? writeFile(place() + ".gitignore", Array("\(name)\n".utf8))
        default:
          mkdir(folder + "/\(step)", 0o755)
          rename(place() + name, folder + "/\(step)/" + name)
        }
      }
      let scope = changes.scope
      let result = try #require(try notebook.autosave(scope, allowsMassDeletion: true))
      changes.saved(scope, without: result.skipped)
      let left = try notebook.status().changes
      try #require(left.isEmpty, "step \(step), \(scope): \(left)")
    }
  }
}

extension SaveScope {
  fileprivate var isEverything: Bool { if case .everything = self { true } else { false } }
}
