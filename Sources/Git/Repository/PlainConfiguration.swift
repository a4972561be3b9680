internal import System

/// `.git/config` (git-config(1)) where each line is blank, a comment, a section, or `NAME = VALUE`
/// without quotes, escapes and comments behind it, and no other file is included: as git and libgit2 write
/// most of it. To load libgit2 for a setting takes longer than all else that a command does with it.
struct PlainConfiguration {
  private var values: [String: String] = [:]

  /// Reads it; nil where a line is of another form, or the file cannot be read.
  init?(of gitFolder: String) {
    guard let content = Disk.contentIfAny(gitFolder + "/config") else { return nil }
    self.init(content)
  }

  init?(_ content: [UInt8]) {
    var section = ""
    for line in content.split(separator: UInt8(ascii: "\n")) {
      let line = Self.trimmed(line)
      guard let first = line.first, first != UInt8(ascii: "#"), first != UInt8(ascii: ";")
      else { continue }
      if first == UInt8(ascii: "[") {
        guard let name = Self.section(line) else { return nil }
        section = name
        continue
      }
      guard let sign = line.firstIndex(of: UInt8(ascii: "=")) else { return nil }
      let value = Self.unquoted(Self.trimmed(line[(sign + 1)...]))
      let name = String(decoding: Self.trimmed(line[..<sign]), as: UTF8.self).lowercased()
      guard !value.contains(where: Self.special.contains), Self.isName(name) else { return nil }
      values[section + name] = String(decoding: value, as: UTF8.self)
    }
  }

  /// The value of `SECTION.NAME` or `SECTION.SUBSECTION.NAME`; the last one counts.
  subscript(name: String) -> String? {
    guard let first = name.firstIndex(of: "."), let last = name.lastIndex(of: ".") else {
      return nil
    }
    return values[
      name[..<first].lowercased() + name[first...last]
        + name[name.index(after: last)...].lowercased()]
  }

  // The bytes that a value may hold only quoted, or that end it.
  private static let special = Array("\"\\#;\r".utf8)

  /// A value that stands in quotes as a whole and needs none, as that of `gpg.ssh.allowedSignersFile`.
  private static func unquoted(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let quote = UInt8(ascii: "\"")
    guard value.count > 2, value.first == quote, value.last == quote else { return value }
    return value.dropFirst().dropLast()
  }

  /// `[SECTION]` or `[SECTION "SUBSECTION"]` as the beginning of a name.
  private static func section(_ line: ArraySlice<UInt8>) -> String? {
    guard line.last == UInt8(ascii: "]") else { return nil }
    let words = line.dropFirst().dropLast()
      .split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
    let name = String(decoding: trimmed(words[0]), as: UTF8.self).lowercased()
    guard isName(name), name != "include", name != "includeif" else { return nil }
    switch words.count {
    case 1: return name + "."
    case 3 where words[2].isEmpty && !words[1].contains(UInt8(ascii: "\\")):
      return name + "." + String(decoding: words[1], as: UTF8.self) + "."
    default: return nil
    }
  }

  private static func isName(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy {
        (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
      }
  }

  private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    var text = text.drop(while: isBlank)
    while let last = text.last, isBlank(last) { text.removeLast() }
    return text
  }
}
