internal import System

/// A text to look for as it is, compared as a folding says.
struct LiteralPattern: Sendable {
  private let bytes: [UInt8]

  /// - Parameter folder: the one that folds the texts to look in.
  init(_ text: String, folder: Folder) { bytes = folder.fold(Array(text.utf8)).bytes }

  /// The first match that starts at `start` or later, as offsets into the folded text.
  func firstMatch(in text: FoldedText, from start: Int) -> Range<Int>? {
    var start = start
    // A text of nothing but marks that do not count is in no text.
    while !bytes.isEmpty, let range = text.bytes.firstRange(of: bytes, from: start) {
      if text.original(of: range) != nil, !text.hasMark(at: range.upperBound) { return range }
      start = range.lowerBound + 1
    }
    return nil
  }
}
