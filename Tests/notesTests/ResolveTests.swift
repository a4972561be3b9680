import Git
import Glibc
import History
import Notebook
import TestSupport
import Testing

@testable import notes

/// `notes resolve`: block by block, by number, and with a merge tool.
@Suite(.serialized) struct ResolveTests {
  private let fixture: ReportFixture
  private let home: TemporaryFolder
  private var environment: [String: String]

  init() throws {
    fixture = try ReportFixture()
    home = try TemporaryFolder()
    environment = try TestEnvironment.isolated(home: home["home"])
    let (top, middle) = ("# Plan\n\nfirst\n", "\nIn between\nstand\nlines\n\n")
    try fixture.save(
      [("Plan.txt", "\(top)buy bread today\n\(middle)one\nend\n")], at: 1_700_000_000)
    try fixture.save(
      [("Plan.txt", "\(top)buy white bread today\n\(middle)ONE\nend\n")], at: 1_700_003_600)
    try fixture.meet(
      "Ben", [("Plan.txt", "\(top)buy brown bread today\n\(middle)eins\nend\n")],
      at: 1_700_007_200)
  }

  private func resolve(_ arguments: String...) throws -> ProcessResult {
    try run(
      [BuiltBinary.notes(), "resolve"] + arguments, in: fixture.folder.path,
      environment: environment)
  }

  private var text: String { get throws { try fixture.folder.text("Plan.txt") } }

  private func screen(_ arguments: String...) throws -> TmuxScreen {
    let script = #"program=$0; "$program" "$@"; echo "left with $?"; read -r line"#
    return try TmuxScreen(
      ["bash", "--norc", "-c", script, BuiltBinary.notes()] + arguments, home: home["home"],
      in: fixture.folder.path, environment: environment)
  }

  @Test func `A block shows its sides with the words that differ`() throws {
    let note = try fixture.notebook.conflictedNote(at: "Plan.txt")
    try Golden.screens("resolve-block") { terminal in
      note.blocks.indices.map { BlockText(note: note, number: $0, writers: [:]).text(on: terminal) }
        .joined()
    }
  }

  @Test(arguments: [
    ("o", 2, ConflictWalk.Answer.side(0)), (" N ", 2, .side(1)), ("newer", 3, .side(2)),
    ("2", 3, .side(1)), ("2", 2, nil), ("4", 3, nil), ("0", 3, nil), ("b", 2, .both),
    ("e", 2, .edit), ("s", 2, .skip), ("q", 2, .quit), ("?", 2, .help), ("", 2, nil),
    ("x", 2, nil),
  ])
  func `Answers are read`(typed: String, sides: Int, expected: ConflictWalk.Answer?) {
    #expect(ConflictWalk.Answer(typed, sides: sides) == expected)
  }

  @Test func `Each block is asked about, and one version is made`() throws {
    let screen = try screen("resolve", "plan")
    try screen.wait(for: "block 1 of 2, line 4")
    try screen.type("what\n")
    try screen.wait(for: "s  skip it: the block stays")
    try screen.type("n\n")
    try screen.wait(for: "block 2 of 2, line 14")
    // Somebody writes into the note meanwhile.
    try fixture.folder.write(text + "typed\n", to: "Plan.txt")
    try screen.type("b\n")
    let left = try screen.wait(for: "left with 0")
    #expect(left.contains("Resolved Plan.txt."))
    let all = try text
    #expect(all.contains("buy brown bread today\n") && all.hasSuffix("ONE\neins\nend\ntyped\n"))
    #expect(try fixture.notebook.history.conflicts().isEmpty)
  }

  @Test func `A block is edited, skipped, or left for later`() throws {
    let walk = try TmuxScreen(
      [
        "bash", "--norc", "-c",
        #"EDITOR='echo mine >' VISUAL= "$0" resolve; echo "left with $?"; read -r line"#,
        BuiltBinary.notes(),
      ], home: home["home"], in: fixture.folder.path, environment: environment)
    try walk.wait(for: "block 1 of 2")
    try walk.type("s\n")
    try walk.wait(for: "block 2 of 2")
    try walk.type("e\n")
    let left = try walk.wait(for: "left with 0")
    #expect(left.contains("Resolved part of Plan.txt; 1 block left."))
    #expect(try text.hasSuffix("lines\n\nmine\nend\n"))
    let second = try screen("resolve")
    try second.wait(for: "block 1 of 1")
    try second.type("q\n")
    #expect(try second.wait(for: "left with 0").contains("Nothing changed in Plan.txt."))
    #expect(try text.contains("<<<<<<< Ann"))
    // Nothing is left of the files that editors had.
    let state = try run(["ls", fixture.folder[".git/notes"]]).lines
    #expect(!state.contains { $0.hasPrefix("resolve") })
  }

  @Test func `The browser settles a conflict, too`() throws {
    let screen = try screen("browse")
    try screen.wait(for: "> ! Plan")
    try screen.press("s")
    try screen.wait(for: "block 1 of 2")
    try screen.type("o\n")
    try screen.wait(for: "block 2 of 2")
    try screen.type("o\n")
    try screen.wait(for: "Press Enter to go back")
    try screen.press("Enter")
    try screen.wait(for: "> Plan ")
    #expect(try text.hasSuffix("ONE\nend\n"))
    try screen.press("s")
    try screen.wait(for: "the note is not in conflict")
    try screen.press("q")
    try screen.wait(for: "left with 0")
  }

  @Test func `A merge tool gets the three texts and leaves the fourth`() throws {
    let seen = home.path
    let command = """
      for f in LOCAL BASE REMOTE MERGED; do eval "cp \\"\\$$f\\" '\(seen)/$f'"; done
      sed -i 's/TODAY/today/' "$MERGED"; printf 'settled\\n' >"$MERGED"
      """
    let done = try resolve("Plan", "--tool", command, "--json")
    #expect(done.isSuccess, "\(done)")
    #expect(done.text.hasSuffix(#","blocks":0,"conflicts":0}"# + "\n"))
    #expect(try text == "settled\n")
    #expect(try home.text("LOCAL").contains("white") && home.text("LOCAL").contains("ONE"))
    #expect(try home.text("REMOTE").contains("brown") && home.text("REMOTE").contains("eins"))
    #expect(try home.text("BASE").contains("buy bread today\n"))
    #expect(try home.text("MERGED").contains("<<<<<<< Ann"))
  }

  /// notes-merge(7), "The stale editor": "Every command that writes first saves the folder by these rules, and
  /// then writes on the result." The tool's text is of the version that it was given.
  @Test func `What is written while a merge tool runs stays beside its text`() throws {
    let notes = try BuiltBinary.notes()
    let command = """
      sed 's/^stand/stand, said an editor/' Plan.txt >Plan.new && mv Plan.new Plan.txt
      '\(notes)' add Plan 'appended by a command' >'\(home["said"])' 2>&1
      sed -i 's/^first/FIRST/' "$MERGED"
      """
    let done = try resolve("Plan", "--tool", command)
    #expect(done.isSuccess, "\(done)")
    let left = try text
    for line in ["FIRST", "stand, said an editor", "appended by a command"] {
      #expect(left.contains(line + "\n"), "\(line) in:\n\(left)")
    }
  }

  @Test(arguments: [
    ("exit 3", "ended with status 3"), ("kill -9 $$", "was killed by signal 9"),
    ("/no/such/tool", "cannot be started"),
  ])
  func `A tool that fails changes nothing`(command: String, what: String) throws {
    let before = try text
    let failed = try resolve("Plan", "--tool", "printf typed >\"$MERGED\"; " + command)
    #expect(failed.status == .exited(1) && failed.errorText.contains(what), "\(failed)")
    #expect(failed.errorText.contains("the merge tool 'printf typed"))
    #expect(try text == before)
    // What it wrote is not lost.
    let file = try #require(failed.errorText.firstMatch(of: /your text is in (\S+)/)).output
      .1
    #expect(try readFile(String(file)) == Array("typed".utf8))
    #expect(try resolve("Plan", "--tool", "true").text.hasPrefix("Nothing changed in Plan.txt."))
  }

  // notes-protocol(7), PACKS: "A device itself saves no file that exceeds a limit of bytes,
  // names, paths or counts".
  @Test func `A tool's text that no device accepts changes nothing`() throws {
    let before = try text
    let failed = try resolve("Plan", "--tool", "truncate -s 65M \"$MERGED\"")
    #expect(failed.status == .exited(1), "\(failed)")
    #expect(failed.errorText.contains("write Plan.txt: file too large"))
    #expect(try text == before)
    #expect(failed.errorText.contains("your text is in "))
  }

  @Test(
    arguments: [
      (["Plan"], 64, "cannot ask without a terminal: say which text to keep with --keep"),
      (["Free"], 1, "Free.txt has no conflict"),
      (["Plan", "--block", "3", "--keep", "older"], 1, "Plan.txt has no block 3: it has 2 blocks"),
      (["Plan", "--block", "0", "--keep", "older"], 64, "--block takes a number from 1 on"),
      (["Plan", "--tool", "true", "--keep", "older"], 64, "--keep does not go with --tool"),
      (["Plan", "--block", "1"], 64, "--block goes with --keep"),
      (["--keep", "older"], 64, "say which note to resolve"),
      (["Plan", "--keep", "Eve"], 1, "'Eve' wrote none of the texts"),
    ] as [([String], Int32, String)])
  func `Mistakes are told`(arguments: [String], status: Int32, message: String) throws {
    try fixture.folder.write("free\n", to: "Free.txt")
    let failed = try run(
      [BuiltBinary.notes(), "resolve"] + arguments, in: fixture.folder.path,
      environment: environment)
    #expect(failed.status == .exited(status), "\(failed)")
    #expect(failed.errorText.hasPrefix("notes: error: \(message)"), "\(failed)")
    #expect(failed.errorText.contains("notes: hint: "))
  }

  @Test func `Where there is nothing to settle, no terminal is needed`() throws {
    #expect(try resolve().errorText.contains("cannot ask without a terminal"))
    for block in ["1", "1"] {
      try #require(try resolve("Plan", "--block", block, "--keep", "older").isSuccess)
    }
    let settled = try resolve()
    #expect(settled.isSuccess && settled.text == "No conflicts.\n", "\(settled)")
  }

  // notes-resolve(1): "A block of three or more sides is no work for a tool of two."
  @Test func `Three sides are shown by number, and are no work for a tool`() throws {
    try fixture.meet(
      "Cyd",
      [
        (
          "Plan.txt",
          "# Plan\n\nfirst\nbuy rye bread today\n\nIn between\nstand\nlines\n\none\nend\n"
        )
      ],
      at: 1_700_009_000)
    let failed = try resolve("Plan", "--tool", "true")
    #expect(
      failed.errorText.contains("block 1 of Plan.txt has 3 sides; a merge tool works with two"),
      "\(failed)")
    let told = try resolve("Plan", "--tool", "true", "--json")
    #expect(told.errorText.contains(#""kind":"tool_failed""#))
    let unknown = try resolve("Plan", "--block", "9", "--keep", "both", "--json")
    #expect(unknown.errorText.contains(#""kind":"no_such_block""#))
    let note = try fixture.notebook.conflictedNote(at: "Plan.txt")
    let shown = BlockText(note: note, number: 0, writers: [:]).text(on: .plain)
    #expect(shown.contains("  1 oldest  Ann") && shown.contains("  3 newest  Cyd"), "\(shown)")
    #expect(try resolve("Plan", "--keep", "Cyd", "--block", "1").isSuccess)
    #expect(try text.contains("first\nbuy rye bread today\n"))
  }
}
