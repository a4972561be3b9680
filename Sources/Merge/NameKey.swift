package import Git

/// What names have in common that some file systems take for one: notes-merge(7), "Names that
/// meet".
package struct NameKey: Hashable {
  /// The lower-case, decomposed name in UTF-8; a name that is not UTF-8 as it is.
  private let bytes: [UInt8]

  package init(_ name: TreePath) {
    if name.bytes.allSatisfy({ $0 < 0x80 }) {
      bytes = name.bytes.map { (0x41...0x5A).contains($0) ? $0 + 32 : $0 }
    } else if let text = name.utf8String {
      bytes = Array(UnicodeForms.pinned.lowerCaseDecomposed(text).utf8)
    } else {
      bytes = name.bytes
    }
  }

  /// The version of Unicode whose letter case and canonical equivalence count.
  package static var unicodeVersion: String { UnicodeTable.version }
}
