internal import Git

/// The name under which a file stays that can't have its own: notes-merge(7), "Copies".
enum CopyName {
  /// How many bytes a name may have on the file systems there are.
  static let longestName = 255

  /// `NAME (WHO's copy, DATE).EXT`, or from the second attempt on `NAME (WHO's copy, DATE 2).EXT`.
  static func path(for path: TreePath, label: [UInt8], attempt: Int, isFolder: Bool) -> TreePath {
    let (who, date) = ConflictLabel.parse(label) ?? (Array("unknown".utf8), [])
    let name = path.name.bytes
    var stem = name[...]
    var suffix: ArraySlice<UInt8> = []
    if !isFolder, let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0, name.count - dot <= 16 {
      (stem, suffix) = (name[..<dot], name[dot...])
    }
    var note = Array(" (".utf8)
    for byte in who.prefix(100) {
      note.append(byte == UInt8(ascii: "/") ? UInt8(ascii: "-") : byte)
    }
    note += Array("'s copy, ".utf8)
    for byte in date { note.append(byte == UInt8(ascii: ":") ? UInt8(ascii: ".") : byte) }
    if attempt > 1 { note += Array(" \(attempt)".utf8) }
    note += Array(")".utf8)
    while stem.count + note.count + suffix.count > longestName, let last = stem.popLast() {
      // A character goes as a whole.
      if last & 0xC0 == 0x80 { while let byte = stem.popLast(), byte & 0xC0 == 0x80 {} }
    }
    let copy = TreePath(bytes: Array(stem) + note + Array(suffix))
    return path.parent?.appending(copy) ?? copy
  }
}
