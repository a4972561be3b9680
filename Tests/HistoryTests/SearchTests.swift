import Git
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Merge
@testable import Notebook
@testable import WorkTree

/// What notes-search(1) promises.
@Suite struct SearchTests {
  private func matches(
    _ text: String, _ term: String, matchCase: Bool = false, ignoreAccents: Bool = false
  ) throws -> [Range<Int>] {
    let query = try SearchQuery(
      [term], isCaseSensitive: matchCase, ignoresAccents: ignoreAccents)
    let patterns = try SearchPatterns(query)
    return patterns.matches(in: patterns.prepare(Array(text.utf8)), inTitle: [false]).ranges
  }

  // "Capital and small letters are alike in any script, as Unicode's full case folding has them:
  // 'strasse' finds 'Straße'. A letter with an accent is not the letter without it, and is alike as
  // one character and as two."
  @Test(arguments: [
    ("Whole MILK, milky", "milk", 2), ("Äpfel äpfel apfel", "äPFEL", 2),
    ("Привет ПРИВЕТ", "привет", 2),
    ("ΟΔΟΣ οδος", "οδος", 2), ("straße STRASSE strasse", "straße", 3), ("日本語 日本", "日本", 2),
    ("aaaa", "aa", 2), ("", "x", 0), ("x", "xy", 0), ("a-b a.b", "a.b", 1), ("😀 😁", "😁", 1),
    ("ıI iİ", "i", 2), ("ß ẞ", "ẞ", 2), ("İstanbul i\u{307}stanbul", "İSTANBUL", 2),
    ("caf\u{e9} cafe\u{301} cafe", "CAF\u{c9}", 2), ("caf\u{e9} cafe\u{301} cafe", "cafe", 1),
    ("Kelvin", "kelvin", 1), ("ﬁne", "fi", 1), ("한국 하나", "하", 1), ("Straße", "s", 1),
  ])
  func `Letters are alike in any case`(text: String, term: String, count: Int) throws {
    #expect(try matches(text, term).count == count)
  }

  // "Ignore accents: cafe finds café."
  @Test(arguments: [
    ("café cafe\u{301} CAFE", "cafe", 3), ("Ångström", "angstrom", 1), ("İstanbul", "istanbul", 1),
    ("über uber", "über", 2), ("Straße", "strasse", 1), ("łódź", "łodz", 1), ("é", "\u{301}", 0),
  ])
  func `Accents may be ignored`(text: String, term: String, count: Int) throws {
    let found = try matches(text, term, ignoreAccents: true)
    #expect(found.count == count)
    for range in found {
      #expect(String(validating: Array(text.utf8)[range], as: UTF8.self) != nil)
    }
    let whole = try SearchQuery([term + "$"], areExpressions: true, ignoresAccents: true)
    #expect(try SearchPatterns(whole).termsFound(inTitleOf: "x.txt") != nil)
  }

  @Test func `A match is where a comparison of whole characters finds it`() throws {
    var random = SplitMix64.reported()
    let letters = Array("abABéÉяЯßẞİi\u{307}\u{301}e\n ").map(String.init) + ["\u{301}", "ﬁ"]
    func word(_ count: Int) -> String {
      (0..<count).map { _ in letters.randomElement(using: &random) ?? "a" }.joined()
    }
    for _ in 0..<2_000 {
      let text = word(Int.random(in: 0..<40, using: &random))
      let term = word(Int.random(in: 1...3, using: &random))
      let bytes = Array(text.utf8)
      for range in try matches(text, term) {
        let found = try #require(String(validating: bytes[range], as: UTF8.self))
        // The same by the standard library: each in capitals, canonically equivalent.
        func folded(_ text: String) -> String { text.lowercased().uppercased().lowercased() }
        #expect(folded(found) == folded(term), "\(text)")
      }
      let plain = try matches(text, term, matchCase: true)
      for range in plain {
        #expect(String(decoding: bytes[range], as: UTF8.self) == term, "\(text) / \(term)")
      }
      // A mark belongs to the character before it, which the standard library sees otherwise at an end.
      let hasMarks = (text + term).decomposedScalars.contains { (0x300...0x36F).contains($0) }
      if !hasMarks, text.contains(term) { #expect(!plain.isEmpty, "\(text) / \(term)") }
    }
  }

  private func found(_ fixture: Fixture, _ query: SearchQuery) throws -> [String] {
    try fixture.notebook.history.search(query).map(\.path.description)
  }

  // "The best matches come first: notes whose title contains all texts, then notes that contain each as a whole word,
  // then the others. Among equals, the note that changed last is first."
  @Test func `Titles come first, then words, then parts`() throws {
    let fixture = try Fixture()
    try fixture.write("a/Milky way.txt", "stars\n")
    try fixture.write("b.txt", "milky\n")
    try fixture.write("c.md", "bread, MILK\n")
    try fixture.write("d.txt", "bread\n")
    try fixture.write("e.png", "milk\n")
    #expect(try found(fixture, SearchQuery(["milk"])) == ["a/Milky way.txt", "c.md", "b.txt"])
    #expect(try found(fixture, SearchQuery(["milk"], isTitleOnly: true)) == ["a/Milky way.txt"])
    #expect(try found(fixture, SearchQuery(["milk", "bread"])) == ["c.md"])
    #expect(try found(fixture, SearchQuery(["way", "stars"])) == ["a/Milky way.txt"])
    #expect(try found(fixture, SearchQuery(["MILK"], isCaseSensitive: true)) == ["c.md"])
    #expect(try found(fixture, SearchQuery(["bread, milk"])) == ["c.md"])
  }

  // "Attachments, and files that are not versioned, are not searched."
  @Test func `What is not versioned is not searched, what is not saved is`() throws {
    let fixture = try Fixture()
    try fixture.write("kept.txt", "milk\n")
    try fixture.write("out/kept too.txt", "milk\n")
    _ = try fixture.notebook.save()
    try fixture.write(".gitignore", "out\nkept.txt\nsecret*\n")
    for name in [
      "out/other.txt", "secret.txt", "new.txt", "new.txt~", ".#new.txt", ".trash/old.txt",
      ".own.txt",
    ] {
      try fixture.write(name, "milk\n")
    }
    let query = try SearchQuery(["milk"])
    #expect(
      Set(try found(fixture, query)) == ["kept.txt", "out/kept too.txt", "new.txt"])
  }

  @Test func `The lines that match are told, with those around them`() throws {
    let fixture = try Fixture()
    let text = (1...20).map { [3, 4, 9, 15].contains($0) ? "hit \($0) hit\r\n" : "line \($0)\n" }
    try fixture.write("A.txt", text.joined())
    let hit = try #require(
      try fixture.notebook.history.search(SearchQuery(["hit"], context: 2)).first)
    #expect(hit.matchingLineCount == 4)
    #expect(hit.lines.map(\.number) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    #expect(hit.lines.filter(\.isMatch).map(\.number) == [3, 4, 9])
    #expect(hit.lines[2].bytes == Array("hit 3 hit".utf8))
    #expect(hit.lines[2].matches == [0..<3, 6..<9])
    #expect(hit.lines[3].matches.count == 2 && hit.lines[4].matches.isEmpty)
  }

  @Test func `Of a very long line what is around the match is told`() throws {
    let fixture = try Fixture()
    let long = String(repeating: "é", count: 200_000)
    try fixture.write("A.txt", long + "needle" + long)
    let hit = try #require(try fixture.notebook.history.search(SearchQuery(["needle"])).first)
    let line = try #require(hit.lines.first)
    #expect(line.bytes.count <= SearchLine.sizeLimit + 3)
    let match = try #require(line.matches.first)
    #expect(line.bytes[match].elementsEqual("needle".utf8))
    #expect(String(validating: line.bytes, as: UTF8.self) != nil)
  }

  // "An expression matches within a line: ^ and $ are a line's start and end."
  @Test(arguments: [
    ("^- \\[ \\]", ["a.txt"]), ("é.$", ["b.txt"]), ("^.é.$", []), ("T[aA]sk", ["a.txt"]),
    ("task.*done", []), ("x*", ["a.txt", "b.txt"]), ("\\<ask\\>", []),
  ])
  func `Expressions are matched within lines`(expression: String, paths: [String]) throws {
    let fixture = try Fixture()
    try fixture.write("a.txt", "first\n- [ ] task one\ndone\n")
    try fixture.write("b.txt", "café!\nnul \u{0} after\n")
    #expect(Set(try found(fixture, SearchQuery([expression], areExpressions: true))) == Set(paths))
  }

  // "The command refuses an expression of more than 20,000 characters, with its repetitions written out."
  @Test(arguments: ["a{200}{200}", "((a{99}){99}){99}", "a[", "(", "a{9999999999}", "a\u{0}b"])
  func `An expression that is wrong or huge is refused`(expression: String) {
    #expect(throws: HistoryError.self) { try SearchQuery([expression], areExpressions: true) }
  }

  @Test(arguments: ["[0-9]{4}-[0-9]{2}-[0-9]{2}", "(a|b){100}", "a{1,300}b{1,300}", "\\{9{2}"])
  func `Usual repetitions are fine`(expression: String) throws {
    _ = try SearchQuery([expression], areExpressions: true)
  }

  // "Also find notes that once contained the texts, deleted ones included."
  @Test func `History knows which version held a text last`() throws {
    let fixture = try Fixture()
    func save(_ name: String, _ text: String?) throws -> ObjectID {
      if let text { try fixture.write(name, text) } else { try fixture.remove(name) }
      fixture.seconds.now += 100
      return try #require(try fixture.notebook.save(allowsMassDeletion: true).version)
    }
    _ = try save("Shop.txt", "milk\n")
    let last = try save("Shop.txt", "milk\neggs\n")
    _ = try save("Shop.txt", "eggs\n")
    let soup = try save("Soup.txt", "milk soup\n")
    _ = try save("Soup.txt", nil)
    _ = try save("Now.txt", "milk\n")
    // Renamed, and changed after: the present name counts for whether it is deleted.
    let former = try save("Old.txt", "milk for the cat, and much more about cats\n")
    try fixture.write("New.txt", "milk for the cat, and much more about cats\n")
    try fixture.remove("Old.txt")
    fixture.seconds.now += 100
    let renamed = try #require(try fixture.notebook.save().version)
    _ = try save("New.txt", "for the cat\n")
    #expect(former != renamed)

    let query = try SearchQuery(["milk"])
    let hits = try fixture.notebook.history.searchHistory(query, except: ["Now.txt"])
    let told = hits.map { ($0.path.description, $0.former?.version, $0.former?.isDeleted) }
    #expect(told.map(\.0) == ["New.txt", "Soup.txt", "Shop.txt"])
    #expect(told.map(\.1) == [renamed, soup, last])
    #expect(told.map(\.2) == [false, true, false])
  }
}

extension String {
  /// The code points of the canonical decomposition.
  fileprivate var decomposedScalars: [UInt32] {
    unicodeScalars.flatMap { UnicodeForms.pinned.decomposed($0.value) }
  }
}
