public import Git

/// The lines at the end of a commit message that identify merges and open conflicts:
/// notes-merge(7), "Trailers".
public struct MergeTrailers: Hashable, Sendable {
  /// The version of the merge rules for new derived merges.
  public static let currentVersion = 4

  /// The version of the rules that made the commit; nil if it is not a derived merge.
  public var version: Int?
  /// The notes with conflict blocks, and the size of their markers.
  public var conflicts: [TreePath: Int] = [:]
  /// The notes in which fine-grained rules merged something.
  public var merged: [TreePath: MergeRules] = [:]
  /// How many notes did not fit into the lists. Their conflicts are known from the parents.
  public var omitted = 0

  /// The trailers of a commit that is not a derived merge: none.
  public init() {}

  /// Reads the last paragraph of a message.
  public init(message: String) {
    var lines = message.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    while lines.last?.isEmpty == true { lines.removeLast() }
    let start = lines.lastIndex { $0.isEmpty }.map { $0 + 1 } ?? 0
    for line in lines[start...] {
      if let value = Self.value(of: "Notes-Merge", in: line) {
        version = Int(String(decoding: value, as: UTF8.self))
      } else if let value = Self.value(of: "Notes-More", in: line) {
        omitted = Int(String(decoding: value, as: UTF8.self)) ?? 0
      } else if let value = Self.value(of: "Notes-Conflict", in: line),
        let (word, path) = Self.wordAndPath(value), let size = Int(word),
        size >= MarkedText.smallestMarkerSize
      {
        conflicts[path] = size
      } else if let value = Self.value(of: "Notes-Merged", in: line),
        let (word, path) = Self.wordAndPath(value), let rules = MergeRules(names: word)
      {
        merged[path] = rules
      }
    }
  }

  /// The trailers, one in each line, in the order of notes-merge(7): as many as fit into a number of
  /// bytes, including newlines. The conflicts of the paths in `first` have priority.
  package func lines(
    within bytes: Int = MergeBounds.standard.listBytes, first: Set<TreePath> = []
  ) -> [String] {
    let listed = conflicts.sorted { $0.key < $1.key }.map {
      (isFirst: first.contains($0.key), line: Self.line(ofConflict: $0.key, size: $0.value))
    }
    let others = merged.sorted { $0.key < $1.key }.map {
      "Notes-Merged: \($1.names) \(Self.quoted($0))"
    }
    var room = bytes
    func fits(_ line: String) -> Bool {
      room -= line.utf8.count + 1
      return room >= 0
    }
    let firstLines = Set(listed.filter(\.isFirst).map(\.line).prefix(while: fits))
    var lines = listed.filter { $0.isFirst ? firstLines.contains($0.line) : fits($0.line) }.map(
      \.line)
    lines += others.filter(fits)
    let left = conflicts.count + merged.count - lines.count
    return (version.map { ["Notes-Merge: \($0)"] } ?? []) + lines
      + (left > 0 ? ["Notes-More: \(left)"] : [])
  }

  static func line(ofConflict path: TreePath, size: Int) -> String {
    "Notes-Conflict: \(size) \(quoted(path))"
  }

  private static func value(of key: String, in line: Substring.UTF8View) -> Substring.UTF8View? {
    guard line.starts(with: key.utf8) else { return nil }
    let rest = line.dropFirst(key.utf8.count)
    return rest.starts(with: ": ".utf8) ? rest.dropFirst(2) : nil
  }

  private static func wordAndPath(_ value: Substring.UTF8View) -> (String, TreePath)? {
    guard let space = value.firstIndex(of: UInt8(ascii: " ")),
      let path = unquoted(Array(value[value.index(after: space)...]))
    else { return nil }
    return (String(decoding: value[..<space], as: UTF8.self), path)
  }

  /// The path as it is, or in double quotes with octal escapes if it has control characters, a quote, a
  /// backslash, an outer space, or bytes that are not UTF-8.
  package static func quoted(_ path: TreePath) -> String {
    let bytes = path.bytes
    let isPlain =
      path.utf8String != nil && bytes.first != 0x20 && bytes.last != 0x20
      && bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7f && $0 != 0x22 && $0 != 0x5c }
    if isPlain { return path.description }
    var text = "\""
    for byte in bytes {
      if byte >= 0x20, byte < 0x7f, byte != 0x22, byte != 0x5c {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let octal = String(byte, radix: 8)
        text += "\\" + String(repeating: "0", count: 3 - octal.utf8.count) + octal
      }
    }
    return text + "\""
  }

  /// The path in a text written by `quoted`; nil if the text is invalid.
  package static func unquoted(_ text: [UInt8]) -> TreePath? {
    guard text.first == UInt8(ascii: "\"") else {
      return text.isEmpty ? nil : TreePath(bytes: text)
    }
    guard text.count > 2, text.last == UInt8(ascii: "\"") else { return nil }
    var bytes: [UInt8] = []
    var rest = text.dropFirst().dropLast()
    while let byte = rest.popFirst() {
      if byte != UInt8(ascii: "\\") {
        bytes.append(byte)
      } else {
        guard let value = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8) else {
          return nil
        }
        bytes.append(value)
        rest = rest.dropFirst(3)
      }
    }
    return TreePath(bytes: bytes)
  }
}

extension MergeRules {
  private static let named: [(MergeRules, String)] = [
    (.joinedInsertions, "joined"), (.touchingLines, "lines"), (.words, "words"),
  ]

  /// The names of the rules, joined by commas: `joined`, `lines`, `words`.
  public var names: String { Self.named.filter { contains($0.0) }.map(\.1).joined(separator: ",") }

  init?(names: String) {
    self = []
    for name in names.split(separator: ",") {
      // Earlier versions used the rule "sentences" where "words" is used now.
      let name = name == "sentences" ? "words" : name
      guard let rule = Self.named.first(where: { $0.1 == name }) else { return nil }
      insert(rule.0)
    }
  }
}
