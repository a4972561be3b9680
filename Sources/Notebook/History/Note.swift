public import Git

extension TreePath {
  /// The suffixes that make a file a note rather than an attachment.
  static let noteSuffixes = [".txt", ".md"]

  /// Whether the path is a note's: a text file by its suffix.
  public var isNote: Bool { noteSuffix != nil }

  /// The note's title: the file's name without the suffix. For an attachment the whole name.
  public var noteTitle: String {
    let bytes = name.bytes
    return TreePath(bytes: bytes.dropLast(noteSuffix?.utf8.count ?? 0)).description
  }

  private var noteSuffix: String? {
    let name = self.name.bytes
    return Self.noteSuffixes.first { suffix in
      name.count > suffix.utf8.count
        && zip(name.suffix(suffix.utf8.count), suffix.utf8).allSatisfy { byte, letter in
          (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            ? byte | 0x20 == letter : byte == letter
        }
    }
  }
}
