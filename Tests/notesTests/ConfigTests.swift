import Notebook
import TestSupport
import Testing

@testable import notes

/// notes-config(1), and the notebooks that notes-watch(1), --all, goes by.
@Suite struct ConfigTests {
  let shell: Shell

  init() throws { shell = try Shell() }

  private func expectValue(
    _ value: String, of name: String, _ location: SourceLocation = #_sourceLocation
  ) throws {
    let result = try shell.notes("config", name)
    #expect(result.text == value + "\n", sourceLocation: location)
  }

  @Test func `A setting is set, shown and taken away`() throws {
    try expectValue("*:0", of: "listen")
    #expect(try shell.notes("config", "listen", "127.0.0.1:4711").isSuccess)
    try expectValue("127.0.0.1:4711", of: "listen")
    #expect(try shell.notes("config", "--unset", "listen").isSuccess)
    try expectValue("*:0", of: "listen")
    let unset = try shell.notes("config", "on-change")
    #expect(unset.status == .exited(1))
    #expect(unset.errorText.hasPrefix("notes: error: on-change is not set\n"))
  }

  // notes-config(1): "Setting it also renames the device in the notebooks here that it founded".
  @Test func `The device's new name is that of its notebooks, and of the versions before`() throws {
    try shell.folder.write("one\n", to: "notes/A.txt")
    try shell.initialise()
    let bob = try Shell()
    try bob.join(shell, as: "bob")
    try makeFolder(shell.folder["second"])
    try shell.folder.write("two\n", to: "second/B.txt")
    try #require(
      try shell.notes("init", "--name", "Second", "--device-name", "laptop", in: "second").isSuccess
    )
    let set = try shell.notes("config", "device-name", "desk")
    #expect(
      set.text
        == "New notebooks call this device desk.\nHome and Second use this name from now on; "
        + "other devices learn the new name at their next sync.\n", "\(set)")
    #expect(try shell.notes("members", in: "second").text.contains("desk"))
    let id = try #require(try JSONValue.lines(shell.notes("log", "--json").text).first?["id"])
    for command in [["log"], ["blame", "A"], ["list", "--long"]] {
      let shown = try run(
        [BuiltBinary.notes()] + command, in: shell.folder["notes"], environment: shell.environment)
      #expect(shown.text.contains("desk") && !shown.text.contains("laptop"), "\(shown)")
    }
    for command in [["log"], ["blame", "A"], ["list"], ["show", id]] {
      let told = try run(
        [BuiltBinary.notes()] + command + ["--json"], in: shell.folder["notes"],
        environment: shell.environment)
      #expect(
        told.text.contains(#""author":"desk","author_then":"laptop""#), "\(told)")
    }
    #expect(try shell.notes("show", id).text.contains("called laptop then"))
    let left = try bob.notes("config", "device-name", "phone")
    #expect(
      left.text.contains(
        "In Home it is still bob: laptop renames it with 'notes members rename bob phone'."),
      "\(left)")
    let taken = try shell.notes("config", "device-name", "bob")
    #expect(
      taken.text.contains("In Home another device already has the name bob: this one stays desk."),
      "\(taken)")
    #expect(taken.text.contains("Second uses this name"), "\(taken)")
    #expect(try shell.notes("config", "--unset", "device-name").isSuccess)
    #expect(try shell.notes("members", in: "second").text.contains("bob"))
  }

  // notes-config(1): "executable-files … of the notebook at hand".
  @Test func `Whether received files become executable is the notebook's setting`() throws {
    try shell.initialise()
    try expectValue("false", of: "executable-files")
    let refused = try shell.notes("config", "executable-files", "maybe")
    #expect(refused.status == .exited(64))
    #expect(refused.errorText.contains("'maybe' is neither true nor false"))
    #expect(refused.errorText.contains("hint: 'notes config executable-files true' lets"))
    #expect(try shell.notes("config", "executable-files", "true").isSuccess)
    try expectValue("true", of: "executable-files")
    #expect(try shell.folder.text("notes/.git/config").contains("executableFiles = true"))
    #expect(try shell.notes("config", "--unset", "executable-files").isSuccess)
    try expectValue("false", of: "executable-files")
  }

  // notes-config(1): "What the notebook at hand is called, on all devices".
  @Test func `An admin gives the notebook another name`() throws {
    try shell.initialise()
    try expectValue("Home", of: "name")
    let set = try shell.notes("config", "name", "Our home", "--json").text
    #expect(
      set
        == #"{"type":"setting","name":"name","value":"Our home","default":null,"scope":"members"}"#
        + "\n")
    try expectValue("Our home", of: "name")
    #expect(try shell.notes("status").text.hasPrefix("Our home"))
    #expect(try shell.notes("notebooks").text.hasPrefix("Our home"))
    #expect(
      try shell.notes("members").isSuccess && shell.notes("doctor", "--no-discovery").isSuccess)
    let refused = try shell.notes("config", "name", "a/b")
    #expect(!refused.isSuccess, "\(refused)")
    let unset = try shell.notes("config", "--unset", "name")
    #expect(
      unset.status == .exited(64) && unset.errorText.contains("a notebook needs a name"))
    try expectValue("Our home", of: "name")
  }

  @Test func `A size that no device takes is refused, and the limit named`() throws {
    try shell.initialise()
    let refused = try shell.notes("config", "max-file-size", "100m")
    #expect(refused.status == .exited(64))
    #expect(refused.errorText.contains("'100m' is above 64m, the most that devices accept"))
    #expect(try shell.notes("config", "max-file-size", "64m").isSuccess)
    try expectValue("64m", of: "max-file-size")
  }

  // "if a name has several lines, the last one counts; comments begin with #"
  @Test func `What else is in the file stays as it was`() throws {
    let before = "# mine\nlisten = *:1\n\nfuture = x = y\n on-change=a\nlisten = *:2\n"
    try shell.folder.write(before, to: "home/.config/notes/config")
    try expectValue("*:2", of: "listen")
    try shell.notes("config", "listen", "*:3")
    try shell.notes("config", "on-conflict", "echo '$NOTES_PATHS' = \"#\"")
    #expect(
      try shell.folder.text("home/.config/notes/config") == """
        # mine

        future = x = y
         on-change=a
        listen = *:3
        on-conflict = echo '$NOTES_PATHS' = "#"

        """)
    try expectValue("echo '$NOTES_PATHS' = \"#\"", of: "on-conflict")
    try shell.notes("config", "--unset", "listen")
    #expect(try !shell.folder.text("home/.config/notes/config").contains("listen"))
  }

  @Test(
    arguments: [
      ["listen", "here"], ["listen", "*:70000"], ["device-name", "a/b"], ["on-change", " "],
      ["on-change", "a\nb"], ["max-file-size", "big"], ["max-file-size", "0"], ["lisen", "*:1"],
      ["--unset"], ["--unset", "listen", "*:1"],
    ])
  func `A value that cannot be meant is refused`(words: [String]) throws {
    try shell.initialise()
    let result = try run(
      [BuiltBinary.notes(), "config"] + words, in: shell.folder["notes"],
      environment: shell.environment)
    #expect(result.status == .exited(64))
    #expect(result.output.isEmpty)
    #expect(try !run(["ls", shell.folder["home/.config/notes/config"]]).isSuccess)
  }

  @Test func `The largest file is a setting of the notebook`() throws {
    #expect(try shell.notes("config", "max-file-size", "1k").status == .exited(2))
    try shell.initialise()
    try expectValue("50m", of: "max-file-size")
    #expect(try shell.notes("config", "max-file-size", "1k").isSuccess)
    try shell.folder.write(String(repeating: "x", count: 1_025), to: "notes/Big.txt")
    try shell.notes("save")
    #expect(try shell.notes("list").text.contains("Big") == false)
    #expect(try shell.notes("config", "--unset", "max-file-size").isSuccess)
    try shell.notes("save")
    #expect(try shell.notes("list").text.contains("Big"))
  }

  @Test func `All are listed, for people and for programs`() throws {
    try shell.initialise()
    try shell.notes("config", "on-change", "true")
    let lines = try shell.notes("config").lines
    #expect(lines.count == Setting.allCases.count)
    #expect(lines.contains("on-change         true"))
    #expect(lines.contains("listen            *:0 (by default)"))
    #expect(lines.contains("on-conflict       not set"))
    let json = try shell.notes("config", "--json").lines
    #expect(
      json.contains(
        #"{"type":"setting","name":"on-change","value":"true","default":null,"scope":"user"}"#))
    #expect(
      json.contains(
        #"{"type":"setting","name":"max-file-size","value":null,"default":"50m","scope":"notebook"}"#
      ))
  }

  @Test func `Notebooks that were made are known, each at its last place that is there`() throws {
    try shell.initialise()
    let known = KnownNotebooks(dataFolder: shell.folder["home/.local/share/notes"])
    let first = try run(["realpath", shell.folder["notes"]]).lines
    #expect(known.folders() == first)
    try makeFolder(shell.folder["other"])
    #expect(try shell.notes("init", in: "other").isSuccess)
    try shell.notes("init", in: "other")
    #expect(known.folders().count == 2)
    let list = try shell.folder.text("home/.local/share/notes/notebooks")
    let id = try #require(list.split(separator: " ").first)
    try shell.folder.write(list + "\(id) /nowhere\n", to: "home/.local/share/notes/notebooks")
    #expect(known.folders().first == first.first)
    let none = try Shell()
    let result = try none.notes("watch", "--all")
    #expect(result.errorText.hasPrefix("notes: error: this device knows no notebook\n"))
  }
}
