import State
import TestSupport
import Testing

@Suite("The files of a device's state")
struct StateFilesTests {
  @Test("FILES in notes(1) lists each file and folder, and no other")
  func manual() throws {
    let page = try String(
      decoding: readFile(BuiltBinary.sourceFolder + "/man/notes.1"), as: UTF8.self)
    let start = ".It Pa .git/notes/"
    let listed = page.split(separator: "\n").filter { $0.hasPrefix(start) }
      .map { String($0.dropFirst(start.count)) }
    let known =
      StateFolder.File.allCases.map(\.rawValue) + StateFolder.Folder.allCases.map(\.rawValue)
    #expect(listed.sorted() == known.sorted())
  }
}
