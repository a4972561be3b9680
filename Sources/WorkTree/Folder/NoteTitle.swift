package import Git
internal import Merge

extension TreePath {
  /// The suffixes that make a file a note rather than an attachment.
  package static var noteSuffixes: [String] { NoteSuffix.all }

  /// The range of the title in the bytes of a note's path; nil for an attachment.
  package var titleRange: Range<Int>? { bytes.withUnsafeBytes(Self.titleRange) }

  /// The range of the title in a path's bytes; nil for an attachment.
  package static func titleRange(in bytes: UnsafeRawBufferPointer) -> Range<Int>? {
    let start = bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
    let suffix = NoteSuffix.suffix(ofName: bytes[start...])
    return suffix.map { start..<(bytes.count - $0.utf8.count) }
  }
}
