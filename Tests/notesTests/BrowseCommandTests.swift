import Glibc
import TestSupport
import Testing

/// `notes browse` on a real terminal.
@Suite(.serialized) struct BrowseCommandTests {
  private let shell: Shell

  init() throws {
    shell = try Shell()
    try shell.folder.write("milk\n", to: "notes/Shopping.txt")
    try shell.folder.write("# Soup\nleeks \u{1B}]0;evil\u{7}\n", to: "notes/recipes/Soup.md")
    try shell.initialise()
    try shell.folder.write("milk\neggs\n", to: "notes/Shopping.txt")
    try shell.notes("save")
  }

  private func browse(columns: Int = 80, rows: Int = 24) throws -> TmuxScreen {
    // The shell around it tells how it ended, and whether the terminal is as it was.
    let script = #"""
      stty -g >"$HOME/before"; "$0" browse; echo "left with $?"; stty -g >"$HOME/after"
      cmp "$HOME/before" "$HOME/after" && echo "as before"; read -r line; echo "read $line"
      # At its end tmux may lose what it wrote last.
      read -r line
      """#
    return try shell.screen(
      ["bash", "--norc", "-c", script, BuiltBinary.notes()], columns: columns, rows: rows)
  }

  private func expectRestored(_ screen: TmuxScreen, status: Int) throws {
    try screen.wait(for: "left with \(status)")
    try screen.wait(for: "as before")
    #expect(try screen.value(of: "alternate_on") == "0")
    #expect(try screen.value(of: "cursor_flag") == "1")
    try screen.type("back")
    try screen.press("Enter")
    try screen.wait(for: "read back")
  }

  /// The process that has the terminal.
  private func process(_ screen: TmuxScreen) throws -> pid_t {
    let parent = try screen.value(of: "pane_pid")
    let found = try run(["pgrep", "-P", parent, "-x", "notes"])
    return try #require(pid_t(found.lines.first ?? ""), "\(found)")
  }

  @Test func `Notes are filtered, versions looked at, restored and copied`() throws {
    let screen = try browse()
    try screen.wait(for: "> Shopping")
    #expect(try screen.wait(for: "│ eggs").contains("Home · 2 notes"))
    try screen.press("/")
    try screen.type("sou")
    let soup = try screen.wait(for: "leeks \\u{1b}]0;evil\\u{7}")
    #expect(soup.contains("1 of 2 notes  /sou_") && soup.contains("> recipes/Soup"))
    try screen.press("Escape")
    try screen.wait(for: "> Shopping")
    try screen.press("Enter")
    // What the last version changed.
    try screen.wait(for: "+eggs")
    try screen.press("Down")
    try screen.wait(for: "+milk")
    try screen.press("d")
    try screen.wait(for: "│ milk")
    try screen.press("c")
    try screen.wait(for: "copied to Shopping (")
    try screen.press("Down", "r")
    try screen.wait(for: "restored as it was in")
    #expect(try shell.folder.text("notes/Shopping.txt") == "milk\n")
    let titles = try shell.notes("list", "--json").lines
    #expect(titles.count == 3)
    try screen.press("q")
    try expectRestored(screen, status: 0)
  }

  @Test func `It follows changes, searches texts, edits, makes and deletes`() throws {
    try shell.folder.write("#!/bin/sh\necho edited >>\"$1\"\n", to: "editor")
    chmod(shell.folder["editor"], 0o755)
    let screen = try shell.screen(
      [
        "bash", "--norc", "-c", #"VISUAL="$1" "$0" browse; echo "left with $?"; read -r line"#,
        BuiltBinary.notes(), shell.folder["editor"],
      ])
    try screen.wait(for: "> Shopping")
    try shell.folder.write("a word in it\n", to: "notes/Made elsewhere.txt")
    try screen.wait(for: "Made elsewhere")
    try screen.press("/")
    try screen.type("word")
    try screen.wait(for: "> Made elsewhere")
    try screen.press("Enter", "e")
    try screen.wait(for: "│ edited")
    try screen.press("x")
    try screen.wait(for: "x again deletes Made elsewhere")
    try screen.press("x")
    try screen.wait(for: "deleted Made elsewhere")
    // A key right after it would be another key.
    try screen.press("Escape")
    try screen.wait(for: "Home · 2 notes")
    try screen.press("n")
    try screen.wait(for: "Title of the new note:")
    try screen.type("Brand new\n")
    // What the editor wrote: the title alone is on the screen while it is typed.
    try screen.wait(for: "Home · 3 notes")
    #expect(try shell.folder.text("notes/Brand new.txt") == "edited\n")
    try screen.press("q")
    try screen.wait(for: "left with 0")
  }

  @Test func `A deleted note comes back, and the mouse is understood`() throws {
    try shell.notes("rm", "Soup")
    let screen = try browse()
    try screen.wait(for: "Home · 1 note\n")
    try screen.press("D")
    try screen.wait(for: "> recipes/Soup")
    #expect(try screen.wait(for: "leeks").contains("Home · 1 deleted note"))
    try screen.press("r")
    try screen.wait(for: "restored recipes/Soup")
    #expect(try shell.folder.text("notes/recipes/Soup.md").hasPrefix("# Soup\n"))
    try screen.press("Escape")
    let list = try screen.wait(for: "Home · 2 notes")
    #expect(try screen.value(of: "mouse_standard_flag") == "1")
    let rows = list.split(separator: "\n", omittingEmptySubsequences: false)
    let row = try #require(rows.firstIndex { $0.contains(" Shopping") })
    // Two notes of the same second come in the order of their names.
    if !list.contains("> Shopping") {
      try screen.type("\u{1B}[<0;5;\(row + 1)M")
      try screen.wait(for: "> Shopping")
    }
    try screen.type("\u{1B}[<0;5;\(row + 1)M")
    try screen.wait(for: "Home · Shopping")
    try screen.press("q")
    try expectRestored(screen, status: 0)
    #expect(try screen.value(of: "mouse_standard_flag") == "0")
  }

  @Test func `It fits any window and follows its size`() throws {
    let screen = try browse(columns: 40, rows: 8)
    let small = try screen.wait(for: "> Shopping")
    #expect(!small.contains("│"))
    try screen.resize(columns: 100, rows: 30)
    try screen.wait(for: "│ eggs")
    try screen.resize(columns: 12, rows: 3)
    try screen.wait(for: "a small screen") { !$0.contains("│") && $0.contains("> Shop") }
    try screen.resize(columns: 80, rows: 24)
    try screen.wait(for: "│ eggs")
    try screen.press("C-c")
    try expectRestored(screen, status: 0)
  }

  // notes-browse(1): "The terminal is put back as it was when the command ends, is stopped, is
  // terminated, or crashes."
  @Test(arguments: [(SIGTERM, 130), (SIGINT, 130), (SIGSEGV, 128 + 11), (SIGABRT, 128 + 6)])
  func `A signal puts the terminal back`(signal: Int32, status: Int) throws {
    let screen = try browse()
    try screen.wait(for: "│ eggs")
    #expect(try screen.value(of: "alternate_on") == "1")
    try #require(kill(try process(screen), signal) == 0)
    try expectRestored(screen, status: status)
  }

  @Test func `It stops for the shell and comes back`() throws {
    let screen = try shell.screen(["bash", "--norc", "-i"])
    try screen.type("PS1='ready> '; \(try BuiltBinary.notes()) browse\n")
    try screen.wait(for: "│ eggs")
    try screen.press("C-z")
    try screen.wait(for: "Stopped")
    #expect(try screen.value(of: "alternate_on") == "0")
    try shell.folder.write("x\n", to: "notes/Made meanwhile.txt")
    try screen.type("fg\n")
    try screen.wait(for: "Made meanwhile")
    #expect(try screen.value(of: "alternate_on") == "1")
    // Stopped by somebody else, in a way that can't be caught.
    let found = try run(["pgrep", "-P", screen.value(of: "pane_pid"), "-x", "notes"])
    let process = try #require(pid_t(found.lines.first ?? ""))
    try #require(kill(process, SIGSTOP) == 0)
    // The shell writes over the browser's screen, which stands until it is drawn anew.
    try screen.wait(for: "Stopped")
    try screen.type("fg\n")
    try screen.wait(for: "a screen of its own") {
      $0.contains("Made meanwhile") && !$0.contains("Stopped")
    }
    try screen.press("k")
    try screen.wait(for: "> Made meanwhile")
    try screen.press("q")
    try screen.wait(for: "ready>")
  }

  @Test func `Without a terminal it says what to use instead`() throws {
    let result = try shell.notes("browse")
    #expect(result.status == .exited(1))
    #expect(
      result.errorText == """
        notes: error: browse needs a terminal
        notes: hint: 'notes list', 'notes log' and 'notes show' write to files and pipes

        """)
  }
}
