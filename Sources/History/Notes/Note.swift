public import Git

extension TreePath {
  /// The suffixes that make a file a note rather than an attachment.
  static let noteSuffixes = [".txt", ".md"]

  /// Whether the path is a note's: a text file by its suffix.
  public var isNote: Bool { Self.titleRange(inPath: bytes) != nil }

  /// The note's title: the file's name without the suffix. For an attachment the whole name.
  public var noteTitle: String {
    guard let range = Self.titleRange(inPath: bytes) else { return name.description }
    return TreePath(bytes: bytes[range]).description
  }

  /// What makes the file a note: `.txt`, `.md`, as it is written; empty for an attachment.
  public var noteSuffix: String {
    Self.titleRange(inPath: bytes).map { TreePath(bytes: bytes[$0.upperBound...]).description }
      ?? ""
  }

  /// The path without the suffix that makes it a note.
  var withoutNoteSuffix: TreePath {
    Self.titleRange(inPath: bytes).map { TreePath(bytes: bytes[..<$0.upperBound]) } ?? self
  }

  /// Where the title is in the bytes of a note's path; nil for an attachment's.
  static func titleRange<Bytes: BidirectionalCollection>(inPath path: Bytes) -> Range<Int>?
  where Bytes.Element == UInt8, Bytes.Index == Int {
    let slash = path.lastIndex(of: UInt8(ascii: "/"))
    let start = slash.map { $0 + 1 } ?? path.startIndex
    let suffix = noteSuffixes.first { suffix in
      path.endIndex - start > suffix.utf8.count
        && zip(path.suffix(suffix.utf8.count), suffix.utf8).allSatisfy { byte, letter in
          (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            ? byte | 0x20 == letter : byte == letter
        }
    }
    return suffix.map { start..<(path.endIndex - $0.utf8.count) }
  }
}
