import TestSupport
import Testing

/// Commands say what they did, and to whom.
@Suite struct DeedWordsTests {
  private let shell: Shell

  init() throws {
    shell = try Shell()
    for name in ["a", "b", "c", "d", "e"] {
      try shell.folder.write("\(name)\n", to: "notes/\(name).txt")
    }
    try shell.initialise()
  }

  // notes-config(1): "name".
  @Test func `Renaming the notebook says that it is for everybody`() throws {
    let renamed = try shell.notes("config", "name", "Our home")
    #expect(
      renamed.text == "The notebook is called Our home now; its other devices learn the new name "
        + "at their next sync.\n", "\(renamed)")
    #expect(try shell.notes("config", "hidden-files", "true").output.isEmpty)
    #expect(try shell.notes("config", "name", "Home", "--json").text.contains(#""value":"Home""#))
  }

  @Test func `Deleting names what is deleted`() throws {
    let two = try shell.notes("rm", "a", "b").text
    #expect(two.hasPrefix("Deleted a.txt and b.txt: version "), "\(two)")
    try shell.notes("undo")
    let four = try shell.notes("rm", "a", "b", "c", "d", "--allow-deletes").text
    #expect(four.hasPrefix("Deleted a.txt, b.txt, c.txt and 1 other file: version "), "\(four)")
  }

  @Test func `A version is undone by its name`() throws {
    try shell.folder.write("x\n", to: "notes/x.txt")
    let version = try #require(
      shell.notes("save").text.split(separator: " ").dropFirst(2).first?.prefix(10))
    try shell.folder.write("y\n", to: "notes/y.txt")
    try shell.notes("save")
    let undone = try shell.notes("undo", String(version))
    #expect(undone.isSuccess && undone.text.contains("x.txt"), "\(undone)")
    #expect(try run(["ls", shell.folder["notes"]]).text.contains("y.txt"))
  }

  // notes-log(1): a note that was never saved.
  @Test func `The log of a note that was never saved says so`() throws {
    try shell.folder.write("new\n", to: "notes/New.txt")
    for name in ["New", "New.txt"] {
      let log = try shell.notes("log", name)
      #expect(log.text == "New.txt is not saved yet: 'notes save' makes its first version.\n")
      #expect(log.isSuccess)
    }
    #expect(try shell.notes("log", "New", "--json").output.isEmpty)
  }

  @Test func `Joining takes the device's name as init does`() throws {
    let invitation = try shell.invite()
    let other = try Shell()
    let joined = try other.notes(
      "join", "--code-file", "-", other.folder["notes"], "--yes", "--device-name", "phone", "--at",
      "127.0.0.1:\(invitation.port)", in: ".", input: invitation.code + "\n")
    #expect(joined.isSuccess, "\(joined)")
    try invitation.process.wait()
    #expect(try other.notes("status").text.contains(" on phone,"))
  }
}
