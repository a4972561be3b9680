internal import Merge
internal import System

/// Texts as arrays of lines; each line is a number in one table.
struct LineTexts {
  private var table = LineTable()

  struct Text {
    let lines: [Int32]
    fileprivate let counts: [Int32: Int]

    func count(_ line: Int32) -> Int { counts[line] ?? 0 }

    /// Each line of the text once.
    var distinct: [Int32] { Array(counts.keys) }

    /// The share of another text's lines that this text has, from 0 to 1; 1 if the other text is empty.
    func share(of other: Text) -> Double {
      let common = other.counts.reduce(0) { $0 + min($1.value, count($1.key)) }
      return other.lines.isEmpty ? 1 : Double(common) / Double(other.lines.count)
    }
  }

  mutating func text(_ bytes: [UInt8]) -> Text {
    let lines = table.lines(of: bytes)
    var counts: [Int32: Int] = [:]
    for line in lines { counts[line, default: 0] += 1 }
    return Text(lines: lines, counts: counts)
  }

  /// The words of a line.
  func words(of line: Int32) -> [ArraySlice<UInt8>] {
    table[line].split(whereSeparator: Self.isSpace)
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || (9...13).contains(byte)
  }

  func isBlank(_ line: Int32) -> Bool { table[line].allSatisfy(Self.isSpace) }
}

/// A place at which a checkout changed a text, and the lines that a save has there.
struct BroughtRegion {
  enum State {
    /// The save has all removed lines at this place, and no added line.
    case old
    /// The save has all added lines at this place, and no removed line.
    case new
    /// The save has some of the added lines at this place.
    case mixed
    /// The place was changed again, or its state is unclear.
    case neither
  }

  let state: State
  /// Whether the checkout added lines here: if a save has such a line, its writer had the new text.
  let hasComing: Bool
  /// Whether the checkout removed lines here.
  let hasGoing: Bool
  /// How many of the added lines are missing in the save.
  let missing: Int
  /// Whether the added lines are in a block of a conflict.
  let isInBlock: Bool

  var showsNew: Bool { hasComing && (state == .new || state == .mixed) }

  /// The regions in which a checkout changed `old` to `new`, if `present` still has the change. Lines are
  /// counted wherever they are; blank lines prove nothing. `outside` is the present text without the
  /// blocks of an open conflict.
  static func all(
    from old: LineTexts.Text, to new: LineTexts.Text, present: LineTexts.Text,
    saved: LineTexts.Text, outside: LineTexts.Text? = nil, in texts: LineTexts
  ) -> [BroughtRegion] {
    // Lines that the save has and the old text does not: such a line may be an added line that was
    // changed again.
    let own = saved.distinct.filter { saved.count($0) > old.count($0) }
      .map { Set(texts.words(of: $0)) }
    return LineMatching.hunks(from: old.lines, to: new.lines).compactMap { hunk in
      let brought = Set(new.lines[hunk.b]).filter { line in
        !texts.isBlank(line) && new.count(line) > old.count(line)
      }
      let came = brought.filter { present.count($0) > old.count($0) }
      let went = Set(old.lines[hunk.a]).filter { line in
        !texts.isBlank(line) && old.count(line) > new.count(line)
          && present.count(line) < old.count(line)
      }
      // The user has changed the added lines since: then the old lines in a save are an edit like
      // any other.
      if came.isEmpty && (went.isEmpty || !brought.isEmpty) { return nil }
      let kept = came.count { saved.count($0) > old.count($0) }
      let back = went.count { saved.count($0) >= old.count($0) }
      let former = Set(old.lines[hunk.a].flatMap(texts.words))
      let isChanged =
        kept == 0
        && came.contains { line in
          let words = Set(texts.words(of: line)).subtracting(former)
          return own.contains { 2 * $0.intersection(words).count > max(words.count, 1) }
        }
      let state: State =
        if isChanged {
          .mixed
        } else if kept == 0, back == went.count {
          .old
        } else if kept == came.count, back == 0 {
          .new
        } else {
          kept > 0 ? .mixed : .neither
        }
      return BroughtRegion(
        state: state, hasComing: !came.isEmpty, hasGoing: !went.isEmpty,
        missing: came.count - kept,
        isInBlock: outside.map { outside in
          came.isEmpty || came.contains { outside.count($0) < present.count($0) }
        } ?? false)
    }
  }
}
