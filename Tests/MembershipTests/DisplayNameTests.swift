import Testing

@testable import Membership

// notes-security(7), DEVICE AND NOTEBOOK NAMES.
@Suite("Membership: names")
struct DisplayNameTests {
  @Test(
    "Names that people give", arguments: ["desk", "Anna's phone", "Büro-PC", "日本語", "❤", "a.b"])
  func accepted(name: String) throws {
    #expect(try DisplayName.check(name) == name)
    #expect(DisplayName.made(from: name) == name)
  }

  @Test(
    "Names that could act in a terminal, a git author or a path",
    arguments: [
      ("a\u{1B}[31mb", .forbidden(0x1B)), ("a\nb", .forbidden(0x0A)), ("a\0b", .forbidden(0)),
      ("a\u{9B}31m", .forbidden(0x9B)), ("a\u{202E}b", .forbidden(0x202E)),
      ("a\u{2066}b", .forbidden(0x2066)), ("a\u{200D}b", .forbidden(0x200D)),
      ("bob\u{FE0F}", .forbidden(0xFE0F)), ("b\u{FE00}ob", .forbidden(0xFE00)),
      ("\u{FEFF}a", .forbidden(0xFEFF)), ("a\u{E0041}", .forbidden(0xE0041)),
      ("a\u{A0}b", .forbidden(0xA0)), ("a/b", .forbidden(0x2F)), ("a<b", .forbidden(0x3C)),
      ("a>b", .forbidden(0x3E)), ("a\\b", .forbidden(0x5C)), ("a\u{FFFE}", .forbidden(0xFFFE)),
      ("", .empty), (" a", .surroundingSpace), ("a ", .surroundingSpace),
      ("-rf", .leadingPunctuation), ("..", .leadingPunctuation),
      (String(repeating: "ä", count: 65), .tooLong(65)),
    ] as [(String, NameDefect)])
  func refused(name: String, defect: NameDefect) {
    #expect(throws: defect) { try DisplayName.check(name) }
    if let made = DisplayName.made(from: name) {
      #expect(throws: Never.self) { try DisplayName.check(made) }
    }
  }

  @Test("A name is made from what a host calls itself")
  func made() {
    #expect(DisplayName.made(from: "  .desk\u{7}/1 ") == "desk1")
    #expect(DisplayName.made(from: "\n") == nil)
    #expect(DisplayName.made(from: String(repeating: "x", count: 80))?.count == 64)
  }
}
