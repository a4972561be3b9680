import Git
import Notebook
import TestSupport
import Testing
import WorkTree

@testable import notes

/// The browser without a terminal: keys in, rows out.
@Suite struct BrowserTests {
  private static let now: Int64 = 1_700_000_000
  private let wide = Screen.Size(columns: 80, rows: 24)

  private func browser(_ paths: [TreePath]) -> Browser {
    var browser = Browser(title: "Home")
    browser.show(
      notes: paths.enumerated().map {
        Browser.Note(path: $1, modified: Self.now - Int64($0) * 3600, isInConflict: $0 == 1)
      })
    return browser
  }

  private func revision(_ number: UInt8, _ kind: ChangeKind = .modified) throws -> Browser.Revision
  {
    Browser.Revision(
      id: try #require(ObjectID(bytes: [UInt8](repeating: number, count: 20))),
      path: "Shopping.txt", kind: kind, former: nil, time: Self.now - Int64(number) * 86_400,
      author: "Ann", subject: "Update Shopping")
  }

  private func rows(_ browser: Browser, _ size: Screen.Size, colour: Bool = false) -> [String] {
    var browser = browser
    let screen = browser.screen(size, now: Self.now)
    return (0..<size.rows).map { screen.text(ofRow: $0, usesColour: colour) }
  }

  @discardableResult
  private func press(_ browser: inout Browser, _ keys: Key...) -> [Browser.Request] {
    keys.compactMap { browser.press($0, in: Browser.Layout(size: wide)) }
  }

  @Test func `The screen stays as it was`() throws {
    var browser = browser(["Shopping.txt", "recipes/Soup.md", "日本語のノート.txt", "e\u{1B}vil.txt"])
    var shown = ["", ""]
    func show() throws {
      for size in [wide, Screen.Size(columns: 40, rows: 8)] {
        let plain = rows(browser, size)
        let painted = rows(browser, size, colour: true)
        for number in shown.indices { shown[number] += "-- \(size.columns) x \(size.rows)\n" }
        // The empty rows between are no news.
        for (row, colour) in zip(plain, painted) where !row.allSatisfy({ " │".contains($0) }) {
          shown[0] += row + "\n"
          shown[1] += colour + "\n"
        }
      }
    }
    browser.show(
      text: Styled.lines(of: Array("milk\n\tand a long line that has to be broken\n".utf8)),
      of: Browser.Subject(path: "Shopping.txt"))
    try show()
    press(&browser, .character("/"), .character("S"), .character("O"))
    try show()
    press(&browser, .escape, .enter)
    browser.show(
      versions: [try revision(1), try revision(2), try revision(3, .added)], of: "Shopping.txt",
      hasMore: true)
    press(&browser, .down)
    let subject = try #require(browser.wantedSubject)
    browser.show(
      text: Styled.lines(from: Array("milk\n".utf8), to: Array("milk\neggs\u{1B}[31m\n".utf8)),
      of: subject)
    try show()
    press(&browser, .enter)
    try show()
    press(&browser, .character("?"))
    try show()
    try Golden.expect(shown[0], matches: "browse.txt")
    try Golden.expect(shown[1], matches: "browse-colour.txt")
  }

  // notes-browse(1): "only the notes are listed whose folder and title hold all of them".
  @Test func `The filter lists notes as it is typed`() {
    var browser = browser(["a/Milk.txt", "a/Bread.txt", "b/Milk and bread.txt", "Äpfel.txt"])
    func labels() -> [String] { browser.listed.map(\.label) }
    press(&browser, .character("/"), .character("m"), .character("I"))
    #expect(labels() == ["a/Milk", "b/Milk and bread"])
    press(&browser, .character(" "), .character("b"), .character("r"))
    #expect(labels() == ["b/Milk and bread"])
    press(&browser, .control("w"), .control("w"), .pasted("ä\n"))
    #expect(labels() == ["Äpfel"])
    press(&browser, .enter)
    #expect(browser.filter == "ä" && !browser.isFiltering)
    press(&browser, .escape)
    #expect(labels().count == 4)
  }

  // notes-browse(1): "or whose text holds all of them".
  @Test func `The filter lists what texts hold, once that is known`() {
    var browser = browser(["Milk.txt", "Bread.txt", "Eggs.txt"])
    press(&browser, .character("/"), .character("m"), .character("i"))
    #expect(browser.listed.map(\.label) == ["Milk"] && browser.wantedText == "mi")
    browser.show(notesWithText: ["Eggs.txt"], for: "mi")
    #expect(browser.listed.map(\.label) == ["Milk", "Eggs"] && browser.wantedText == nil)
    // What was found for another filter is not this one's.
    press(&browser, .backspace)
    #expect(browser.listed.map(\.label) == ["Milk"] && browser.wantedText == "m")
  }

  @Test func `Notes are edited, made, and deleted when the key is pressed twice`() {
    var browser = browser(["Milk.txt", "Bread.txt"])
    #expect(press(&browser, .character("e")) == [.edit("Milk.txt")])
    #expect(press(&browser, .character("n")) == [.new])
    #expect(press(&browser, .character("x")).isEmpty && browser.message != nil)
    #expect(press(&browser, .down, .character("x")).isEmpty)
    #expect(press(&browser, .character("x")) == [.delete("Bread.txt")])
    #expect(press(&browser, .character("x")).isEmpty)
  }

  @Test func `Restoring and copying ask for a chosen version that has the note`() throws {
    var browser = browser(["Shopping.txt"])
    #expect(press(&browser, .character("r")).isEmpty)
    #expect(browser.message != nil)
    press(&browser, .enter)
    #expect(browser.wantsVersions(rows: 22))
    browser.show(
      versions: [try revision(1, .deleted), try revision(2)], of: "Shopping.txt", hasMore: false)
    #expect(!browser.wantsVersions(rows: 22))
    #expect(press(&browser, .character("r"), .character("c")).isEmpty)
    #expect(
      press(&browser, .down, .character("r"), .character("c"))
        == [.restore(try revision(2)), .copy(try revision(2))])
    // What is pasted is no key.
    #expect(press(&browser, .pasted("rcq")).isEmpty)
    #expect(press(&browser, .character("q")) == [.quit])
  }

  // notes-browse(1), "Deleted notes".
  @Test func `Deleted notes are another list, from which they come back`() throws {
    var browser = browser(["Shopping.txt"])
    #expect(press(&browser, .character("D")) == [.reload] && browser.showsDeleted)
    browser.show(notes: [])
    #expect(rows(browser, wide)[1].hasPrefix("no note was deleted"))
    #expect(press(&browser, .character("r")).isEmpty)
    browser.show(notes: ["Old.txt", "Older.txt"].map { Browser.Note(path: $0, modified: 0) })
    #expect(rows(browser, wide)[0] == "Home · 2 deleted notes")
    #expect(press(&browser, .down, .character("r")) == [.recover("Older.txt")])
    // It is not among them any more.
    press(&browser, .enter)
    browser.show(notes: [Browser.Note(path: "Old.txt", modified: 0)])
    #expect(browser.focus == .notes && browser.note?.path == "Old.txt")
    #expect(press(&browser, .escape) == [.reload] && !browser.showsDeleted)
  }

  // notes-browse(1), "Mouse".
  @Test func `The mouse chooses and scrolls what it is over`() throws {
    var browser = browser((0..<50).map { TreePath("\($0).txt") })
    browser.show(
      text: (0..<90).map { Styled("line \($0)") }, of: Browser.Subject(path: "0.txt"))
    _ = rows(browser, wide)
    press(&browser, .click(column: 3, row: 5))
    #expect(browser.note?.path == "4.txt")
    press(&browser, .wheel(3, column: 3))
    #expect(browser.note?.path == "7.txt")
    press(&browser, .wheel(-30, column: 3), .click(column: 3, row: 0), .click(column: 3, row: 23))
    #expect(browser.note?.path == "0.txt" && browser.focus == .notes)
    browser.wrap(to: 46)
    press(&browser, .wheel(6, column: 60))
    #expect(browser.textTop == 6 && browser.note?.path == "0.txt")
    // On what is chosen, it goes in; in the text too.
    press(&browser, .click(column: 3, row: 1))
    #expect(browser.focus == .versions)
    browser.show(versions: [try revision(1), try revision(2)], of: "0.txt", hasMore: false)
    press(&browser, .click(column: 3, row: 2), .click(column: 3, row: 9))
    #expect(browser.version == (try revision(2)) && browser.focus == .versions)
    press(&browser, .click(column: 60, row: 9))
    #expect(browser.focus == .text)
    press(&browser, .click(column: 3, row: 1))
    #expect(browser.version == (try revision(1)) && browser.focus == .versions)
  }

  @Test func `More versions are asked for when the end comes near`() throws {
    var browser = browser(["Shopping.txt"])
    press(&browser, .enter)
    let some = try (0..<100).map { try revision(UInt8($0)) }
    browser.show(versions: some, of: "Shopping.txt", hasMore: true)
    #expect(!browser.wantsVersions(rows: 10))
    press(&browser, .end)
    #expect(browser.wantsVersions(rows: 10))
    browser.show(versions: some + some, of: "Shopping.txt", hasMore: true)
    #expect(browser.versionList.selected == 99 && !browser.wantsVersions(rows: 10))
  }

  @Test func `The chosen note stays chosen when the list is read again`() {
    var browser = browser(["a.txt", "b.txt", "c.txt"])
    press(&browser, .down)
    browser.show(notes: ["c.txt", "a.txt", "b.txt"].map { Browser.Note(path: $0, modified: 0) })
    #expect(browser.note?.path == "b.txt")
  }

  // notes(1): "Commands show some characters as escapes: those that control a terminal or change the direction of
  // writing".
  @Test func `Whatever is pressed at whatever size, rows fit and control nothing`() throws {
    var random = SplitMix64.reported()
    let evil = "a\u{1B}]0;x\u{7}\u{202E}日本👩‍👩‍👧\t\u{9B}2J é\r\n"
    let all = (0..<300).map { TreePath("\($0 % 7)/\(evil.prefix($0 % 12)) \($0).txt") }
    let keys: [Key] = [
      .up, .down, .pageUp, .pageDown, .home, .end, .enter, .escape, .left, .right, .tab, .backspace,
      .character("/"), .character("d"), .character("r"), .character("?"), .character("3"),
      .control("u"), .pasted(evil), .character("日"), .character("D"), .wheel(3, column: 70),
      .wheel(-3, column: 2), .click(column: 2, row: 4), .click(column: 90, row: 40),
    ]
    var browser = browser(all)
    for _ in 0..<400 {
      let size = Screen.Size(
        columns: Int.random(in: 1...100, using: &random),
        rows: Int.random(in: 1...30, using: &random))
      let key = keys.randomElement(using: &random) ?? .up
      _ = browser.press(key, in: Browser.Layout(size: size))
      if browser.wantsVersions(rows: size.rows), let path = browser.note?.path {
        browser.show(versions: try (0..<9).map { try revision($0) }, of: path, hasMore: false)
      }
      if let wanted = browser.wantedSubject {
        let text = Array(String(repeating: evil, count: 30).utf8)
        browser.show(
          text: Styled.lines(of: text) + Styled.lines(from: [], to: text), of: wanted)
      }
      let shown = rows(browser, size)
      #expect(shown.count == size.rows)
      for row in shown {
        #expect(Width.of(row) <= size.columns, "\(size): \(row)")
        #expect(
          !row.unicodeScalars.contains { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) })
        #expect(!row.unicodeScalars.contains("\u{202E}"))
      }
    }
  }

  @Test func `Only rows that differ are written`() {
    var browser = browser((0..<50).map { TreePath("\($0).txt") })
    // Beyond the note in conflict, for which other keys are named.
    press(&browser, .down, .down)
    let first = browser.screen(wide, now: Self.now)
    #expect(first.update(from: nil, usesColour: false).hasPrefix("\u{1B}[2J"))
    #expect(first.update(from: first, usesColour: false).isEmpty)
    press(&browser, .down)
    let second = browser.screen(wide, now: Self.now)
    let update = second.update(from: first, usesColour: false)
    #expect(update.split(separator: "\u{1B}[2K").count == 3)
    let other = browser.screen(Screen.Size(columns: 80, rows: 10), now: Self.now)
    #expect(other.update(from: second, usesColour: false).hasPrefix("\u{1B}[2J"))
  }

  @Test(arguments: [
    ("short", 10, ["short"]), ("two words", 5, ["two ", "words"]),
    ("longword", 3, ["lon", "gwo", "rd"]),
    ("日本語", 4, ["日本", "語"]), ("a 日本語", 5, ["a ", "日本", "語"]), ("", 5, [""]), ("x", 0, ["x"]),
    ("one two three", 7, ["one two", "three"]),
  ])
  func `Lines are broken at spaces where there are any`(
    text: String, width: Int, expected: [String]
  ) {
    #expect(Styled(text).wrapped(to: width).map(\.text) == expected)
  }

  @Test(
    arguments: [
      ("\u{1B}[A\u{1B}OB\u{1B}[5~", [.up, .down, .pageUp]), ("\u{1B}[1~\u{1B}[F", [.home, .end]),
      ("aé日😀", [.character("a"), .character("é"), .character("日"), .character("😀")]),
      ("\r\t\u{7F}\u{3}", [.enter, .tab, .backspace, .control("c")]),
      ("\u{1B}[200~q\u{1B}[31m\n\u{1B}[201~r", [.pasted("q\u{1B}[31m\n"), .character("r")]),
      (
        "\u{1B}[<0;3;4M\u{1B}[<0;3;4m\u{1B}[<65;300;9M",
        [.click(column: 2, row: 3), .wheel(3, column: 299)]
      ),
      ("\u{1B}[M !!j\u{1B}[<64;;1Mk", [.character("j"), .character("k")]),
      ("\u{1B}x\u{1B}[99;5uj", [.character("j")]), ("\u{1B}[38;5;1m", []),
    ] as [(String, [Key])])
  func `Keys are decoded however their bytes are cut`(bytes: String, expected: [Key]) {
    var whole = KeyDecoder()
    #expect(whole.keys(from: bytes.utf8) == expected)
    var cut = KeyDecoder()
    #expect(bytes.utf8.flatMap { cut.keys(from: [$0]) } == expected)
    #expect(!cut.isWaiting)
  }

  @Test func `An escape alone is a key when nothing follows`() {
    var decoder = KeyDecoder()
    #expect(decoder.keys(from: [0x1B]).isEmpty && decoder.isWaiting)
    #expect(decoder.flush() == [.escape])
    #expect(decoder.keys(from: [0xFF, 0xC3, 0x28, 0x61]) == [.character("("), .character("a")])
  }
}
