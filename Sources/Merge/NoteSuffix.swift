internal import Git

/// The suffixes that make a file a note. Only notes get conflict markers: other texts are read by programs,
/// which markers would break (notes-merge(7), "Files").
package enum NoteSuffix {
  package static let all = [".txt", ".md"]

  /// The suffix of a file's last name, in upper or lower case; nil if it has none, or consists only
  /// of the suffix.
  package static func suffix(ofName name: UnsafeRawBufferPointer.SubSequence) -> String? {
    all.first { suffix in
      name.count > suffix.utf8.count
        && zip(name.suffix(suffix.utf8.count), suffix.utf8).allSatisfy { byte, letter in
          (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            ? byte | 0x20 == letter : byte == letter
        }
    }
  }

  /// Whether a file with that path may get markers.
  static func takesMarkers(_ path: TreePath) -> Bool {
    path.bytes.withUnsafeBytes { bytes in
      let start = bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
      return suffix(ofName: bytes[start...]) != nil
    }
  }
}
