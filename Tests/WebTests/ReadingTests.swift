import Git
import Membership
import Notebook
import TestSupport
import Testing
import WorkTree

@testable import Web

/// notes-web(1), "Reading": notes are rendered, links lead where they may, and boxes are ticked.
@Suite(.serialized) struct ReadingTests {
  private func markdown(_ text: String) throws -> String {
    let note = NoteText(
      text, field: "line", note: { $0 == "Rome" ? "/r/n/1" : nil },
      inward: { $0 == "Rome.md" ? "/r/n/1" : nil })
    return try #require(note.markdown()).markup
  }

  @Test(arguments: [
    ("# Head", "<h2 dir=\"auto\">Head</h2>"),
    ("a *b* **c** ~~d~~", "<em>b</em> <strong>c</strong> <s>d</s>"),
    ("- a\n- b", "<li dir=\"auto\">a</li>"), ("3. a", "<ol start=\"3\">"), ("> a", "<blockquote>"),
    ("`a<b`", "<code>a&lt;b</code>"), ("```\na\n<b>\n```", "<code>a\n&lt;b&gt;\n</code>"),
    ("a\nb", "a<br>\nb"), ("---", "<hr>"),
    (
      "|a|b|\n|-|-:|\n|c|d|",
      "<th dir=\"auto\">a</th><th class=\"end\" dir=\"auto\">b</th></tr></thead>"
    ),
    ("- [x] a", "aria-checked=\"true\" aria-label=\"a\""), ("- [ ] *a*", "aria-label=\"a\""),
    ("1. [ ] a", "name=\"line\" value=\"1\""), ("[[Rome]]", "<a href=\"/r/n/1\">Rome</a>"),
    ("[[Rome|there]]", "<a href=\"/r/n/1\">there</a>"), ("[[Nowhere]]", "[[Nowhere]]"),
    ("[a](Rome.md)", "<a href=\"/r/n/1\">a</a>"),
    (
      "see https://a.example/b_(c).",
      "<a href=\"https://a.example/b_(c)\" rel=\"noreferrer noopener\">"
    ),
    ("![a](https://a.example/b.png)", "<a class=\"image\" href=\"https://a.example/b.png\""),
    ("&lt;b&gt; &amp;", "&lt;b&gt; &amp;"), ("שלום", "<p dir=\"auto\">שלום"),
  ])
  func `Markdown is rendered`(text: String, expected: String) throws {
    let page = try markdown(text)
    #expect(page.contains(expected), "\(page)")
  }

  /// Nothing that a text says becomes an element, an attribute or a scheme of the page.
  @Test(arguments: [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "a <b onclick=x>c</b>",
    "<!-- a -->",
    "[a](javascript:alert(1))", "[a](JaVaScRiPt:alert(1))", "[a]( javascript:alert(1) )",
    "[a](java&#10;script:alert(1))", "[a](&#106;avascript:alert(1))", "[a](data:text/html,x)",
    "[a](vbscript:x)", "[a](file:///etc/passwd)", "[a](//evil.example)", "[a](/evil)",
    "<javascript:alert(1)>",
    "![a](javascript:alert(1))", "![a](x.png\" onerror=\"alert(1))", "[a](http://b\"onclick=\"x)",
    "[a]: javascript:alert(1)\n\n[a]", "[a\"><script>](http://b)", "`<script>`", "    <script>",
    "[[<script>]]",
    "[a](http://b 'x\"onload=\"y')", "|<script>|\n|-|\n|<b>|", "# <script>",
    "- [ ] <script>\" onclick=\"x",
    "[x](tel:javascript)", "[a](http://a\u{202E}b)", "[a](blob:http://x)", "[a](\u{1}javascript:x)",
  ])
  func `Hostile Markdown stays text`(text: String) throws {
    let page = try markdown(text)
    let known =
      #/<\/?(?:div|p|h[2-6]|ul|ol|li|blockquote|pre|code|hr|br|table|thead|tbody|tr|t[hd]|em|strong|s|span|a|button|svg|path)(?: [a-zA-Z-]+="[^"<>]*")*\/?>/#
    #expect(!page.replacing(known, with: "").contains("<"), "\(page)")
    for address in page.matches(of: #/href="([^"]*)"/#) {
      let first = address.1.prefix { $0 != ":" }
      #expect(
        ["http", "https", "mailto", "tel"].contains(first) || address.1.hasPrefix("/r/n/"),
        "\(page)")
    }
    #expect(!page.contains(" on") || !page.contains(#/ on[a-z]+="/#), "\(page)")
  }

  static let units = [
    "[", "[a](", "![", "`a``", ">", "- ", "*a _b ", "**x*", "| a | b |\n|---|---|\n", "~a", "<a <",
    "<!--", "\n",
    "[a]: b\n", "&amp;", "https://", "[[", "a@", "+49 ", "w", "1. ", "x",
  ]

  // notes-security(7): "If parsing needs more than half a second of processor time, 96 MiB or 100 levels".
  @Test(arguments: units) func `A text without end costs little`(unit: String) throws {
    let text = String(repeating: unit, count: CommonMark.longest / unit.utf8.count)
    let before = ContinuousClock.now
    let note = NoteText(text, field: nil, note: { _ in nil }, inward: { _ in nil })
    let shown = note.markdown() ?? note.plain()
    #expect(ContinuousClock.now - before < .seconds(60))
    #expect(shown.markup.utf8.count < 96 << 20)
    // The next text is read as ever.
    #expect(try markdown("# a").contains("<h2"))
  }

  @Test func `A text of more than the limit is shown as it is`() {
    let text = String(repeating: "a\n", count: CommonMark.longest)
    #expect(NoteText(text, field: nil, note: { _ in nil }, inward: { _ in nil }).markdown() == nil)
  }

  @Test(
    arguments: [
      ("call 030 1234567-8 now", "tel:03012345678"), ("+49 (30) 123 45 67", "tel:+49301234567"),
      ("a.b@c.example, or", "mailto:a.b@c.example"), ("www.a.example.", "https://www.a.example"),
      ("(http://a.example/b)", "http://a.example/b"), ("on 01.02.2024", nil), ("2024-01-02", nil),
      ("a@b", nil),
      ("0.123456789012", nil), ("xhttp://a", nil), ("http://", nil), ("javascript:alert(1)", nil),
      ("http://a\u{202E}b", nil), ("10 + 5 = 15", nil), ("0800 100", nil),
    ] as [(String, String?)])
  func `Addresses in a text are links`(text: String, expected: String?) {
    let found = Links { _ in nil }.parts(of: text).compactMap { part -> String? in
      if case .link(let address, _) = part { address } else { nil }
    }
    #expect(found == [expected].compactMap { $0 })
  }

  /// By seed: the parts of any text are that text, and whatever leads somewhere has a scheme that may.
  @Test func `No letter of a text is lost among its links`() {
    var random = SplitMix64.reported()
    let pieces = [
      "a", " ", "http://", "[[", "]]", "Rome", "@", ".", "+49", "0301234567", "\n", "(", ")", "é",
      "\u{202E}",
    ]
    for _ in 0..<2_000 {
      let text = (0..<Int.random(in: 0...20, using: &random)).map { _ in
        pieces.randomElement(using: &random) ?? ""
      }.joined()
      let parts = Links { $0 == "Rome" ? "/n" : nil }.parts(of: text)
      let whole = parts.map { part in
        switch part {
        case .text(let text): text
        case .link("/n", let words): "[[\(words)]]"
        case .link(_, let words): words
        }
      }.joined()
      #expect(whole == text)
    }
  }

  // MARK: Boxes

  @Test(
    arguments: [
      ("- [ ] a", "- [x] a"), ("- [x] a", "- [ ] a"), ("  * [X] a", "  * [ ] a"),
      ("12) [ ] a", "12) [x] a"),
      ("> - [ ] a", "> - [x] a"), ("- [ ]", "- [x]"), ("- [ ]a", nil), ("[ ] a", nil), ("- a", nil),
      ("-[ ] a", nil),
    ] as [(String, String?)])
  func `A line's box is switched`(line: String, expected: String?) {
    #expect(TaskLine(line[...])?.switched == expected)
  }

  private let list = "- [ ] milk\r\n- [ ] eggs\n- [ ] tea"

  private func box(_ line: Int, in page: Answer, _ web: WebFixture) throws -> (
    String, [(String, String)]
  ) {
    (try web.action(in: page), [(try web.value("class=\"tick\" name=\"", in: page), "\(line)")])
  }

  // "A tick is an edit of one line, made on the text that the page showed".
  @Test(arguments: ["List.txt", "List.md"]) func `Two people tick neighbours`(name: String) throws {
    let web = try WebFixture()
    try web.folder.write(list, to: name)
    _ = try web.notebook.save()
    let note = try web.address(TreePath(name))
    let page = try web.get(note)
    let ticks = try [1, 2].map { try box($0, in: page, web) }
    for (action, fields) in ticks {
      let answer = try web.post(action, fields)
      #expect(answer.status == 303 && answer.headers["location"] == web.root + note)
    }
    #expect(try web.text(name) == "- [x] milk\r\n- [x] eggs\n- [ ] tea")
    #expect(try web.get(note).text.contains("aria-checked=\"true\" aria-label=\"eggs\""))
    // Sent again, because the answer was lost, it is no second tick.
    _ = try web.post(ticks[0].0, ticks[0].1)
    #expect(try web.text(name) == "- [x] milk\r\n- [x] eggs\n- [ ] tea")
    // What the box says now is taken away again.
    let (action, fields) = try box(1, in: web.get(note), web)
    let said = try web.post(action, fields, as: nil, ["Accept: application/json"]).text
    #expect(said.contains("\"done\":\"saved\"") && said.contains("\"tick\":\"\(note)/tick/"))
    #expect(try web.text(name) == "- [ ] milk\r\n- [x] eggs\n- [ ] tea")
  }

  @Test func `What is no box of the text that was shown is refused`() throws {
    let web = try WebFixture()
    try web.folder.write("title\n" + list, to: "List.txt")
    _ = try web.notebook.save()
    let note = try web.address("List.txt")
    let (action, fields) = try box(2, in: web.get(note), web)
    for (name, line) in [
      (fields[0].0, "1"), (fields[0].0, "9"), (fields[0].0, "x"), ("line", "2"),
      (fields[0].0, "-1"),
    ] {
      #expect(try web.post(action, [(name, line)]).status == 400)
    }
    let former = action.split(separator: "/").dropLast(2).joined(separator: "/")
    let foreign = String(repeating: "a", count: 40)
    #expect(
      try web.post("/\(former)/\(foreign)/\(foreign)", [("line-" + foreign, "2")]).status == 404)
    #expect(try web.text("List.txt") == "title\n" + list)
  }

  @Test func `A reader sees boxes, and ticks none`() throws {
    let web = try WebFixture()
    try web.folder.write(list, to: "List.txt")
    _ = try web.notebook.save()
    let reader = try web.comeIn(
      GuestBook(stateFolder: web.notebook.stateFolder).invite(nil, as: .reader).token, name: "Ron")
    let page = try web.get(web.address("List.txt"), as: reader)
    #expect(
      page.text.contains("aria-disabled=\"true\"") && !page.text.contains("<button class=\"tick\""))
    let (action, fields) = try box(1, in: web.get(web.address("List.txt")), web)
    #expect(try web.post(action, fields, as: reader).status == 403)
  }

  // "If the text begins with the title as a heading, in upper or lower case, the page shows the title once."
  @Test(arguments: [
    ("Rome.md", "# Rome\n\nforum\n", "forum\n"),
    ("a/Rome.md", "\n\n## **rome** ##\nforum", "forum"),
    ("Rome.md", "Rome\n====\nforum", "forum"), ("Rome.md", "   Rome\n---\nforum", "forum"),
    ("Rome.md", "# Rome", ""), ("Two words.md", "#   Two  Words\n", ""),
    ("Rome.md", "# Romeo\nforum", nil), ("Rome.md", "#Rome\nforum", nil),
    ("Rome.md", "Rome\nforum", nil), ("Rome.md", "forum\n\n# Rome\n", nil),
    ("Rome.md", "    # Rome\n", nil), ("Rome.md", "####### Rome\n", nil),
    ("Rome.md", "Rome\n- forum\n", nil), ("Rome.md", "Rome\n=-\n", nil), ("Rome.md", "", nil),
    ("Rome.txt", "# Rome\nforum", nil),
  ])
  func `A heading that says the title is known`(path: String, text: String, expected: String?) {
    #expect(TreePath(path).textBehindTitle(text).map(String.init) == expected)
  }

  @Test func `A title is shown once, and boxes below its heading are ticked`() throws {
    let web = try WebFixture()
    let text = "\n# Food\n\n- [ ] eggs\n- [ ] milk\n"
    try web.folder.write(text, to: "Food.md")
    _ = try web.notebook.save()
    let note = try web.address("Food.md")
    let page = try web.get(note)
    #expect(page.text.contains("<h1 dir=\"auto\">Food</h1>") && !page.text.contains("<h2 dir"))
    let tip = try #require(try web.tip)
    let whole = try web.get("\(note)/v/\(tip.hex)").text
    #expect(whole.contains("<h1 dir=\"auto\">Food</h1>") && !whole.contains("Food</h2>"))
    #expect(whole.contains(">eggs") && !whole.contains("<button class=\"tick\""))
    #expect(try web.get("/").text.contains(">eggs, milk</span>"))
    let found = try web.get("/?q=food").text
    #expect(found.contains(">Food</span>") && !found.contains("<mark>Food</mark>"), "\(found)")
    #expect(try web.page(note + "/edit").text.contains("<h1 class=\"vh\" dir=\"auto\">Food</h1>"))
    let (action, fields) = try box(4, in: page, web)
    #expect(try web.post(action, fields).status == 303)
    #expect(try web.text("Food.md") == text.replacing("[ ] eggs", with: "[x] eggs"))
    try web.folder.write("# Meals\n", to: "Food.md")
    #expect(try web.page(note + "/edit").text.contains("<h1 class=\"edited\""))
  }

  // "a dot marks the notes that others changed since the user last read them here"
  @Test func `A note that another device changed is new until it is read`() throws {
    let web = try WebFixture()
    try web.folder.write("one\n", to: "Plan.txt")
    let base = try #require(try web.notebook.save().version)
    let grandma = try web.comeIn(
      GuestBook(stateFolder: web.notebook.stateFolder).invite("Grandma", as: .writer).token)
    try web.meet("Ben", [("Plan.txt", "two\n")], on: base)
    let note = try web.address("Plan.txt")
    let mark = "<span class=\"unread\"></span><span class=\"vh\">New: </span>"
    #expect(try web.get("/").text.split(separator: mark).count == 2)
    // What a guest reads is recorded nowhere.
    #expect(try !web.get("/", as: grandma).text.contains(mark))
    _ = try web.get(note, as: grandma)
    #expect(try web.get("/").text.contains(mark))
    _ = try web.get(note)
    #expect(try !web.get("/").text.contains(mark))
  }

  // "keeps the note above all others in the page's list, for this device's user and its guests"
  @Test func `A pinned note is above the others`() throws {
    let web = try WebFixture()
    for (number, name) in ["Keys", "Plan"].enumerated() {
      try web.folder.write("\(number)\n", to: name + ".txt")
      _ = try web.notebook.save()
    }
    let grandma = try web.comeIn(
      GuestBook(stateFolder: web.notebook.stateFolder).invite("Grandma", as: .reader).token)
    let note = try web.address("Keys.txt")
    func isFirst(_ list: String) -> Bool {
      list.firstRange(of: ">Pinned</h2>") != nil
        && list.split(separator: "row-title")[1].contains(">Keys<")
    }
    #expect(try !isFirst(web.get("/").text) && web.get(note).text.contains("Pin to the top"))
    #expect(try !web.get(note, as: grandma).text.contains("Pin to the top"))
    #expect(try web.post(note + "/pin", [], as: grandma).status == 403)
    for _ in 1...2 {
      #expect(try web.post(note + "/pin", []).status == 303)
      #expect(try isFirst(web.get("/").text) && isFirst(web.get("/", as: grandma).text))
      #expect(try web.get("/?from=1").text.contains(">Plan<"))
    }
    #expect(try web.get(note).text.contains("/unpin\""))
    for _ in 1...2 { #expect(try web.post(note + "/unpin", []).status == 303) }
    #expect(try !isFirst(web.get("/").text))
  }

  // "In a note in conflict, the page shows each author's text, with the time, instead of the block with
  // markers."
  @Test(arguments: ["Plan.md", "Plan.txt"])
  func `A conflict is read as two texts, and boxes around it are ticked`(name: String) throws {
    let web = try WebFixture()
    func text(_ when: String) -> String { "# Plan\r\n\n- [ ] a\r\n\nat \(when)\n\n- [ ] b\n" }
    try web.folder.write(text("one"), to: name)
    let base = try #require(try web.notebook.save().version)
    try web.folder.write(text("*two*"), to: name)
    _ = try web.notebook.save()
    try web.meet("Ben", [(name, text("three"))], on: base)
    let note = try web.address(TreePath(name))
    let page = try web.get(note).text
    let sides = page.split(separator: "<section class=\"side\">").dropFirst()
    #expect(sides.count == 2 && !page.contains("&lt;&lt;&lt;") && !page.contains("===="), "\(page)")
    #expect(sides.contains { $0.contains("Ben") && $0.contains("at three") })
    let stressed = name == "Plan.md" ? "at <em>two</em>" : "at *two*"
    #expect(sides.contains { $0.contains("You") && $0.contains("<time") && $0.contains(stressed) })
    #expect(page.contains("# Plan") == (name == "Plan.txt"))
    let whole = try web.text(name)
    let lines = whole.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    let place = try #require(lines.firstIndex { $0 == "- [ ] b" })
    let (action, fields) = try box(place + 1, in: web.get(note), web)
    #expect(try web.get(note).text.contains("value=\"\(place + 1)\""))
    #expect(try web.post(action, fields).status == 303)
    #expect(try web.text(name) == whole.replacing("- [ ] b", with: "- [x] b"))
    // A text that no version has is shown as it is.
    try web.folder.write(whole + "more\n", to: name)
    #expect(try web.get(note).text.contains("more"))
  }

  @Test(arguments: [
    ("# A *b* **c** ~~d~~ `e` _f_", "A b c d e _f"), ("2 * 3*4 ~ 5", "2 * 3*4 ~ 5"),
    ("![](a.jpg) [a](b.md)c [d] [e](f g) ![h](i)", "ac [d] [e](f g) h"),
    ("[[a/b|c]] [[d]] [[e [f]] [[", "c d [[e [f]] [["), ("[ [[a]](b)", "[ a(b)"),
    ("(*a*), **b**!", "(a), b!"),
    ("- ***", ""), ("> a <b> #", "a <b>"), ("--", ""), ("", ""), ("*ä*", "ä"), ("[a](b", "[a](b"),
    ("[a]()", "[a]()"),
  ])
  func `A line is plain without the marks of Markdown`(line: String, expected: String) {
    #expect(Preview.plain(line[...]) == expected)
  }

  @Test func `A preview has the words of a note, and how many boxes are ticked`() throws {
    let web = try WebFixture()
    let folder = web.folder
    try folder.write(
      "# Shop.\n\n- [x] *oat* milk\n- [ ] [[food/eggs|eggs]]\n![](a.jpg) [a `shop`](b.md) ~~no~~\n",
      to: "List.txt")
    try folder.write("a\0b", to: "Image.txt")
    let preview = Preview(of: "List.txt", in: web.notebook.workTree)
    #expect(
      preview.words == "Shop. oat milk, eggs a shop no" && preview.boxes?.ticked == 1
        && preview.boxes?.all == 2)
    for name in ["Image.txt", "Nothing.txt"] {
      #expect(Preview(of: TreePath(name), in: web.notebook.workTree).words.isEmpty)
    }
  }
}
