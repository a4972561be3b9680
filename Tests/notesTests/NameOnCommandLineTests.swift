import Glibc
import TestSupport
import Testing

/// notes(1), "Names of notes": folders and patterns, wherever notes are named.
@Suite struct NameOnCommandLineTests {
  private let daily: DailyNotebook
  private var shell: Shell { daily.shell }

  init() throws {
    daily = try DailyNotebook()
    for name in ["trips/Trip to Rome", "trips/2026/Trip to Oslo", "Tripe", "Plan"] {
      try shell.notes("new", name, input: "some forum text\n")
    }
  }

  private func lines(_ arguments: String..., in place: String = "notes") throws -> [String] {
    let result = try run(
      [BuiltBinary.notes()] + arguments, in: shell.folder[place], environment: shell.environment)
    try #require(result.isSuccess, "\(result)")
    return result.lines
  }

  private func write(_ names: String..., text: String = "new text\n") throws {
    for name in names { try shell.folder.write(text, to: "notes/" + name) }
  }

  private func changed() throws -> [String] {
    try lines("show", "--json", lines("log", "-n1", "--all", "--format", "%H")[0])[0]
      .matches(of: /"path":"([^"]+)"/).map { String($0.output.1) }
  }

  @Test func `A dot is the current folder, and at the top all of it`() throws {
    try write("Plan.txt", "trips/Rome.md", "trips/2026/Trip to Oslo.txt")
    _ = try lines("save", ".", in: "notes/trips")
    #expect(try changed() == ["trips/2026/Trip to Oslo.txt", "trips/Rome.md"])
    _ = try lines("save", ".")
    #expect(try changed() == ["Plan.txt"])
    try write("Plan.txt", "trips/2026/Trip to Oslo.txt", text: "newer text\n")
    _ = try lines("save", "trips/")
    #expect(try changed() == ["trips/2026/Trip to Oslo.txt"])
    try #require(try run(["rm", "-r", shell.folder["notes/trips/2026"]]).isSuccess)
    _ = try lines("save", "trips/2026/")
    #expect(try changed() == ["trips/2026/Trip to Oslo.txt"])
    #expect(try shell.notes("save", "nowhere/").status == .exited(1))
    // All is never deleted by a dot.
    #expect(try shell.notes("rm", ".").errorText.contains("there is no note '.'"))
  }

  // notes(1), "Names of notes": "its path, relative to the current folder … its path without the suffix"
  @Test func `A path from here needs no suffix`() throws {
    #expect(try lines("show", "./Tripe") == ["some forum text"])
    #expect(try lines("show", "../Plan", in: "notes/trips") == ["some forum text"])
    #expect(try lines("show", "./2026/Trip to Oslo", in: "notes/trips") == ["some forum text"])
    let gone = try shell.notes("show", "./Nothing")
    #expect(gone.errorText.contains("there is no note 'Nothing'"), "\(gone)")
  }

  @Test func `The log of a folder has what changed in it, and no more`() throws {
    try write("Plan.txt", "trips/Rome.md")
    _ = try lines("save")
    let whole = try lines("log", "--json").count
    for name in ["trips/", "trips"] {
      let found = try lines("log", name, "--json")
      #expect(found.count < whole && found.count == 4)
      #expect(!found.joined().contains("Plan.txt") && found[0].contains("trips/Rome.md"))
    }
    #expect(try lines("log", ".", "--json").count == whole)
    #expect(try lines("log", ".", "--json", in: "notes/trips/2026").count == 1)
    let graph = try shell.notes("log", "trips/", "--graph")
    #expect(graph.status == .exited(64))
    #expect(graph.errorText.contains("--graph goes with a note, not with a folder"))
  }

  @Test func `Lists end where one says, and take folders and patterns`() throws {
    func titles(_ arguments: String...) throws -> [String] {
      try run(
        [BuiltBinary.notes(), "list", "--json", "--sort", "title"] + arguments,
        in: shell.folder["notes"], environment: shell.environment
      ).lines.map { String($0.firstMatch(of: /"title":"([^"]*)"/)?.output.1 ?? "") }
    }
    #expect(try titles("-n", "2") == ["Plan", "Rome"])
    #expect(try titles("trips/") == ["Rome", "Trip to Oslo", "Trip to Rome"])
    #expect(try titles("trip*") == ["Trip to Oslo", "Trip to Rome", "Tripe"])
    #expect(try titles("trips/*") == ["Rome", "Trip to Rome"])
    #expect(try titles("*.md") == ["Rome"])
    #expect(try shell.notes("list", "-n", "0").status == .exited(64))
    #expect(try lines("search", "forum", "trips/2026/").joined().contains("Oslo"))
    #expect(try !lines("search", "forum", "trips/").joined().contains("Plan"))
    #expect(try lines("search", "forum", "--folder", "trips/2026", "--json").count == 1)
    #expect(try lines("search", "forum", ".", "--json", in: "notes/trips").count == 3)
    // What names no folder is looked for.
    #expect(try lines("search", "forum", "and/or/")[0] == "No note contains 'forum' and 'and/or/'.")
  }

  @Test func `Patterns name several notes where several are taken`() throws {
    let gone = try shell.notes("rm", "Trip to*")
    let names = "trips/2026/Trip to Oslo.txt and trips/Trip to Rome.txt"
    #expect(gone.text.hasPrefix("Deleted \(names): version "), "\(gone)")
    #expect(daily.isThere("Tripe.txt") && !daily.isThere("trips/Trip to Rome.txt"))
    try write("Plan.txt", "Tripe.txt")
    _ = try lines("save", "Pl*")
    #expect(try changed() == ["Plan.txt"])
    let none = try shell.notes("rm", "nothing*")
    #expect(none.errorText.contains("there is no note 'nothing*'"))
    // A note whose name has such a sign is itself.
    try shell.notes("new", "Why?")
    try shell.notes("new", "Whys")
    #expect(try shell.notes("rm", "Why?").isSuccess)
    #expect(daily.isThere("Whys.txt") && !daily.isThere("Why?.txt"))
  }

  @Test func `Several notes are edited at once, and saved as one version`() throws {
    var environment = shell.environment
    environment["EDITOR"] = "sh -c 'for f; do echo edited >>\"$f\"; done' editor"
    let done = try run(
      [BuiltBinary.notes(), "edit", "Plan", "trip to*", "plan", "--json"],
      in: shell.folder["notes"], environment: environment)
    #expect(done.isSuccess, "\(done)")
    #expect(done.lines.count == 3)
    #expect(Set(done.lines.map { $0.suffix(45) }).count == 1)
    #expect(try changed().count == 3)
    #expect(try daily.text("Plan.txt") == "some forum text\nedited\n")
    let missing = try run(
      [BuiltBinary.notes(), "edit", "Plan", "Nope"], in: shell.folder["notes"],
      environment: environment)
    #expect(missing.errorText.contains("there is no note 'Nope'"))
    #expect(try daily.text("Plan.txt") == "some forum text\nedited\n")
  }
}
