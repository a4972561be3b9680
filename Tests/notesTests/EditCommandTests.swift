import Glibc
import TestSupport
import Testing

/// `notes edit` with editors that need no terminal: notes-edit(1).
@Suite struct EditCommandTests {
  private let daily: DailyNotebook
  private var shell: Shell { daily.shell }

  init() throws { daily = try DailyNotebook() }

  // notes-edit(1): "a watcher may have made the version".
  @Test func `A version that a watcher made of the edit is named`() throws {
    let notes = try BuiltBinary.notes()
    shell.environment["EDITOR"] =
      "sh -c 'echo eggs >> \"$1\"; \(notes) save >&2; echo >> Other.txt' editor"
    let edited = try shell.notes("edit", "shopping", "--json")
    let latest = try shell.notes("log", "-n", "1", "--json").text
    let version = try #require(latest.firstMatch(of: /"id":"([0-9a-f]{40})"/)).output.1
    #expect(
      edited.text
        == #"{"type":"edited","path":"Shopping.txt","version":"\#(version)","merged_with":[]}"#
        + "\n")
  }

  @Test func `An editor's text that is too large stays in the folder, and is named`() throws {
    #expect(try shell.notes("config", "max-file-size", "1k").isSuccess)
    shell.environment["EDITOR"] = "truncate -s 2000"
    let edited = try shell.notes("edit", "shopping")
    #expect(edited.text.hasPrefix("Shopping.txt is not versioned: too large ("), "\(edited)")
    #expect(try daily.text("Shopping.txt").utf8.count == 2000)
  }

  @Test func `An editor's text becomes a version`() throws {
    shell.environment["EDITOR"] = "sh -c 'echo eggs >> \"$1\"' editor"
    #expect(try shell.notes("edit", "shopping").text.hasPrefix("Saved Shopping.txt: version "))
    #expect(try daily.text("Shopping.txt") == "milk\neggs\n")
    #expect(try shell.notes("new", "a/Fresh", "--edit").text.hasPrefix("Added a/Fresh.txt: "))
    #expect(try daily.text("a/Fresh.txt") == "eggs\n")
    // Only the note is saved.
    try shell.folder.write("other\n", to: "notes/Other.txt")
    _ = try shell.notes("edit", "shopping")
    #expect(try shell.notes("status", "--json").text.contains(#""path":"Other.txt""#))
    shell.environment["EDITOR"] = "true"
    #expect(try shell.notes("edit", "Rome").text == "Nothing changed in trips/Rome.md.\n")
    let none = try shell.notes("new", "b/Nothing", "--edit")
    #expect(none.status == .exited(1))
    #expect(none.errorText.contains("you wrote nothing, so no note was made"))
    #expect(!daily.isThere("b"))
    // notes-edit(1): VISUAL counts where the terminal can show it.
    shell.environment["VISUAL"] = "false"
    #expect(try shell.notes("edit", "Rome").isSuccess)
    shell.environment["TERM"] = "xterm"
    #expect(try !shell.notes("edit", "Rome").isSuccess)
  }

  @Test(
    arguments: [
      ("sh -c 'echo half > \"$1\"; exit 3' x", "ended with status 3"),
      ("sh -c 'echo half > \"$1\"; kill -9 $$' x", "was killed by signal 9"),
      ("/no/such/editor", "cannot be started"),
    ])
  func `An editor that fails makes no version and loses nothing`(command: String, what: String)
    throws
  {
    shell.environment["EDITOR"] = command
    let result = try shell.notes("edit", "Shopping")
    #expect(result.status == .exited(1))
    #expect(result.errorText.contains(what))
    #expect(try daily.text("Shopping.txt") == (command.hasPrefix("/") ? "milk\n" : "half\n"))
    #expect(try shell.notes("log", "Shopping", "--json").lines.count == 1)
  }

  @Test func `Without any editor, or a terminal for it, the message says what to set`() throws {
    shell.environment["PATH"] = shell.folder.path
    let none = try shell.notes("edit", "Shopping")
    #expect(
      none.errorText
        == DailyNotebook.failure(
          "there is no editor", "set VISUAL or EDITOR to your editor"))
    try writeFile(shell.folder["nano"], Array("#!/bin/sh\n".utf8))
    chmod(shell.folder["nano"], 0o755)
    let blind = try shell.notes("edit", "Shopping")
    #expect(blind.errorText.contains("nano needs a terminal"))
  }

  // notes-merge(7), "The stale editor".
  @Test func `What arrives while the editor runs is merged with what it writes`() throws {
    let (old, new) = ("one\ntwo\nthree\nfour\nfive\n", "one\ntwo\nthree\nfour\nFIVE\n")
    for text in [old, new] {
      try shell.folder.write(text, to: "notes/Long.txt")
      try #require(try shell.notes("save").isSuccess)
    }
    // The editor has loaded the new text when another command brings the old one back.
    try shell.folder.write(
      "cp \"$1\" ../loaded\n\(BuiltBinary.notes()) undo\nsed s/one/ONE/ ../loaded > \"$1\"\n",
      to: "editor.sh")
    shell.environment["EDITOR"] = "sh ../editor.sh"
    let edited = try shell.notes("edit", "Long")
    #expect(edited.isSuccess, "\(edited)")
    #expect(try daily.text("Long.txt") == "ONE\ntwo\nthree\nfour\nfive\n")
  }
}
