import TestSupport
import Testing

@testable import Web

/// Text becomes markup nowhere, and comes back from forms as it was.
@Suite struct RenderingTests {
  static let script = "<script>alert(1)</script>\"'&"

  @Test func `What is put into markup is text`() {
    let title = Self.script
    let html: HTML = "<h1 title=\"\(title)\">\(title)</h1>"
    let safe = "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;"
    #expect(html.markup == "<h1 title=\"\(safe)\">\(safe)</h1>")
    #expect(
      (["a", "b"].map { "<li>\($0)</li>" } as [HTML]).map(\.markup).joined()
        == "<li>a</li><li>b</li>")
  }

  @Test(arguments: [
    ("a\rb", .text, "a\\u{d}b"),
    ("a\u{202E}txt.exe", HTML.Use.name, "a\\u{202e}txt.exe"), ("a\nb", .name, "a\\u{a}b"),
    ("a\nb\tc", .text, "a\nb\tc"), ("a\u{1B}[2J", .text, "a\\u{1b}[2J"),
    ("a\r\n", .field, "a&#13;\n"),
    ("\u{202E}a", .text, "\\u{202e}a"), ("\u{200B}a", .name, "\\u{200b}a"),
    ("\u{200B}a", .text, "\u{200B}a"), ("Käse 🧀 👩‍👩‍👧 ❤\u{FE0F}", .name, "Käse 🧀 👩‍👩‍👧 ❤\u{FE0F}"),
    ("a\u{FE0F}b\u{E0101}", .text, "a\\u{fe0f}b\\u{e0101}"),
    (
      "a\u{C}\u{1B}\u{8}\u{85}\u{202E}\u{FE0F}b", .field,
      "a\u{C}\u{1B}\u{8}\u{85}\u{202E}\u{FE0F}b"
    ),
    ("a\u{0}b", .field, "a\u{FFFD}b"),
  ])
  func `Control characters are shown, and lines of a text stay`(
    text: String, use: HTML.Use, expected: String
  ) {
    #expect(HTML.escaped(text, use) == expected)
  }

  @Test func `A line break of Windows is one of a text's lines`() {
    let markup: HTML = "\(text: Array("a\r\nb\r\n".utf8))"
    #expect(markup.markup == "a\nb\n")
  }

  @Test func `No source makes markup of a value`() throws {
    let found = try run([
      "grep", "-rnE", #"stringLiteral: *[^S ]|markup: "#, BuiltBinary.sourceFolder + "/Sources/Web",
      "--include=*.swift",
    ])
    #expect(
      found.lines.allSatisfy {
        $0.contains("init(stringLiteral markup: String)") || $0.contains("private(set) var markup")
      }, "\(found.text)")
  }

  @Test(arguments: [
    ("a=1&b=x+y%2Bz", ["a": "1", "b": "x y+z"]), ("a", ["a": ""]), ("a=%C3%A4", ["a": "ä"]),
    ("", [:]), ("a==b", ["a": "=b"]),
  ])
  func `Fields are read`(text: String, expected: [String: String]) throws {
    let fields = try #require(Fields(parsing: text.utf8))
    for (name, value) in expected { #expect(fields[name] == value) }
  }

  @Test(arguments: ["a=%", "a=%4", "a=%zz", "a=%ff", "a=1&a=2"])
  func `What is no form is refused`(text: String) { #expect(Fields(parsing: text.utf8) == nil) }

  @Test func `A value survives a query`() throws {
    let value = "a b&c=d/ä\n🧀%~"
    #expect(try #require(Fields(parsing: "q=\(Fields.encoded(value))".utf8))["q"] == value)
  }

  @Test(arguments: [[0xFF], [0x61, 0], [0xC3, 0x0A]] as [[UInt8]])
  func `What a form cannot carry is not editable`(bytes: [UInt8]) {
    #expect(EditableText(bytes) == nil)
  }

  @Test(arguments: [
    ("/", []), ("/a/b", ["a", "b"]), ("/a/", ["a"]), ("/a/style.css", ["a", "style.css"]),
  ])
  func `Plain paths are read`(path: String, parts: [String]) {
    #expect(Request.parts(ofPath: path[...]) == parts)
  }

  @Test(arguments: ["", "a", "//", "/a//b", "/../a", "/.git", "/a%20b", "/ä", "/a\\b", "/a;b"])
  func `Other paths are none`(path: String) { #expect(Request.parts(ofPath: path[...]) == nil) }

  // notes-web(1): "less than 100 KiB"
  @Test func `The files that a browser loads are small`() {
    #expect(PackageResources.style_css.count + PackageResources.page_js.count < 100 << 10)
  }
}
