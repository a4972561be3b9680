internal import Git

/// What names have in common that some file systems take for one: notes-merge(7), "Names that
/// meet".
struct NameKey: Hashable {
  // String equality is Unicode's canonical equivalence; bytes are for names that are not UTF-8.
  private let text: String
  private let bytes: [UInt8]

  init(_ name: TreePath) {
    guard let string = name.utf8String else {
      (text, bytes) = ("", name.bytes)
      return
    }
    bytes = []
    if name.bytes.allSatisfy({ $0 < 0x80 }) {
      text = string.lowercased()
    } else {
      // Letter by letter: the rule must not depend on a letter's neighbours.
      text = string.unicodeScalars.map(\.properties.lowercaseMapping).joined()
    }
  }
}
