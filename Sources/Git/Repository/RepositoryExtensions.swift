internal import System

/// How a repository says that it is kept (git-config(1), "extensions", and gitrepository-layout(5)): a
/// version, and what a program has to know to work with it. git reads them in `.git/config` and in nothing
/// that it includes. notes looks at them itself: what one libgit2 knows, another one refuses.
struct RepositoryExtensions {
  private var version = "0"
  /// Which other users may write: `core.sharedRepository`.
  private var sharing = "umask"
  /// Lower-case names with the last value of each; a name without a value is true.
  private var values: [String: String] = [:]

  /// Those of `.git/config`; an unreadable file has none.
  init(of gitFolder: String) {
    self.init(Disk.contentIfAny(gitFolder + "/config") ?? [])
  }

  init(_ content: [UInt8]) {
    var section = Substring()
    for setting in Self.lines(of: content) {
      var rest = Substring(setting)
      Self.trim(&rest)
      if rest.first == "[" {
        let end = rest.firstIndex(of: "]") ?? rest.endIndex
        section = rest[..<end].dropFirst()
        Self.trim(&section)
        rest = rest[end...].dropFirst()
        Self.trim(&rest)
      }
      let name = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        .lowercased()
      guard !name.isEmpty else { continue }
      let value = Self.value(rest.dropFirst(name.count))
      switch section.lowercased() {
      case "core" where name == "repositoryformatversion": version = value
      case "core" where name == "sharedrepository": sharing = value
      case "extensions": values[name] = value
      default: break
      }
    }
  }

  /// Extensions that a repository may have, and the value with which it is as any other. What has none
  /// changes nothing here: objects that a partial clone lacks are looked for by `HistoryGap`.
  private static let harmless: [String: String?] = [
    "noop": nil, "noop-v1": nil, "objectformat": "sha1", "refstorage": "files",
    "worktreeconfig": "false", "preciousobjects": "false", "relativeworktrees": "false",
    "submodulepathconfig": "false", "partialclone": nil,
  ]

  /// The extensions of which libgit2 is told that it need not judge them.
  static let judgedHere = harmless.keys.sorted()

  /// Throws `GitError.unsupported` for a version that does not exist, `sharedRepository`, and `unsupportedExtension` for the
  /// first extension, by name, that would have to be known. git passes over unknown ones in version 0.
  func check() throws(GitError) {
    guard ["0", "1"].contains(version) else {
      throw .unsupported("core.repositoryformatversion \(version)")
    }
    guard ["umask", "false", "no", "off", "0", ""].contains(sharing.lowercased()) else {
      throw .sharedRepository
    }
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      switch Self.harmless[name] {
      case .some(.none): continue
      case .some(.some(let usual)):
        if value.lowercased() == usual { continue }
        if usual == "false", ["no", "off", "0", ""].contains(value.lowercased()) { continue }
      case .none: if version == "0" { continue }
      }
      throw .unsupportedExtension(name)
    }
  }

  /// The lines, where one that ends with a backslash goes on in the next.
  private static func lines(of content: [UInt8]) -> [String] {
    var lines = [""]
    var continues = false
    for line in content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      let text = String(
        decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
      if !continues { lines.append("") }
      // An even number of backslashes stands for themselves.
      continues = text.reversed().prefix { $0 == "\\" }.count % 2 == 1
      lines[lines.count - 1] += continues ? text.dropLast() : text[...]
    }
    return lines
  }

  /// The value behind a name: nothing is true; quotes and comments go.
  private static func value(_ text: Substring) -> String {
    var text = text
    trim(&text)
    guard text.first == "=" else { return "true" }
    var value = ""
    var isQuoted = false
    for character in text.dropFirst() {
      if character == "\"" {
        isQuoted.toggle()
      } else if !isQuoted, character == "#" || character == ";" {
        break
      } else {
        value.append(character)
      }
    }
    var trimmed = Substring(value)
    trim(&trimmed)
    return String(trimmed)
  }

  private static func trim(_ text: inout Substring) {
    text = text.drop { $0 == " " || $0 == "\t" }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
  }
}
