internal import Merge

/// The words that two texts have in common: notes-diff(1).
enum WordMatching {
  typealias Piece = WordDiff.Piece

  static func pieces(from old: [UInt8], to new: [UInt8]) -> [Piece] {
    let before = words(in: old)
    let after = words(in: new)
    var table = LineTable()
    let a = before.map { table.number(of: $0) }
    let b = after.map { table.number(of: $0) }
    var pieces: [Piece] = []
    func add(_ kind: Piece.Kind, _ tokens: ArraySlice<ArraySlice<UInt8>>) {
      let bytes = Array(tokens.joined())
      if !bytes.isEmpty { pieces.append(Piece(kind: kind, bytes: bytes)) }
    }
    var position = 0
    for hunk in LineMatching.hunks(from: a, to: b) {
      add(.same, before[position..<hunk.a.lowerBound])
      add(.removed, before[hunk.a])
      add(.added, after[hunk.b])
      position = hunk.a.upperBound
    }
    add(.same, before[position...])
    return joined(pieces)
  }

  /// The words as a merge splits them, with two exceptions for units that readers see: emoji with zero-width
  /// joiners stay whole, and scripts written without spaces (kana and Han) are split into characters.
  private static func words(in text: [UInt8]) -> [ArraySlice<UInt8>] {
    let joiner: [UInt8] = [0xE2, 0x80, 0x8D]
    var words: [ArraySlice<UInt8>] = []
    var isJoined = false
    for token in Token.words(in: text) {
      let isJoiner = token.elementsEqual(joiner)
      if isJoiner || isJoined, let last = words.popLast() {
        words.append(text[last.startIndex..<token.endIndex])
      } else {
        words += characters(of: token)
      }
      isJoined = isJoiner
    }
    return words
  }

  private static func characters(of token: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    var parts: [ArraySlice<UInt8>] = []
    var start = token.startIndex
    var position = start
    while position < token.endIndex {
      // U+3000 to U+9FFF are three bytes, the first from E3 to E9.
      guard (0xE3...0xE9).contains(token[position]), position + 3 <= token.endIndex,
        token[position + 1] & 0xC0 == 0x80, token[position + 2] & 0xC0 == 0x80
      else {
        position += 1
        continue
      }
      if start < position { parts.append(token[start..<position]) }
      parts.append(token[position..<position + 3])
      position += 3
      start = position
    }
    if start < token.endIndex { parts.append(token[start...]) }
    return parts
  }

  /// A single blank between two changes is part of them: three replaced words in a row are easier
  /// to read as one change.
  private static func joined(_ pieces: [Piece]) -> [Piece] {
    var result: [Piece] = []
    var removed: [UInt8] = []
    var added: [UInt8] = []
    func flush() {
      if !removed.isEmpty { result.append(Piece(kind: .removed, bytes: removed)) }
      if !added.isEmpty { result.append(Piece(kind: .added, bytes: added)) }
      (removed, added) = ([], [])
    }
    for (position, piece) in pieces.enumerated() {
      switch piece.kind {
      case .removed: removed += piece.bytes
      case .added: added += piece.bytes
      case .same:
        let isBetween = !(removed.isEmpty || added.isEmpty) && position + 1 < pieces.count
        if isBetween, piece.bytes.allSatisfy({ $0 == UInt8(ascii: " ") }) {
          removed += piece.bytes
          added += piece.bytes
        } else {
          flush()
          result.append(piece)
        }
      }
    }
    flush()
    return result
  }
}
