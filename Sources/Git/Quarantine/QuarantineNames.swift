/// The rules for names in a tree from another device. A name must not mean `.git` or lead out of
/// the notebook on any system (git's own fsck), and must not contain control characters, which
/// deceive on a terminal.
public enum NameRules {
  /// The longest name of a file or folder, in bytes: Linux's own limit.
  public static let longestName = 255

  /// The reason why devices refuse `name` (one component of a path); nil if they accept it.
  public static func problem(with name: TreePath) -> String? {
    name.bytes.withUnsafeBytes { problem(with: $0) }
  }

  /// The reason why devices refuse a file with this path: a name in it, its length or its depth.
  /// Nil if they accept it.
  public static func problem(withPath path: TreePath) -> String? {
    path.bytes.withUnsafeBytes { problem(withPath: $0) }
  }

  /// Like `problem(withPath:)` for a `TreePath`, for the path's bytes.
  public static func problem(withPath path: UnsafeRawBufferPointer) -> String? {
    let limits = PackLimits.standard
    if path.count > limits.pathBytes { return "a path longer than \(limits.pathBytes) bytes" }
    var depth = 0
    var rest = path[...]
    while true {
      let name = rest.prefix { $0 != UInt8(ascii: "/") }
      depth += 1
      if depth > limits.depth { return "more than \(limits.depth) folders inside one another" }
      if let problem = problem(with: UnsafeRawBufferPointer(rebasing: name)) { return problem }
      if name.endIndex == rest.endIndex { return nil }
      rest = rest[(name.endIndex + 1)...]
    }
  }

  static func problem(with name: UnsafeRawBufferPointer) -> String? {
    if name.isEmpty { return "an empty name" }
    if name.count > longestName { return "a name longer than \(longestName) bytes" }
    if name.count <= 2, name.allSatisfy({ $0 == UInt8(ascii: ".") }) { return "the name . or .." }
    var suspicious = false
    var previous: UInt8 = 0
    for byte in name {
      if byte < 0x20 || byte == 0x7f {
        return "a name that contains a line break or control character"
      }
      if byte == UInt8(ascii: "/") { return "a slash in a name" }
      // U+0080 to U+009F.
      if previous == 0xc2, (0x80...0x9f).contains(byte) {
        return "a name that contains a line break or control character"
      }
      if byte == UInt8(ascii: "g") || byte == UInt8(ascii: "G") { suspicious = true }
      previous = byte
    }
    return suspicious && meansGitFolder(name) ? "a name that means .git" : nil
  }

  /// Whether some file system reads the name, or a part of it between backslashes, as `.git`.
  private static func meansGitFolder(_ name: UnsafeRawBufferPointer) -> Bool {
    for part in name.split(separator: UInt8(ascii: "\\"), omittingEmptySubsequences: true) {
      if isNTFSGitFolder(part) || isHFSGitFolder(part) { return true }
    }
    return false
  }

  /// Whether a file of this name would be `.git` on NTFS. There `git~1` is another name of `.git`. Case, and dots and
  /// spaces at the end, do not count. After a colon comes the name of a stream of the same file.
  private static func isNTFSGitFolder(_ name: Slice<UnsafeRawBufferPointer>) -> Bool {
    for alias in [".git", "git~1"] {
      let alias = Array(alias.utf8)
      guard name.count >= alias.count,
        zip(name, alias).allSatisfy({ lowercase($0) == $1 })
      else { continue }
      let rest = name.dropFirst(alias.count).prefix { $0 != UInt8(ascii: ":") }
      if rest.allSatisfy({ $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: " ") }) { return true }
    }
    return false
  }

  /// HFS+ ignores case and some invisible characters anywhere in a name.
  private static func isHFSGitFolder(_ name: Slice<UnsafeRawBufferPointer>) -> Bool {
    var seen: [UInt8] = []
    for scalar in String(decoding: name, as: UTF8.self).unicodeScalars
    where !isIgnoredByHFS(scalar) {
      guard scalar.isASCII, seen.count < 4 else { return false }
      seen.append(lowercase(UInt8(scalar.value)))
    }
    return seen == Array(".git".utf8)
  }

  // The characters of git's utf8.c, next_hfs_char.
  private static func isIgnoredByHFS(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x200c...0x200f, 0x202a...0x202e, 0x206a...0x206f, 0xfeff: true
    default: false
    }
  }

  private static func lowercase(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte
  }
}
