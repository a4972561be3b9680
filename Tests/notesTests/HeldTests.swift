import TestSupport
import Testing

/// What one device has and another does not merge is told on both: notes-status(1), "Held back".
@Suite struct HeldTests {
  private let ada: Shell
  private let bob: Shell

  init() throws {
    ada = try Shell()
    bob = try Shell()
    for number in 1...12 { try ada.folder.write("\(number)\n", to: "notes/n\(number).txt") }
    try ada.initialise()
    try bob.join(ada, as: "bob")
  }

  private func sync(_ words: String...) throws -> ProcessResult {
    let served = try ada.listening("serve")
    let result = try run(
      [BuiltBinary.notes(), "sync", "--at", "127.0.0.1:\(served.port)"] + words,
      in: bob.folder["notes"], environment: bob.environment)
    served.process.send(2)
    try served.process.wait()
    return result
  }

  @Test func `A mass deletion that is not merged is told on both sides until it is`() throws {
    for number in 1...8 { _ = try run(["rm", ada.folder["notes/n\(number).txt"]]) }
    let before = try ada.notes("status").text
    #expect(
      before.contains(
        "'notes save' refuses to delete 8 of 12 notes;\n  to delete them: "
          + "'notes save --allow-deletes'"), "\(before)")
    #expect(try !ada.notes("save").isSuccess)
    #expect(try ada.notes("save", "--allow-deletes").isSuccess)
    #expect(try !sync().isSuccess)
    let here = try bob.notes("status").text
    #expect(
      here.contains(
        "Changes from laptop are held back: this would delete 8 of 12 notes;\n"
          + "  to accept them, run 'notes sync laptop --allow-deletes'"), "\(here)")
    let there = try ada.notes("status").text
    #expect(
      there.contains(
        "Changes from this device are held back on bob: they would delete most of its notes;\n"
          + "  to accept them, on bob run 'notes sync laptop --allow-deletes'"), "\(there)")
    let doctor = try bob.notes("doctor", "--no-discovery", "--json").lines
    #expect(
      doctor.contains {
        $0.contains(#""check":"held","state":"problem""#) && $0.contains("8 of 12")
      })
    let peers = try bob.notes("peers", "--no-discovery")
    #expect(
      peers.text.contains("not merged here") && !peers.text.contains("up to date"), "\(peers)")
    #expect(
      try bob.notes("peers", "--no-discovery", "--json").text.contains(#""held":"mass_deletion""#))
    let others = try ada.notes("peers", "--no-discovery")
    #expect(others.text.contains("does not merge this device's versions"), "\(others)")
    #expect(try bob.notes("status", "--json").text.contains(#""reason":"mass_deletion""#))

    #expect(try sync("--allow-deletes").isSuccess)
    for shell in [ada, bob] {
      #expect(try !shell.notes("status").text.contains("merge"))
      #expect(try !shell.notes("peers", "--no-discovery").text.contains("merge"))
      #expect(try run(["ls", shell.folder["notes/.git/notes/held"]]).output.isEmpty)
    }
  }

  @Test func `What is undone there is held back no longer`() throws {
    for number in 1...8 { _ = try run(["rm", ada.folder["notes/n\(number).txt"]]) }
    try ada.notes("save", "--allow-deletes")
    #expect(try !sync().isSuccess)
    #expect(try ada.notes("undo").isSuccess)
    // Nobody knows what bob would say of that, until they meet.
    #expect(try !ada.notes("status").text.contains("not merged"))
    let result = try sync()
    #expect(result.isSuccess, "\(result)")
    #expect(try !bob.notes("status").text.contains("not merged"))
    #expect(try !ada.notes("status").text.contains("not merged"))
  }

  // notes-status(1): "It says 'Everything is saved' only if … no file remains unsaved, for instance because it
  // is too large".
  @Test("A note that is too large is not called saved; one with a link in its place is named once")
  func unsaved() throws {
    #expect(try ada.notes("config", "max-file-size", "50k").isSuccess)
    try ada.folder.write(String(repeating: "grown\n", count: 10_000), to: "notes/n1.txt")
    var status = try ada.notes("status").text
    #expect(status.contains("Everything else is saved; these files are not:\n"), "\(status)")
    #expect(status.contains("n1.txt") && !status.contains("Everything is saved"), "\(status)")
    try ada.folder.write("1\n", to: "notes/n1.txt")
    _ = try run(["ln", "-sf", "n1.txt", ada.folder["notes/n2.txt"]])
    status = try ada.notes("status").text
    #expect(
      status.contains("Saved, but not in this folder\n  n2.txt  a symbolic link is in its place"),
      "\(status)")
    let saved = try ada.notes("save")
    #expect(saved.isSuccess && saved.text.ranges(of: "n2.txt is not").count == 1, "\(saved)")
  }

  @Test("Where a text of the last version is missing, it is not called saved")
  func missing() throws {
    try ada.folder.write("new\n", to: "notes/new.txt")
    #expect(try ada.notes("save").isSuccess)
    let text = try run(["git", "-C", ada.folder["notes"], "rev-parse", "HEAD:new.txt"]).text
    let file = "notes/.git/objects/\(text.prefix(2))/\(text.dropFirst(2).prefix(38))"
    _ = try run(["rm", ada.folder[file]])
    let status = try ada.notes("status").text
    #expect(status.contains("The history lacks object \(text.prefix(10)); 'notes sync'"))
    #expect(!status.contains("Everything is saved"), "\(status)")
    #expect(try sync().isSuccess)
    #expect(try ada.notes("status").text.contains("Everything is saved"))
  }

  @Test func `What git has staged is not called saved`() throws {
    try ada.folder.write("new\n", to: "notes/Staged.txt")
    _ = try run(["git", "-C", ada.folder["notes"], "add", "Staged.txt"])
    _ = try run(["git", "-C", ada.folder["notes"], "rm", "-q", "n3.txt"])
    let status = try ada.notes("status").text
    #expect(!status.contains("Everything is saved"), "\(status)")
    #expect(status.contains("  added    Staged.txt\n  deleted  n3.txt\n"), "\(status)")
    #expect(status.contains("  staged with git: Staged.txt and n3.txt; save also saves the rest\n"))
    #expect(try ada.notes("status", "--json").text.contains(#""staged":[{"path":"Staged.txt""#))
    try ada.notes("save")
    #expect(try ada.notes("status").text.contains("Everything is saved"))
  }
}
