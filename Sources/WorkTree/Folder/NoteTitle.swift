package import Git

extension TreePath {
  /// The suffixes that make a file a note rather than an attachment.
  package static let noteSuffixes = [".txt", ".md"]

  /// Where the title is in the bytes of a note's path; nil for an attachment's.
  package var titleRange: Range<Int>? { bytes.withUnsafeBytes(Self.titleRange) }

  /// The same of a path that is given by its bytes.
  package static func titleRange(in bytes: UnsafeRawBufferPointer) -> Range<Int>? {
    let start = bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
    let suffix = noteSuffixes.first { suffix in
      bytes.count - start > suffix.utf8.count
        && zip(bytes.suffix(suffix.utf8.count), suffix.utf8).allSatisfy { byte, letter in
          (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            ? byte | 0x20 == letter : byte == letter
        }
    }
    return suffix.map { start..<(bytes.count - $0.utf8.count) }
  }
}
