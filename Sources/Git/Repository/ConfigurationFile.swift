internal import Glibc
internal import System

/// A git configuration file and the files that it includes: git-config(1), "Syntax" and "Includes". Loading
/// libgit2 for a setting would take longer than the rest of a command. Nor does libgit2 expand `~` if it may
/// not read the user's own configuration.
public struct ConfigurationFile {
  /// The settings in order: `section.name` or `section.SUBSECTION.name`, in lower case except for the subsection.
  /// The value is nil for a name without a value.
  public private(set) var entries: [(name: String, value: String?)] = []
  /// The files that are included under a condition; they are not read.
  public private(set) var conditional: [String] = []

  /// The maximum depth of nested includes, as in git.
  private static let deepest = 10

  /// Reads a file; the result is empty if there is no file.
  ///
  /// - Throws: `GitError.unreadableConfiguration`; git also stops then.
  public init(at path: String) throws { try read(path, depth: 0) }

  /// Reads a file; nil if it cannot be read. The caller then asks libgit2, which reports the reason.
  static func ifReadable(_ path: String) -> ConfigurationFile? {
    do { return try ConfigurationFile(at: path) } catch { return nil }
  }

  /// The last value of a setting; `name` is in the form of `entries`.
  public subscript(name: String) -> String? { entries.last { $0.name == name }?.value ?? nil }

  /// Whether a value is true: git-config(1), "boolean".
  public static func isTrue(_ value: String) -> Bool {
    !["false", "no", "off", "0", ""].contains(value.lowercased())
  }

  /// The path that a setting means. A setting may begin with `~` or `~USER`.
  public static func expanded(_ path: String) -> String {
    guard path.hasPrefix("~") else { return path }
    let user = path.dropFirst().prefix { $0 != "/" }
    let home =
      user.isEmpty
      ? getenv("HOME").map { String(cString: $0) }
      : getpwnam(String(user)).map { String(cString: $0.pointee.pw_dir) }
    return home.map { $0 + path.dropFirst(1 + user.count) } ?? path
  }

  /// The possible values of a setting from conditionally included files, and from the files that these include.
  public func conditionalValues(of name: String) throws -> [String] {
    var (values, met, open) = ([String](), Set<String>(), conditional)
    while let path = open.popLast() {
      guard met.insert(path).inserted else { continue }
      let file = try ConfigurationFile(at: path)
      values += file[name].map { [$0] } ?? []
      open += file.conditional
    }
    return values
  }

  private mutating func read(_ path: String, depth: Int) throws {
    // Many scripts use this path for "no file".
    if path == "/dev/null" { return }
    let content: [UInt8]
    do { content = try Disk.readIfThere(path) ?? [] } catch {
      throw GitError.unreadableConfiguration(path)
    }
    guard depth <= Self.deepest, let found = ConfigurationText(content)?.entries else {
      throw GitError.unreadableConfiguration(path)
    }
    for (name, value) in found {
      entries.append((name, value))
      guard let value, name.hasSuffix(".path") else { continue }
      let expanded = Self.expanded(value)
      let file = expanded.hasPrefix("/") ? expanded : Disk.parent(of: path) + "/" + expanded
      if name == "include.path" { try read(file, depth: depth + 1) }
      if name.hasPrefix("includeif.") { conditional.append(file) }
    }
  }
}

/// The settings in a configuration file's bytes.
struct ConfigurationText {
  private(set) var entries: [(name: String, value: String?)] = []
  private var rest: ArraySlice<UInt8>

  private static let newline = UInt8(ascii: "\n")

  /// Nil if a line is not in a form that git accepts.
  init?(_ content: [UInt8]) {
    // git reads CRLF as LF, and skips a byte order mark.
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    var text: [UInt8] = []
    for byte in content {
      if byte == Self.newline, text.last == UInt8(ascii: "\r") { text.removeLast() }
      text.append(byte)
    }
    rest = text[...]
    if rest.starts(with: mark) { rest = rest.dropFirst(mark.count) }
    var section = ""
    while let byte = rest.first {
      switch byte {
      case _ where byte == Self.newline || Self.isBlank(byte): rest.removeFirst()
      case UInt8(ascii: "#"), UInt8(ascii: ";"): skipComment()
      case UInt8(ascii: "["):
        guard let name = takeSection() else { return nil }
        section = name + "."
      default:
        guard let entry = takeEntry() else { return nil }
        entries.append((section + entry.name, entry.value))
      }
    }
  }

  private mutating func skipComment() { rest = rest.drop { $0 != Self.newline } }

  private static func isNamed(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
      || byte == UInt8(ascii: "-")
  }

  private mutating func take(_ isTaken: (UInt8) -> Bool) -> String {
    let taken = rest.prefix(while: isTaken)
    rest = rest[taken.endIndex...]
    return String(decoding: taken, as: UTF8.self)
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard rest.first == byte else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func skipBlanks() {
    rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
  }

  /// `[section]`, `[section.subsection]` or `[section "subsection"]`.
  private mutating func takeSection() -> String? {
    rest.removeFirst()
    let name = take { Self.isNamed($0) || $0 == UInt8(ascii: ".") }.lowercased()
    if name.isEmpty { return nil }
    if take(UInt8(ascii: "]")) { return name }
    let before = rest.count
    skipBlanks()
    guard rest.count < before, take(UInt8(ascii: "\"")) else { return nil }
    var subsection: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""):
        return take(UInt8(ascii: "]"))
          ? name + "." + String(decoding: subsection, as: UTF8.self) : nil
      case Self.newline: return nil
      case UInt8(ascii: "\\"):
        guard let next = rest.popFirst(), next != Self.newline else { return nil }
        subsection.append(next)
      default: subsection.append(byte)
      }
    }
    return nil
  }

  /// `name` or `name = value`.
  private mutating func takeEntry() -> (name: String, value: String?)? {
    let name = take(Self.isNamed).lowercased()
    guard let first = name.utf8.first, (0x61...0x7A).contains(first) else { return nil }
    skipBlanks()
    guard take(UInt8(ascii: "=")) else {
      // A line without a value cannot have a comment.
      guard rest.isEmpty || rest.first == Self.newline else { return nil }
      return (name, nil)
    }
    return takeValue().map { (name, $0) }
  }

  /// A value up to the end of its line. White space outside of quotes is kept if something follows it; before
  /// 2.45, git replaced it by spaces.
  private mutating func takeValue() -> String? {
    var (value, isQuoted, blanks) = ([UInt8](), false, [UInt8]())
    while let byte = rest.popFirst(), byte != Self.newline || isQuoted {
      if byte == Self.newline { return nil }
      if !isQuoted {
        if byte == UInt8(ascii: "#") || byte == UInt8(ascii: ";") {
          skipComment()
          continue
        }
        if Self.isBlank(byte) {
          if !value.isEmpty { blanks.append(byte) }
          continue
        }
      }
      value += blanks
      blanks = []
      switch byte {
      case UInt8(ascii: "\""): isQuoted.toggle()
      case UInt8(ascii: "\\"):
        switch rest.popFirst() ?? Self.newline {
        case Self.newline: continue
        case UInt8(ascii: "t"): value.append(UInt8(ascii: "\t"))
        case UInt8(ascii: "b"): value.append(0x08)
        case UInt8(ascii: "n"): value.append(Self.newline)
        case UInt8(ascii: "\\"): value.append(UInt8(ascii: "\\"))
        case UInt8(ascii: "\""): value.append(UInt8(ascii: "\""))
        default: return nil
        }
      default: value.append(byte)
      }
    }
    return isQuoted ? nil : String(decoding: value, as: UTF8.self)
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
  }
}
