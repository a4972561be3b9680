import Glibc
import State
import System
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

  /// The files that commands read as lines, and that a first save need not have made.
  private static let memories: [StateFolder.File] = [
    .tip, .plain, .machine, .brought, .looked, .missing, .sharedKey, .addresses,
  ]
  private static let needed: [StateFolder.File] = [.notebook, .waiting, .journal]

  @Test("a damaged memory counts as missing, and doctor tells of it", arguments: memories)
  func memory(_ file: StateFolder.File) throws {
    let shell = try saved()
    let state = StateFolder(ofNotebookIn: shell.folder["notes"])
    for damage in Self.damages {
      try writeFile(state[file], damage)
      try shell.folder.write("\(damage)\n", to: "notes/One.txt")
      for command in ["status", "list", "save", "log", "members"] {
        let result = try shell.notes(command)
        #expect(result.isSuccess, "\(file) \(damage) \(result)")
      }
      let doctor = try shell.notes("doctor", "--no-discovery", "--json")
      let setAside = try FileSystem<SystemCallError>.readIfThere(state[file] + ".damaged")
      #expect(
        doctor.text.contains("\(file.rawValue).damaged is a damaged file of this device's state")
          == (setAside != nil), "\(doctor)")
      #expect(setAside == nil || setAside == damage)
      if damage.contains(0) {
        // It was set aside, or written anew by a command that does not read it.
        #expect(setAside != nil || Self.unread.contains(file), "\(file)")
      }
      unlink(state[file] + ".damaged")
    }
  }

  /// The files that none of these commands reads.
  private static let unread: [StateFolder.File] = [
    .plain, .missing, .sharedKey, .addresses,
  ]

  @Test("a damaged file that is needed is an error that names it", arguments: needed)
  func neededFile(_ file: StateFolder.File) throws {
    let shell = try saved()
    let state = StateFolder(ofNotebookIn: shell.folder["notes"])
    for damage in Self.damages {
      if file == .journal { try? makeFolder(state[.checkout]) }
      try writeFile(state[file], damage)
      chmod(state[file], 0o600)
      try shell.folder.write("\(damage)\n", to: "notes/One.txt")
      let result = try shell.notes("save", "--json")
      #expect(result.status == .exited(1), "\(file) \(damage) \(result)")
      #expect(result.errorText.contains("\"kind\":\"broken_state\""), "\(file) \(damage) \(result)")
      #expect(result.errorText.contains("\(file.rawValue) is damaged: "))
    }
  }

  /// What a power cut, a disk or an editor makes of a file.
  private static let damages: [[UInt8]] = [
    [0, 0, 0], Array("1".utf8), Array("1\n1 2 3\n".utf8), [0xff, 0xfe, 0x0a],
  ]

  private func saved() throws -> Shell {
    let shell = try Shell()
    try shell.folder.write("one\n", to: "notes/One.txt")
    try shell.initialise()
    return shell
  }
}
