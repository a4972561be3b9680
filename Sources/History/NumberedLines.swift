internal import System

/// The lines of a text as numbers, with one number for equal lines: notes-blame(1). Of a text with very many
/// lines, only the first and the last ones.
struct NumberedLines {
  /// The most lines of a text that are numbered.
  static let most = 1 << 17

  private(set) var numbers: [Int32] = []
  /// The number of skipped lines in the middle.
  private var skipped = 0

  init() {}

  fileprivate init(_ text: [UInt8], number: (ArraySlice<UInt8>) -> Int32) {
    let count =
      text.count { $0 == UInt8(ascii: "\n") }
      + (text.last.map { $0 != UInt8(ascii: "\n") } == true ? 1 : 0)
    skipped = max(count - Self.most, 0)
    var (start, line) = (0, 0)
    while start < text.count {
      let end = text.firstIndex(of: UInt8(ascii: "\n"), from: start) ?? text.count
      if line < Self.most / 2 || line >= Self.most / 2 + skipped {
        numbers.append(number(text[start..<end]))
      }
      (start, line) = (end + 1, line + 1)
    }
  }

  /// The line number in the text of the line at this index.
  func place(of index: Int) -> Int { index < Self.most / 2 ? index : index + skipped }
}

/// Gives equal lines the same number without keeping their bytes: a note may be one long line, in a
/// thousand versions.
struct LineNumbers {
  /// The most different lines to remember; they use about 50 MB.
  static let mostKept = 1 << 20

  /// Two hashes with this process's random seed, so that nobody can prepare two lines with equal
  /// digests.
  private struct Digest: Hashable {
    let first: Int
    let second: Int

    init(_ line: ArraySlice<UInt8>) {
      var (one, other) = (Hasher(), Hasher())
      one.combine(atOnce: line)
      other.combine(0)
      other.combine(atOnce: line)
      (first, second) = (one.finalize(), other.finalize())
    }
  }

  private var known: [Digest: Int32] = [:]

  /// How many different lines there were.
  var count: Int { known.count }

  /// The numbers of a text's lines, which end in `\n`; a last part without a newline also counts as a line.
  mutating func lines(of text: [UInt8]) -> NumberedLines {
    NumberedLines(text) { line in
      let digest = Digest(line)
      if let number = known[digest] { return number }
      let number = Int32(known.count)
      known[digest] = number
      return number
    }
  }
}
