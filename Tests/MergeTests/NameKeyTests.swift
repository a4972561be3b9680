import Foundation
import Git
import TestSupport
import Testing

@testable import Merge

@Suite struct NameKeyTests {
  private func key(_ text: String) -> NameKey { NameKey(TreePath(text)) }

  /// Case by itself and canonical equivalence, as the Swift library of any later version has them for
  /// characters that the table knows.
  @Test func keysAgreeWithUnicode() {
    for value in UInt32(0)..<0x110000 {
      guard let scalar = Unicode.Scalar(value), let age = scalar.properties.age, age.major <= 14
      else { continue }
      let text = String(scalar)
      let lower = scalar.properties.lowercaseMapping
      #expect(key(text) == key(lower), "U+\(String(value, radix: 16))")
      #expect(
        key(text) == key(lower.decomposedStringWithCanonicalMapping),
        "U+\(String(value, radix: 16))")
    }
  }

  @Test func marksComeInTheOrderOfTheirClasses() {
    #expect(key("a\u{301}\u{323}") == key("a\u{323}\u{301}"))
    #expect(key("a\u{301}\u{300}") != key("a\u{300}\u{301}"))
    #expect(key("\u{1EAD}") == key("A\u{302}\u{323}"))
    #expect(key("한") == key("\u{1112}\u{1161}\u{11AB}"))
    #expect(key("\u{130}") == key("i\u{307}"))
  }

  @Test func otherNamesKeepTheirBytes() {
    #expect(NameKey(TreePath(bytes: [0xC3])) != NameKey(TreePath(bytes: [0xC3, 0xC3])))
    #expect(NameKey(TreePath(bytes: [0x41, 0xFF])) != NameKey(TreePath(bytes: [0x61, 0xFF])))
  }

  @Test func manualNamesTheVersion() throws {
    let page = try String(
      contentsOfFile: BuiltBinary.sourceFolder + "/man/notes-merge.7", encoding: .utf8)
    let reference = try String(
      contentsOfFile: BuiltBinary.sourceFolder + "/Tests/Reference/unicode_table.py",
      encoding: .utf8)
    #expect(page.contains("version \(NameKey.unicodeVersion) of Unicode"))
    #expect(page.contains("Unicode characters added after version \(NameKey.unicodeVersion)"))
    #expect(reference.contains("VERSION = \"\(NameKey.unicodeVersion)\""))
  }
}
