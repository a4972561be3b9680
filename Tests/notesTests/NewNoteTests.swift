import TestSupport
import Testing

@testable import notes

/// Making notes, adding to them, and the notebook that is meant: notes-new(1), notes-add(1), notes-notebooks(1).
@Suite struct NewNoteTests {
  private let daily: DailyNotebook
  private var shell: Shell { daily.shell }

  init() throws { daily = try DailyNotebook() }

  @Test func `A note is made from standard input, in the current folder`() throws {
    let made = try shell.notes("new", "Plan", in: "notes/trips", input: "first\n")
    #expect(made.text.hasPrefix("Added trips/Plan.txt: version ") && made.isSuccess)
    #expect(try daily.text("trips/Plan.txt") == "first\n")
    #expect(try shell.notes("new", "../Top.md", in: "notes/trips", input: "x").isSuccess)
    #expect(try daily.text("Top.md") == "x")
    #expect(
      try shell.notes("new", "/Top").errorText.contains(
        "'/Top' cannot be a title: it is an absolute path"))
    #expect(try shell.notes("new", "--", "-dash").isSuccess)
    #expect(try daily.text("-dash.txt").isEmpty)
    let line = try shell.notes("new", "a/b/Deep", "--json").text
    #expect(line.hasPrefix(#"{"type":"created","path":"a/b/Deep.txt","version":""#))
    #expect(try shell.notes("status").text.contains("Everything is saved."))
  }

  @Test func `Text is appended on lines of its own`() throws {
    #expect(
      try shell.notes("add", "shopping", "oat", "milk").text.hasPrefix("Added to Shopping.txt: "))
    #expect(try shell.notes("add", "Shopping", input: "eggs\nham").isSuccess)
    #expect(try daily.text("Shopping.txt") == "milk\noat milk\neggs\nham\n")
    try shell.folder.write("a\r\nb", to: "notes/Dos.txt")
    #expect(try shell.notes("add", "Dos", "c").isSuccess)
    #expect(try daily.text("Dos.txt") == "a\r\nb\nc\n")
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
      #expect(try daily.text("journal/\(day).txt") == whole)
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
}
