public import Git

extension TreePath {
  /// The suffixes that make a file a note rather than an attachment.
  static let noteSuffixes = [".txt", ".md"]

  /// Whether the path is a note's: a text file by its suffix.
  public var isNote: Bool { titleRange != nil }

  /// The note's title: the file's name without the suffix. For an attachment the whole name.
  public var noteTitle: String {
    titleRange.map { TreePath(bytes: bytes[$0]).description } ?? name.description
  }

  /// What makes the file a note: `.txt`, `.md`, as it is written; empty for an attachment.
  public var noteSuffix: String {
    titleRange.map { TreePath(bytes: bytes[$0.upperBound...]).description } ?? ""
  }

  /// The path without the suffix that makes it a note.
  var withoutNoteSuffix: TreePath {
    titleRange.map { TreePath(bytes: bytes[..<$0.upperBound]) } ?? self
  }

  /// Where the title is in the bytes of a note's path; nil for an attachment's.
  var titleRange: Range<Int>? {
    let start = bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
    let suffix = Self.noteSuffixes.first { suffix in
      bytes.count - start > suffix.utf8.count
        && zip(bytes.suffix(suffix.utf8.count), suffix.utf8).allSatisfy { byte, letter in
          (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            ? byte | 0x20 == letter : byte == letter
        }
    }
    return suffix.map { start..<(bytes.count - $0.utf8.count) }
  }
}
