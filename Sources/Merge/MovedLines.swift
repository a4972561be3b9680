/// Lines that a side moved: notes-merge(7), "Moved lines".
struct MovedLines {
  private let base: [Int32]
  private var sides: [[Int32]]
  private let hunks: [[Hunk]]

  /// The lines that replace some lines of a side.
  private struct Change {
    var side: Int
    var range: Range<Int>
    var lines: [Int32]
  }

  /// - Parameter hunks: the differences of each of the two sides from the base.
  init(base: [Int32], sides: [[Int32]], hunks: [[Hunk]]) {
    (self.base, self.sides, self.hunks) = (base, sides, hunks)
  }

  /// The sides with each line that both moved only once, where the newer side put it. If there is a
  /// conflict, one side's edits of lines that the other moved are applied at the new place. Nil if
  /// nothing changes.
  mutating func carried(
    isOpen: Bool, in context: InsertionContext, _ merge: inout TextMerge, _ labels: [[UInt8]]
  ) -> [[Int32]]? {
    let touched = hunks.indices.map { hunksBesideEdits(of: $0) }
    guard !touched[0].isEmpty, !touched[1].isEmpty,
      ([base] + sides).allSatisfy({ FineRegion.isSmall($0, merge.table) })
    else { return nil }
    var search = SimilarLines(table: merge.table)
    let found = touched.indices.map { moves(of: $0, touched[$0], merge.table, &search) }
    var changes: [Change] = []
    for (mover, other) in [(0, 1), (1, 0)] {
      for (stretch, place) in found[mover] {
        let own = Array(sides[mover][place])
        let made: [Change]
        if mover == 0, let there = found[other].first(where: { $0.stretch == stretch })?.place {
          let both = version(of: stretch, own, Array(sides[1][there]), in: context, &merge, labels)
          made =
            [Change(side: 1, range: there, lines: both)] + takenBack(stretch, place, merge.table)
        } else if isOpen, !found[other].contains(where: { $0.stretch == stretch }),
          let here = self.place(of: stretch, in: other, merge.table),
          !sides[other][here].allSatisfy(merge.table.isBlank), sides[other][here] != base[stretch]
        {
          let theirs = Array(sides[other][here])
          let (older, newer) = mover == 0 ? (own, theirs) : (theirs, own)
          let both = version(of: stretch, older, newer, in: context, &merge, labels)
          made = [
            Change(side: mover, range: place, lines: both),
            Change(side: other, range: here, lines: Array(base[stretch])),
          ]
        } else {
          continue
        }
        let isFree = made.allSatisfy { change in
          !changes.contains { $0.side == change.side && $0.range.overlaps(change.range) }
        }
        if isFree { changes += made }
      }
    }
    if changes.isEmpty { return nil }
    for change in changes.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
      sides[change.side].replaceSubrange(change.range, with: change.lines)
    }
    return sides
  }

  /// The hunks of a side that the other side's edits overlap or touch.
  private func hunksBesideEdits(of side: Int) -> [Hunk] {
    let others = hunks[1 - side]
    var next = 0
    return hunks[side].filter { hunk in
      while next < others.count, others[next].a.upperBound < hunk.a.lowerBound { next += 1 }
      return next < others.count && others[next].a.lowerBound <= hunk.a.upperBound
    }
  }

  /// The merge of moved lines that both edited, or a conflict block.
  private func version(
    of stretch: Range<Int>, _ older: [Int32], _ newer: [Int32], in context: InsertionContext,
    _ merge: inout TextMerge, _ labels: [[UInt8]]
  ) -> [Int32] {
    let text = Array(base[stretch])
    if newer == text || older == text {
      let edited = newer == text ? older : newer
      if Self.keeps(text, edited, merge.table) { return edited }
    } else if let outcome = merge.finely(text, older, newer, in: context.replacing(by: text)),
      outcome.isWhole
    {
      return outcome.settled
    }
    return merge.blocks(zip(labels, [older, newer]).map { .init(label: $0, lines: $1) })
  }

  /// The positions in the base of lines that a side moved, with their positions in the side:
  /// unchanged, or edited.
  private func moves(
    of side: Int, _ touched: [Hunk], _ table: LineTable, _ search: inout SimilarLines
  ) -> [(stretch: Range<Int>, place: Range<Int>)] {
    let lines = sides[side]
    let once = Self.linesThereOnce(base).intersection(Self.linesThereOnce(lines))
    var found: [(stretch: Range<Int>, place: Range<Int>)] = []
    for hunk in touched {
      let stretch = Self.core(of: hunk.a, in: base, table)
      let text = base[stretch]
      let own = lines[Self.core(of: hunk.b, in: lines, table)]
      guard text.contains(where: table.hasLetters), Self.count(of: text, in: base) == 1 else {
        continue
      }
      let isGone = Self.count(of: own, in: base) > 0
      var places: [Int] = []
      for other in hunks[side] where other != hunk && other.b.count >= text.count {
        for start in other.b.lowerBound...(other.b.upperBound - text.count) {
          let there = lines[start..<start + text.count]
          if there.elementsEqual(text) {
            places.append(start)
          } else if isGone {
            guard let isVersion = isVersion(Array(text), Array(there), once, table, &search) else {
              return found
            }
            if isVersion { places.append(start) }
          }
        }
      }
      if places.count == 1 {
        found.append((stretch, places[0]..<places[0] + text.count))
      } else if places.isEmpty {
        found += parts(
          of: stretch, elsewhere: hunks[side].filter { $0 != hunk }, lines, once, table)
      }
    }
    return found
  }

  /// The parts of a stretch that a side moved unchanged, without separating a parent from its
  /// children.
  private func parts(
    of stretch: Range<Int>, elsewhere: [Hunk], _ lines: [Int32], _ once: Set<Int32>,
    _ table: LineTable
  ) -> [(stretch: Range<Int>, place: Range<Int>)] {
    var places: [Int32: Int] = [:]
    for hunk in elsewhere {
      for place in hunk.b where once.contains(lines[place]) && table.hasLetters(lines[place]) {
        places[lines[place]] = place
      }
    }
    var found: [(stretch: Range<Int>, place: Range<Int>)] = []
    var start = stretch.lowerBound
    while start < stretch.upperBound {
      var end = start
      let first = places[base[start]]
      while let first, end < stretch.upperBound, places[base[end]] == first + end - start {
        end += 1
      }
      if let first, end > start {
        let hasChild =
          end < base.count && table.indentation(base[end]) > table.indentation(base[start])
        if !hasChild { found.append((start..<end, first..<first + end - start)) }
      }
      start = max(start + 1, end)
    }
    return found
  }

  /// Whether lines are an edited version of others; nil if the comparison would take too long.
  private func isVersion(
    _ text: [Int32], _ there: [Int32], _ once: Set<Int32>, _ table: LineTable,
    _ search: inout SimilarLines
  ) -> Bool? {
    if text.count == 1 { return search.areSimilar(text[0], there[0]) }
    let hasOwnLine = zip(text, there).contains {
      $0 == $1 && table.hasLetters($0) && once.contains($0)
    }
    return hasOwnLine && Self.keeps(text, there, table)
  }

  private static func linesThereOnce(_ lines: [Int32]) -> Set<Int32> {
    var (seen, again): (Set<Int32>, Set<Int32>) = ([], [])
    for line in lines where !seen.insert(line).inserted { again.insert(line) }
    return seen.subtracting(again)
  }

  /// How often a run is in some lines; an empty run is before each line and after the last.
  private static func count(of run: ArraySlice<Int32>, in lines: [Int32]) -> Int {
    guard let first = run.first else { return lines.count + 1 }
    guard lines.count >= run.count else { return 0 }
    return (0...lines.count - run.count).count {
      lines[$0] == first && lines[$0..<$0 + run.count] == run
    }
  }

  /// A stretch without the blank lines at its ends.
  private static func core(of range: Range<Int>, in lines: [Int32], _ table: LineTable) -> Range<
    Int
  > {
    guard let first = range.first(where: { !table.isBlank(lines[$0]) }),
      let last = range.last(where: { !table.isBlank(lines[$0]) })
    else { return range.upperBound..<range.upperBound }
    return first..<last + 1
  }

  /// The changes that put the moved lines of the older side back to their former place. If the side has changed that
  /// place, they only remove the lines.
  private func takenBack(
    _ stretch: Range<Int>, _ place: Range<Int>, _ table: LineTable
  ) -> [Change] {
    let lines = sides[0]
    let changes = hunks[0].filter { hunk in
      Self.core(of: hunk.a, in: base, table) == stretch && lines[hunk.b].allSatisfy(table.isBlank)
        || Self.core(of: hunk.b, in: lines, table) == place
    }.map { Change(side: 0, range: $0.b, lines: Array(base[$0.a])) }
    return changes.count == 2 ? changes : [Change(side: 0, range: place, lines: [])]
  }

  /// Whether more than half of the words of some lines are kept.
  static func keeps(_ text: [Int32], _ other: [Int32], _ table: LineTable) -> Bool {
    var tokens = LineTable()
    func numbers(_ lines: [Int32]) -> [Int32] {
      Token.words(in: table.text(of: lines)).map { tokens.number(of: $0) }
    }
    let (text, other) = (numbers(text), numbers(other))
    let words = text.indices.filter { tokens.hasWords(text[$0]) }
    guard let hunks = TokenMatching.hunks(from: text, to: other) else { return false }
    let gone = words.count { word in hunks.contains { $0.a.contains(word) } }
    return 2 * gone < words.count
  }

  /// The position of a stretch of the base in a side, including the side's edits in it and children added after
  /// it. Nil if the side's edits extend beyond the stretch.
  private func place(of stretch: Range<Int>, in side: Int, _ table: LineTable) -> Range<Int>? {
    var (before, inside): (Int, Int?) = (0, nil)
    for hunk in hunks[side] {
      let shift = hunk.b.upperBound - hunk.a.upperBound
      if hunk.a.upperBound <= stretch.lowerBound {
        before = shift
      } else if hunk.a.lowerBound >= stretch.upperBound {
        let first = sides[side][hunk.b].first { !table.isBlank($0) }
        if hunk.a.isEmpty, hunk.a.lowerBound == stretch.upperBound,
          first.map(table.indentation) ?? 0 > table.indentation(base[stretch.lowerBound])
        {
          inside = shift
        }
        break
      } else if hunk.a.lowerBound < stretch.lowerBound || hunk.a.upperBound > stretch.upperBound {
        return nil
      } else {
        inside = shift
      }
    }
    return stretch.lowerBound + before..<stretch.upperBound + (inside ?? before)
  }
}
