import Git
import Testing

@testable import notes

@Suite struct TerminalTests {
  @Test(arguments: [
    ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("👩‍👩‍👧", 2), ("🇨🇭", 2), ("❤️", 2),
    ("❤", 1),
    ("한글", 4), ("a\u{200B}b", 2), ("…", 1),
  ])
  func `Columns are counted as terminals count them`(text: String, columns: Int) {
    #expect(Width.of(text) == columns)
  }

  @Test(arguments: [
    ("abcdef", 4, "abc…"), ("abc", 3, "abc"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("ab", 0, ""),
  ])
  func `A cut text keeps whole characters and fits`(text: String, columns: Int, expected: String) {
    let cut = Width.cut(text, to: columns)
    #expect(cut == expected)
    #expect(Width.of(cut) <= columns)
  }

  @Test(arguments: [
    ("short", "short"),
    ("notes: hint: a few more words than fit", "notes: hint: a few more words\n  than fit"),
    ("  indented and longer than the line is", "  indented and longer than the\n    line is"),
    ("it says 'notes config default FOLDER' so", "it says\n  'notes config default FOLDER'\n  so"),
    ("one\ntwo", "one\ntwo"),
    ("averyveryverylongwordwithoutanyspaces", "averyveryverylongwordwithoutanyspaces"),
  ])
  func `Messages break at words, commands in quotes stay whole`(message: String, shown: String) {
    let narrow = Terminal(isInteractive: true, width: 31, usesColour: false)
    #expect(narrow.wrapped(message) == shown)
    let wide = Terminal(isInteractive: false, width: nil, usesColour: false)
    #expect(wide.wrapped(message) == message)
  }

  @Test func `Styles take no columns, and a column of words stays one`() {
    let terminal = Terminal(isInteractive: true, width: 40, usesColour: true)
    let word = terminal.paint("problem", .boldRed)
    let painted = word + "  size  a line of just forty columns"
    #expect(Width.of(painted: painted) == 43)
    let broken = word + "  size  a line of just forty\n               columns"
    #expect(terminal.wrapped(painted, from: 15) == broken)
    #expect(terminal.wrapped("one two three four five six seven eight", from: 25).count == 39)
    // Where there is no room for a column, the line's own beginning counts.
    #expect(
      terminal.wrapped("one two three four five six seven eight nine", from: 25)
        == "one two three four five six seven eight\n  nine")
  }

  // notes(1), "OPTIONS": names that hold control characters, or characters that change the direction
  // of writing, are shown with escapes.
  @Test(arguments: [
    ("plain name.txt", "plain name.txt"), ("Käse 日本 👩‍👩‍👧", "Käse 日本 👩‍👩‍👧"),
    ("a\nb\tc\r", "a\\nb\\tc\\r"), ("\u{1B}]0;x\u{7}", "\\u{1b}]0;x\\u{7}"),
    ("\u{202E}txt.exe", "\\u{202e}txt.exe"), ("\u{9B}31m", "\\u{9b}31m"),
    ("a\u{200B}b\u{FEFF}", "a\\u{200b}b\\u{feff}"),
  ])
  func `A name never controls the terminal`(name: String, shown: String) {
    #expect(Visible.name(name) == shown)
    #expect(Visible.name(TreePath(name)) == shown)
  }

  @Test func `Bytes that are not UTF-8 show as they are`() {
    #expect(Visible.name(TreePath(bytes: [0x61, 0xFF, 0xC3, 0x62])) == "a\\xff\\xc3b")
  }

  @Test func `A note's text keeps lines and tabs and shows the rest`() {
    #expect(Visible.text("a\tb\r\nc\u{1B}[31m\u{7F}\n") == "a\tb\nc^[[31m^?\n")
    #expect(Visible.text("\u{202E}a❤\u{FE0F}b\u{FE0F}\n") == "\\u{202e}a❤\u{FE0F}b\\u{fe0f}\n")
  }

  // notes-show(1): "characters that reorder a line, and variation selectors that vary nothing", are shown
  @Test(
    "What reorders a text or hides in it is shown",
    arguments: [
      ("pay \u{202E}001\u{202C} now", "pay \\u{202e}001\\u{202c} now"),
      ("\u{2067}a\u{2069}", "\\u{2067}a\\u{2069}"),
      ("x\u{E0041}\u{E007F}", "x\\u{e0041}\\u{e007f}"),
      ("a\u{FE00}\u{FE0F}\u{E0101}", "a\\u{fe00}\\u{fe0f}\\u{e0101}"),
      ("❤\u{FE0F}\u{FE0F}", "❤\u{FE0F}\\u{fe0f}"), ("❤\u{FE0F} 葛\u{E0100}", "❤\u{FE0F} 葛\u{E0100}"),
      ("\u{5D0}\u{200F}!", "\u{5D0}\u{200F}!"),
    ])
  func hiddenText(text: String, shown: String) {
    #expect(Visible.text(text) == shown)
  }

  @Test(arguments: [
    ([:], true, false), (["TERM": "xterm"], true, true), (["TERM": "dumb"], true, false),
    (["TERM": "xterm"], false, false), (["TERM": "xterm", "NO_COLOR": "1"], true, false),
    (["TERM": "xterm", "NO_COLOR": ""], true, true), (["CLICOLOR_FORCE": "1"], false, true),
    (["CLICOLOR_FORCE": "0", "TERM": "xterm"], false, false),
    (["CLICOLOR_FORCE": "1", "NO_COLOR": "1"], true, false),
  ])
  func `Colour follows the environment`(
    variables: [String: String], isInteractive: Bool, expected: Bool
  ) {
    #expect(
      Terminal.wantsColour(isInteractive: isInteractive, environment: Environment(fixed: variables))
        == expected)
  }

  @Test func `A table is cut to the terminal and never ends lines in spaces`() {
    var table = Table(flexible: 0, rightAligned: [1])
    table.rows.append([Styled("日本語のノートの長い題名"), Styled("9"), Styled("")])
    table.rows.append([Styled("short"), Styled("10,000"), Styled("x")])
    let lines = table.lines(for: .screen(28))
    #expect(lines == ["日本語のノートの…       9", "short              10,000  x"])
    #expect(lines.allSatisfy { Width.of($0) <= 28 && !$0.hasSuffix(" ") })
    #expect(table.lines(for: .plain).first == "日本語のノートの長い題名       9")
  }

  @Test func `Where the title alone cannot give way, columns go, and then the others are cut`() {
    var table = Table(flexible: 1, dispensable: [0])
    table.rows.append([
      Styled("2026-11-21 10:00"), Styled("A title of many words"),
      Styled("a reason of many words"),
    ])
    func line(_ columns: Int) -> String? { table.lines(for: .screen(columns)).first }
    #expect(line(64)?.hasPrefix("2026-11-21 10:00  A title of many words  a reason") == true)
    #expect(line(52) == "2026-11-21 10:00  A title o…  a reason of many words")
    #expect(line(46) == "A title of many words  a reason of many words")
    #expect(line(34) == "A title o…  a reason of many words")
    #expect(line(26) == "A title o…  a reason of m…")
  }

  @Test(
    arguments: [
      ([:], "less"), (["PAGER": "more"], "more"),
      (["NOTES_PAGER": "most", "PAGER": "more"], "most"),
      (["PAGER": ""], nil), (["PAGER": "cat"], nil), (["NOTES_PAGER": "", "PAGER": "more"], nil),
    ] as [([String: String], String?)])
  func `The pager is chosen like git's`(variables: [String: String], expected: String?) {
    #expect(Pager.command(in: Environment(fixed: variables)) == expected)
  }
}
