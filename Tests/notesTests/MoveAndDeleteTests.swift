import Glibc
import TestSupport
import Testing

/// Notes that move, go, and come back: notes-mv(1), notes-rm(1), notes-restore(1), notes-undo(1).
@Suite struct MoveAndDeleteTests {
  private let daily: DailyNotebook
  private var shell: Shell { daily.shell }

  init() throws { daily = try DailyNotebook() }

  @Test func `Notes and folders move, and take their history along`() throws {
    let moved = try shell.notes("mv", "Rome", "Roma").text
    #expect(moved.hasPrefix("Renamed trips/Rome.md to trips/Roma.md: version "))
    #expect(
      try shell.notes("mv", "Roma", "./Roma", "--json").text.hasPrefix(
        #"{"type":"renamed","renamed":[{"from":"trips/Roma.md","to":"Roma.md"}],"version":""#))
    #expect(!daily.isThere("trips"))
    #expect(try shell.notes("mv", "Roma", "far/away/").isSuccess)
    #expect(
      try shell.notes("mv", "far/", "near").text.hasPrefix(
        "Renamed far/ to near/ with 1 file: version "))
    #expect(try shell.notes("mv", "near/away", "trips").isSuccess)
    #expect(try daily.text("near/trips/Roma.md") == "forum\n")
    #expect(try shell.notes("log", "Roma", "--json").lines.count == 6)
    #expect(try daily.text("near/trips/Roma.md") == "forum\n")
    #expect(try shell.notes("mv", "Roma", "./", in: "notes/near").isSuccess)
    #expect(try shell.notes("list", "--folder", "..", "--json", in: "notes/near").lines.count == 2)
    #expect(try shell.notes("mv", "Roma", "../near/trips/", in: "notes/near").isSuccess)
    // A title that a folder has is no way into it.
    #expect(try shell.notes("mv", "Shopping", "near").isSuccess)
    #expect(daily.isThere("near.txt") && daily.isThere("near/trips/Roma.md"))
    #expect(try shell.notes("mv", "near.txt", "near").text == "near.txt already has that name.\n")
  }

  // notes-mv(1): "Several notes, or the notes that a pattern names, move to a folder as one version, or none does."
  @Test func `Several notes move as one version, or none does`() throws {
    for name in ["Plan A", "Plan B"] { try shell.notes("new", name) }
    let before = try shell.notes("log", "--json").lines.count
    let moved = try shell.notes("mv", "Plan*", "Shopping", "archive/")
    #expect(moved.text.hasPrefix("Moved 3 files to archive/: version "))
    #expect(daily.isThere("archive/Plan A.txt") && daily.isThere("archive/Shopping.txt"))
    #expect(try shell.notes("log", "--json").lines.count == before + 1)
    #expect(try shell.notes("log", "archive/Plan B", "--json").lines.count == 2)
    try shell.notes("new", "Plan A")
    let refused = try shell.notes("mv", "archive/Plan*", "./")
    #expect(refused.status == .exited(1) && refused.errorText.contains("Plan A.txt"))
    #expect(daily.isThere("archive/Plan B.txt"))
    let unclear = try shell.notes("mv", "archive/Plan*", "Other")
    #expect(unclear.status == .exited(64))
    #expect(unclear.errorText.contains("notes: hint: to name a folder, add a slash at its end"))
    #expect(try shell.notes("mv", "Shopping").status == .exited(64))
    #expect(try shell.notes("undo").isSuccess && shell.notes("undo").isSuccess)
    #expect(daily.isThere("Shopping.txt"))
  }

  // notes-mv(1): "The command does not move a file to a name that is not versioned".
  @Test(arguments: ["private/", "away/", ".hidden/"])
  func `A note does not move to where new files are kept back`(place: String) throws {
    try shell.folder.write("private/\n/away/Rome.md\n", to: "notes/.gitignore")
    try shell.folder.write("mine\n", to: "notes/private/diary.txt")
    try shell.folder.write("mine\n", to: "notes/.hidden/diary.txt")
    try shell.notes("save")
    for note in ["Rome", "trips/"] {
      let move = try shell.notes("mv", note, note == "trips/" && place == "away/" ? "away" : place)
      #expect(move.status == .exited(64), "\(move)")
      #expect(move.errorText.contains("ignored by") || move.errorText.contains("not versioned"))
    }
    #expect(try daily.text("trips/Rome.md") == "forum\n")
  }

  @Test func `Deleted notes come back, each in its way`() throws {
    let gone = try shell.notes("rm", "Shopping", "trips/")
    #expect(gone.text.hasPrefix("Deleted Shopping.txt and trips/Rome.md: version "))
    #expect(gone.text.hasSuffix("; 'notes undo' undoes it\n"))
    #expect(!daily.isThere("Shopping.txt") && !daily.isThere("trips"))
    #expect(try shell.notes("restore", "Rome").text.hasPrefix("Restored trips/Rome.md as it was"))
    #expect(try daily.text("trips/Rome.md") == "forum\n")
    // By a file manager, and not saved yet.
    try #require(unlink(shell.folder["notes/trips/Rome.md"]) == 0)
    #expect(try shell.notes("restore", "Rome", "--as", "Roma").isSuccess)
    #expect(try daily.text("trips/Roma.md") == "forum\n")
    #expect(try shell.notes("restore", "--all", "~4", "--dry-run").text.contains("Shopping.txt"))
    #expect(!daily.isThere("Shopping.txt"))
    #expect(try shell.notes("restore", "--all", "@~4").isSuccess)
    #expect(
      daily.isThere("Shopping.txt") && daily.isThere("trips/Rome.md")
        && !daily.isThere("trips/Roma.md"))
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
      try shell.notes("list", "--deleted", "--json").text.hasPrefix(
        #"{"type":"note","id":"\#(id)","title":"#))
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
    #expect(try daily.text("Shopping.txt") == "milk\n")
    #expect(try shell.notes("show", id).errorText.isEmpty)
  }

  @Test func `The whole notebook comes back after all was deleted by mistake`() throws {
    for number in 1...12 { try shell.folder.write("\(number)\n", to: "notes/\(number).txt") }
    try #require(try shell.notes("save").isSuccess)
    for number in 1...12 { unlink(shell.folder["notes/\(number).txt"]) }
    let refused = try shell.notes("new", "Another")
    #expect(
      refused.errorText
        == DailyNotebook.failure(
          "12 of 14 notes are gone from the folder",
          "'notes restore --all' brings them back, 'notes save --allow-deletes' deletes them"))
    #expect(try shell.notes("restore", "--all").isSuccess)
    #expect(daily.isThere("7.txt"))
    let many = try shell.notes("rm", "1", "2", "3", "4", "5", "6", "7", "8", "9")
    #expect(many.errorText.contains("this would delete 9 of 14 notes"))
    #expect(daily.isThere("7.txt"))
    let allowed = try shell.notes(
      "rm", "1", "2", "3", "4", "5", "6", "7", "8", "9", "--allow-deletes")
    #expect(allowed.isSuccess && !daily.isThere("7.txt"))
    #expect(try shell.notes("undo").isSuccess)
    #expect(daily.isThere("7.txt"))
  }

  @Test func `Undo says exactly what it does`() throws {
    try #require(try shell.notes("rm", "Shopping").isSuccess)
    let trial = try shell.notes("undo", "--dry-run").text
    #expect(
      trial == "This would undo: Delete Shopping (delete, just now)\n  added  Shopping.txt\n")
    #expect(!daily.isThere("Shopping.txt"))
    let done = try shell.notes("undo").text
    #expect(
      done.hasPrefix("Undone: Delete Shopping (delete, just now)\n  added  Shopping.txt\nVersion "))
    #expect(done.hasSuffix("; 'notes redo' redoes it\n"))
    #expect(try daily.text("Shopping.txt") == "milk\n")
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
}
