internal import System

/// A literal text to search for, compared as a folding requires.
struct LiteralPattern: Sendable {
  private let bytes: [UInt8]

  /// - Parameter folder: the `Folder` (it folds letter case) that also folds the texts to search.
  init(_ text: String, folder: Folder) { bytes = folder.fold(Array(text.utf8)).bytes }

  /// The first match that starts at `start` or later, as offsets into the folded text.
  func firstMatch(in text: FoldedText, from start: Int) -> Range<Int>? {
    var start = start
    // A pattern of only ignored marks matches nothing.
    while !bytes.isEmpty, let range = text.bytes.firstRange(of: bytes, from: start) {
      if text.original(of: range) != nil, !text.hasMark(at: range.upperBound) { return range }
      start = range.lowerBound + 1
    }
    return nil
  }
}
