import Glibc
import TestSupport
import Testing

@testable import notes

/// The commands of every day, as a shell sees them.
@Suite struct DailyTests {
  private let shell: Shell

  init() throws {
    shell = try Shell()
    try shell.folder.write("milk\n", to: "notes/Shopping.txt")
    try shell.folder.write("forum\n", to: "notes/trips/Rome.md")
    try shell.folder.write("\u{0}png", to: "notes/photo.png")
    try shell.initialise()
  }

  private func text(_ name: String) throws -> String { try shell.folder.text("notes/" + name) }

  private func isThere(_ name: String) -> Bool { access(shell.folder["notes/" + name], F_OK) == 0 }

  /// The failure's two lines.
  private func failure(_ message: String, _ hint: String) -> String {
    "notes: error: \(message)\nnotes: hint: \(hint)\n"
  }

  @Test func `A note is made from standard input, in the current folder`() throws {
    let made = try shell.notes("new", "Plan", in: "notes/trips", input: "first\n")
    #expect(made.text.hasPrefix("Added trips/Plan.txt: version ") && made.isSuccess)
    #expect(try text("trips/Plan.txt") == "first\n")
    #expect(try shell.notes("new", "../Top.md", in: "notes/trips", input: "x").isSuccess)
    #expect(try text("Top.md") == "x")
    #expect(try shell.notes("new", "--", "-dash").isSuccess)
    #expect(try text("-dash.txt").isEmpty)
    let line = try shell.notes("new", "a/b/Deep", "--json").text
    #expect(line.hasPrefix(#"{"type":"created","path":"a/b/Deep.txt","version":""#))
    #expect(try shell.notes("status").text.contains("Everything is saved."))
  }

  @Test(
    arguments: [
      (
        ["new", "Shopping"], 1, "there is a note Shopping.txt already",
        "choose another title; 'notes edit Shopping' changes that one"
      ),
      (
        ["new", "shopping"], 1, "there is a note Shopping.txt already",
        "names that differ only by case or Unicode spelling would be one on other systems; "
          + "choose another title"
      ),
      (
        ["new", "trips/Rome"], 1, "there is a note trips/Rome.md already",
        "choose another title, or write the suffix too: trips/Rome.txt"
      ),
      (
        ["new", ".git/x"], 64, "'.git/x' cannot be a title: a name that means .git",
        "choose another title; one with slashes names the folders that the note goes into"
      ),
      (
        ["mv", "Shopping", "trips/Rome.md"], 1, "there is a note trips/Rome.md already",
        "choose another title; 'notes edit Rome' changes that one"
      ),
      (
        ["mv", "trips/", "trips/x"], 1, "the folder trips cannot be moved into itself",
        "choose a folder outside of it"
      ),
      (["mv", "Nope", "x"], 1, "there is no note 'Nope'", "'notes list' shows the notes"),
      (["rm", "Shopping", "Nope"], 1, "there is no note 'Nope'", "'notes list' shows the notes"),
      (
        ["edit", "Nope"], 1, "there is no note 'Nope'",
        "'notes new Nope --edit' makes it, 'notes list' lists the notes"
      ),
      (
        ["edit", "trips"], 1, "trips is a folder, not a note",
        "'notes list --folder trips' lists the notes in it"
      ),
      (
        ["undo"], 1, "there is nothing to undo",
        "'notes log --operations' shows what was done here"
      ),
      (
        ["undo", "0"], 64, "how many to undo is a number from 1 on",
        "'notes undo --help' shows how to use it"
      ),
      (
        ["undo", "9"], 1, "there is nothing to undo",
        "'notes log --operations' shows what was done here"
      ),
      (
        ["undo", "abcdef12"], 1, "no operation that could be undone led to version abcdef12",
        "'notes log --operations' shows what was done here"
      ),
      (
        ["redo"], 1, "there is nothing to redo",
        "'notes redo' redoes what was undone; 'notes log --operations' shows what was done here"
      ),
      (
        ["list", "--folder", "nowhere"], 1, "there is no folder 'nowhere'",
        "it is named as seen from here, or from the notebook's top"
      ),
      (
        ["list", "--since", "soonish"], 64, "'soonish' is not a time",
        "a time is like yesterday, '2 hours ago', 2026-11-20 or '2026-11-20 10:00'"
      ),
      (
        ["restore", "trips/"], 64, "say which version of trips/ to restore",
        "write FOLDER/@VERSION; 'notes log' shows the versions"
      ),
      (
        ["restore", "Shopping"], 64, "say which version of Shopping to restore",
        "write NOTE@VERSION; 'notes log Shopping' shows the versions"
      ),
      (
        ["restore", "trips/@~0", "--as", "x"], 64, "--as goes with a note, not with a folder",
        "'notes restore --help' shows how to use it"
      ),
    ] as [([String], Int32, String, String)])
  func `Each mistake is told with what to do next, and changes nothing`(
    arguments: [String], status: Int32, message: String, hint: String
  ) throws {
    let before = try run(["git", "rev-parse", "HEAD"], in: shell.folder["notes"]).text
    let result = try run(
      [BuiltBinary.notes()] + arguments, in: shell.folder["notes"],
      environment: shell.environment)
    #expect(result.status == .exited(status))
    #expect(result.output.isEmpty)
    #expect(result.errorText == failure(message, hint))
    #expect(try run(["git", "rev-parse", "HEAD"], in: shell.folder["notes"]).text == before)
  }

  @Test func `Text is appended on lines of its own`() throws {
    #expect(
      try shell.notes("add", "shopping", "oat", "milk").text.hasPrefix("Added to Shopping.txt: "))
    #expect(try shell.notes("add", "Shopping", input: "eggs\nham").isSuccess)
    #expect(try text("Shopping.txt") == "milk\noat milk\neggs\nham\n")
    try shell.folder.write("a\r\nb", to: "notes/Dos.txt")
    #expect(try shell.notes("add", "Dos", "c").isSuccess)
    #expect(try text("Dos.txt") == "a\r\nb\nc\n")
    let nothing = try shell.notes("add", "Shopping")
    #expect(nothing.status == .exited(64), "\(nothing)")
    #expect(nothing.errorText.contains("there is nothing to append"))
    #expect(try shell.notes("add", "Nope", "x").errorText.contains("there is no note 'Nope'"))
  }

  @Test func `A note is made of what is piped in, of a template, and of the day`() throws {
    let made = try shell.notes("new", input: "\n# Call the plumber, soon: 3/4 of it!\nnumber\n")
    #expect(made.text.hasPrefix("Added Call the plumber, soon: 3-4 of it.txt: "), "\(made)")
    let missing = try shell.notes("new", input: "--\n")
    #expect(missing.status == .exited(64) && missing.errorText.contains("title is missing"))
    let day = String(TimeText.local(TimeText.now).prefix(10))
    try shell.folder.write("## Day\n", to: "notes/Template.md")
    for (text, whole) in [("one\n", "## Day\none\n"), ("two\n", "## Day\none\ntwo\n")] {
      let template = text == "one\n" ? ["--template", "Template"] : []
      let result = try run(
        [BuiltBinary.notes(), "new", "journal", "--today"] + template, in: shell.folder["notes"],
        environment: shell.environment, input: Array(text.utf8))
      #expect(result.isSuccess, "\(result)")
      #expect(try self.text("journal/\(day).txt") == whole)
    }
  }

  @Test func `Outside of a notebook the default one is used, or those there are are named`() throws
  {
    let outside = try shell.notes("list", in: "home")
    #expect(outside.status == .exited(2), "\(outside)")
    #expect(outside.errorText.contains("your notebook is \(shell.folder["notes"])"))
    #expect(try shell.notes("config", "default", "notes", in: ".").isSuccess)
    #expect(try shell.notes("list", in: "home").text.contains("Shopping"))
    #expect(
      try shell.notes("notebooks", in: "home").text == "Home  \(shell.folder["notes"])  default\n")
    let refused = try shell.notes("config", "default", "home", in: ".")
    #expect(refused.status == .exited(2), "\(refused)")
  }

  @Test func `The log has a line an entry, a form that is asked for, and all for programs`() throws
  {
    let id = try shell.notes("log", "--format", "%H").text.dropLast()
    #expect(id.count == 40)
    #expect(
      try shell.notes("log", "--oneline").text == "\(id.prefix(10))  Start notebook Home\n")
    #expect(
      try shell.notes("log", "--format", "100%% %a:%n%s").text
        == "100% laptop:\nStart notebook Home\n")
    #expect(
      try shell.notes("log", "--format", "%x").errorText.contains("a placeholder that is none"))
    let whole = try shell.notes("log", "--json", "-p").text
    #expect(whole.contains(#""full_message":"Start notebook Home\n""#), "\(whole)")
    #expect(whole.contains(#""version":"\#(id)""#) && whole.contains(#""diff":""#))
    let set = try shell.notes("config", "listen", "*:1", "--json").text
    #expect(set.hasPrefix(#"{"type":"setting","name":"listen","value":"*:1""#), "\(set)")
  }

  // notes-edit(1): "a watcher may have made the version".
  @Test func `A version that a watcher made of the edit is named`() throws {
    let notes = try BuiltBinary.notes()
    shell.environment["EDITOR"] =
      "sh -c 'echo eggs >> \"$1\"; \(notes) save >&2; echo >> Other.txt' editor"
    let edited = try shell.notes("edit", "shopping", "--json")
    let latest = try shell.notes("log", "-n", "1", "--json").text
    let version = try #require(latest.firstMatch(of: /"id":"([0-9a-f]{40})"/)).output.1
    #expect(
      edited.text == #"{"type":"edited","path":"Shopping.txt","version":"\#(version)"}"# + "\n")
  }

  @Test func `An editor's text becomes a version`() throws {
    shell.environment["EDITOR"] = "sh -c 'echo eggs >> \"$1\"' editor"
    #expect(try shell.notes("edit", "shopping").text.hasPrefix("Saved Shopping.txt: version "))
    #expect(try text("Shopping.txt") == "milk\neggs\n")
    #expect(try shell.notes("new", "a/Fresh", "--edit").text.hasPrefix("Added a/Fresh.txt: "))
    #expect(try text("a/Fresh.txt") == "eggs\n")
    // Only the note is saved.
    try shell.folder.write("other\n", to: "notes/Other.txt")
    _ = try shell.notes("edit", "shopping")
    #expect(try shell.notes("status", "--json").text.contains(#""path":"Other.txt""#))
    shell.environment["EDITOR"] = "true"
    #expect(try shell.notes("edit", "Rome").text == "Nothing changed in trips/Rome.md.\n")
    let none = try shell.notes("new", "b/Nothing", "--edit")
    #expect(none.status == .exited(1))
    #expect(none.errorText.contains("nothing was written, and no note was made"))
    #expect(!isThere("b"))
    // notes-edit(1): VISUAL counts where the terminal can show it.
    shell.environment["VISUAL"] = "false"
    #expect(try shell.notes("edit", "Rome").isSuccess)
    shell.environment["TERM"] = "xterm"
    #expect(try !shell.notes("edit", "Rome").isSuccess)
  }

  @Test(
    arguments: [
      ("sh -c 'echo half > \"$1\"; exit 3' x", "ended with status 3"),
      ("sh -c 'echo half > \"$1\"; kill -9 $$' x", "was ended by signal 9"),
      ("/no/such/editor", "cannot be started"),
    ])
  func `An editor that fails makes no version and loses nothing`(command: String, what: String)
    throws
  {
    shell.environment["EDITOR"] = command
    let result = try shell.notes("edit", "Shopping")
    #expect(result.status == .exited(1))
    #expect(result.errorText.contains(what))
    #expect(try text("Shopping.txt") == (command.hasPrefix("/") ? "milk\n" : "half\n"))
    #expect(try shell.notes("log", "Shopping", "--json").lines.count == 1)
  }

  @Test func `Without any editor, or a terminal for it, the message says what to set`() throws {
    shell.environment["PATH"] = shell.folder.path
    let none = try shell.notes("edit", "Shopping")
    #expect(
      none.errorText
        == failure("no editor was found", "set VISUAL or EDITOR to the one that you use"))
    try writeFile(shell.folder["nano"], Array("#!/bin/sh\n".utf8))
    chmod(shell.folder["nano"], 0o755)
    let blind = try shell.notes("edit", "Shopping")
    #expect(blind.errorText.contains("nano needs a terminal to edit in"))
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
    #expect(try text("Long.txt") == "ONE\ntwo\nthree\nfour\nfive\n")
  }

  @Test func `Notes and folders move, and take their history along`() throws {
    let moved = try shell.notes("mv", "Rome", "Roma").text
    #expect(moved.hasPrefix("Renamed trips/Rome.md to trips/Roma.md: version "))
    #expect(
      try shell.notes("mv", "Roma", "./Roma", "--json").text.hasPrefix(
        #"{"type":"renamed","renamed":[{"from":"trips/Roma.md","to":"Roma.md"}],"version":""#))
    #expect(!isThere("trips"))
    #expect(try shell.notes("mv", "Roma", "far/away/").isSuccess)
    #expect(
      try shell.notes("mv", "far/", "near").text.hasPrefix(
        "Renamed far/ to near/ with 1 file: version "))
    #expect(try shell.notes("mv", "near/away", "trips").isSuccess)
    #expect(try text("near/trips/Roma.md") == "forum\n")
    #expect(try shell.notes("log", "Roma", "--json").lines.count == 6)
    #expect(try text("near/trips/Roma.md") == "forum\n")
    #expect(try shell.notes("mv", "Roma", "./", in: "notes/near").isSuccess)
    #expect(try shell.notes("list", "--folder", "..", "--json", in: "notes/near").lines.count == 2)
    #expect(try shell.notes("mv", "Roma", "../near/trips/", in: "notes/near").isSuccess)
    // A title that a folder has is no way into it.
    #expect(try shell.notes("mv", "Shopping", "near").isSuccess)
    #expect(isThere("near.txt") && isThere("near/trips/Roma.md"))
    #expect(try shell.notes("mv", "near.txt", "near").text == "near.txt already has that name.\n")
  }

  @Test func `Deleted notes come back, each in its way`() throws {
    let gone = try shell.notes("rm", "Shopping", "trips/")
    #expect(gone.text.hasPrefix("Deleted 2 files: version "))
    #expect(gone.text.hasSuffix("; 'notes undo' undoes it\n"))
    #expect(!isThere("Shopping.txt") && !isThere("trips"))
    #expect(try shell.notes("restore", "Rome").text.hasPrefix("Restored trips/Rome.md as it was"))
    #expect(try text("trips/Rome.md") == "forum\n")
    // By a file manager, and not saved yet.
    try #require(unlink(shell.folder["notes/trips/Rome.md"]) == 0)
    #expect(try shell.notes("restore", "Rome", "--as", "Roma").isSuccess)
    #expect(try text("trips/Roma.md") == "forum\n")
    #expect(try shell.notes("restore", "--all", "~4", "--dry-run").text.contains("Shopping.txt"))
    #expect(!isThere("Shopping.txt"))
    #expect(try shell.notes("restore", "--all", "@~4").isSuccess)
    #expect(isThere("Shopping.txt") && isThere("trips/Rome.md") && !isThere("trips/Roma.md"))
  }

  // notes-list(1): "the notes that were deleted and did not come back".
  @Test func `What was deleted is listed until it comes back`() throws {
    func deleted(_ arguments: String...) throws -> [String] {
      let result = try run(
        [BuiltBinary.notes(), "list", "--deleted"] + arguments, in: shell.folder["notes"],
        environment: shell.environment)
      return result.lines.map { $0.split(separator: "  ").first.map(String.init) ?? "" }
    }
    #expect(try deleted() == ["No note was deleted."])
    try shell.notes("mv", "Rome", "Roma")
    try shell.notes("rm", "Shopping")
    try shell.notes("rm", "Roma", "photo.png")
    #expect(try Set(deleted()) == ["trips/Roma", "Shopping"])
    #expect(try deleted("--folder", "trips") == ["trips/Roma"])
    #expect(try deleted("shop") == ["Shopping"])
    #expect(try deleted("--attachments") == ["photo.png"])
    #expect(try deleted("--since", "2099-01-01") == ["No notes match."])
    try shell.notes("restore", "Shopping")
    try shell.notes("mv", "Shopping", "Groceries")
    #expect(try deleted() == ["trips/Roma"])
    // Not saved yet.
    try #require(unlink(shell.folder["notes/Groceries.txt"]) == 0)
    #expect(try deleted("--sort", "title") == ["Groceries", "trips/Roma"])
    #expect(try deleted("--sort", "size").isEmpty)
  }

  // notes-list(1): "The ID is an argument wherever a note is".
  @Test func `A deleted note is shown, told of and restored by its ID`() throws {
    let listed = try shell.notes("list", "shopping", "--long").text
    let id = String(listed.prefix { $0 != " " })
    try #require(id.utf8.count == 12)
    // Others whose titles have its title as a part.
    for name in ["Shopping 1", "Shopping 2"] { try shell.notes("new", name) }
    try shell.notes("rm", "Shopping")
    #expect(try shell.notes("list", "--deleted", "--long").text.hasPrefix("\(id)  Shopping.txt  "))
    #expect(
      try shell.notes("list", "--deleted", "--json").text.hasPrefix(#"{"id":"\#(id)","title":"#))
    for name in [id, "Shopping", "shopping"] {
      let shown = try shell.notes("show", name)
      #expect(shown.text == "milk\n")
      #expect(
        shown.errorText.hasPrefix(
          "notes: warning: Shopping.txt is deleted; this is its text in "))
      #expect(try shell.notes("show", name + "@~1").text == "milk\n")
      #expect(try shell.notes("blame", name).text.contains("milk"))
      #expect(try shell.notes("log", name, "--json").lines.count == 2)
      #expect(try shell.notes("diff", name, "~1").text.contains("Shopping.txt"))
    }
    #expect(try shell.notes("restore", id, "--dry-run").text.contains("Shopping.txt as it was"))
    #expect(try shell.notes("restore", id).text.hasPrefix("Restored Shopping.txt as it was in "))
    #expect(try text("Shopping.txt") == "milk\n")
    #expect(try shell.notes("show", id).errorText.isEmpty)
  }

  @Test func `The whole notebook comes back after all was deleted by mistake`() throws {
    for number in 1...12 { try shell.folder.write("\(number)\n", to: "notes/\(number).txt") }
    try #require(try shell.notes("save").isSuccess)
    for number in 1...12 { unlink(shell.folder["notes/\(number).txt"]) }
    let refused = try shell.notes("new", "Another")
    #expect(
      refused.errorText
        == failure(
          "12 of 14 notes are gone from the folder",
          "'notes restore --all' brings them back, 'notes save --allow-deletes' lets them go"))
    #expect(try shell.notes("restore", "--all").isSuccess)
    #expect(isThere("7.txt"))
    let many = try shell.notes("rm", "1", "2", "3", "4", "5", "6", "7", "8", "9")
    #expect(many.errorText.contains("this would delete 9 of 14 notes"))
    #expect(isThere("7.txt"))
    let allowed = try shell.notes(
      "rm", "1", "2", "3", "4", "5", "6", "7", "8", "9", "--allow-deletes")
    #expect(allowed.isSuccess && !isThere("7.txt"))
    #expect(try shell.notes("undo").isSuccess)
    #expect(isThere("7.txt"))
  }

  @Test func `Undo says exactly what it does`() throws {
    try #require(try shell.notes("rm", "Shopping").isSuccess)
    let trial = try shell.notes("undo", "--dry-run").text
    #expect(
      trial == "This would undo: Delete Shopping (delete, just now)\n  added  Shopping.txt\n")
    #expect(!isThere("Shopping.txt"))
    let done = try shell.notes("undo").text
    #expect(
      done.hasPrefix("Undone: Delete Shopping (delete, just now)\n  added  Shopping.txt\nVersion "))
    #expect(done.hasSuffix("; 'notes redo' redoes it\n"))
    #expect(try text("Shopping.txt") == "milk\n")
    let redone = try shell.notes("redo", "--json").text
    #expect(redone.hasPrefix(#"{"type":"redone","operations":[{"kind":"undo","time":""#))
    #expect(redone.contains(#""changes":[{"path":"Shopping.txt","kind":"deleted"}],"version":""#))
    let operations = try shell.notes("log", "--operations", "--json").lines
    #expect(operations.count == 4)
    #expect(operations[0].hasPrefix(#"{"type":"operation","kind":"redo","time":""#))
    let id = try #require(
      operations[2].firstRange(of: #""after":""#).map { operations[2][$0.upperBound...].prefix(10) }
    )
    #expect(try shell.notes("undo", String(id)).status == .exited(1))
  }

  @Test func `Lists are sorted and filtered`() throws {
    try shell.folder.write(String(repeating: "long\n", count: 100), to: "notes/trips/Athens.txt")
    func titles(_ arguments: String...) throws -> [String] {
      let result = try run(
        [BuiltBinary.notes(), "list", "--json"] + arguments, in: shell.folder["notes"],
        environment: shell.environment)
      try #require(result.isSuccess, "\(result)")
      return result.lines.map { line in
        String(
          line.firstRange(of: #""title":""#).map { line[$0.upperBound...].prefix { $0 != "\"" } }
            ?? "")
      }
    }
    #expect(try titles("--sort", "title") == ["Athens", "Rome", "Shopping"])
    #expect(try titles("--sort", "title", "-r") == ["Shopping", "Rome", "Athens"])
    #expect(try titles("--sort", "size").first == "Athens")
    #expect(try titles().first == "Athens")
    #expect(try titles("--folder", "trips", "--sort", "title") == ["Athens", "Rome"])
    #expect(try titles("--folder", "trips/", "ROM") == ["Rome"])
    #expect(try titles("--attachments") == ["photo.png"])
    #expect(try titles("--since", "yesterday").count == 3)
    #expect(try titles("--since", "2099-01-01") == ["Athens"])
    // notes-log(1): a day is counted to its end.
    #expect(try shell.notes("log", "--until", "yesterday").text == "No versions match.\n")
    #expect(
      try shell.notes("log", "--until", "today").text == shell.notes("log", "--no-pager").text)
    #expect(try shell.notes("list", "zzz").text == "No notes match.\n")
    let id = try shell.notes("list", "--json", "Rome").text.dropFirst(7).prefix(12)
    #expect(try shell.notes("show", String(id)).text == "forum\n")
  }

  @Test(.enabled(if: TestEnvironment.canRunAsNobody, "needs another user"))
  func `A folder that cannot be written stops one command, and not the next`() throws {
    try shell.becomeNobody()
    chmod(shell.folder["notes/trips"], 0o555)
    for result in [
      try shell.notes("new", "trips/Plan"), try shell.notes("mv", "Rome", "./Rome"),
      try shell.notes("rm", "Rome"),
    ] {
      #expect(
        result.errorText
          == failure(
            "write trips: permission denied",
            "let your user read and write there, and run the command again"))
    }
    #expect(try shell.notes("mv", "Shopping", "Groceries").isSuccess)
    #expect(try shell.notes("status").text.contains("Everything is saved."))
  }
}
