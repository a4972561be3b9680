/// One text of a sum.
package struct TextTerm: Sendable {
  package var text: [UInt8]
  /// The size of the markers of the text's own blocks, nil when it has none.
  package var markerSize: Int?
  /// `NAME · DATE` of whoever wrote the text.
  package var label: [UInt8]

  package init(text: [UInt8], markerSize: Int? = nil, label: [UInt8] = []) {
    self.text = text
    self.markerSize = markerSize
    self.label = label
  }
}

/// What a sum of texts comes to.
package struct TextMergeResult: Sendable {
  package var text: [UInt8]
  /// The size of the markers of the blocks in `text`, nil when it has none.
  package var markerSize: Int?
  /// The fine-grained rules that had a part in it.
  package var rules: MergeRules
}

/// The sum of texts h1 − b1 + h2 − b2 + h3 …: notes-merge(7), "Text".
package struct TextMerge {
  private let rules: MergeRules
  private var table = LineTable()
  private var used: MergeRules = []
  /// The lines and blocks of the result.
  private var output: [Int32] = []

  /// The merge of the positive terms against the negative ones, one fewer; a negative term that is
  /// nil is a side on which the note did not exist.
  package static func merge(
    positives: consuming [TextTerm], negatives: consuming [TextTerm?], rules: MergeRules = .all
  ) -> TextMergeResult {
    var merge = TextMerge(rules: rules)
    return merge.run(consume positives, consume negatives)
  }

  private mutating func run(
    _ positives: consuming [TextTerm], _ negatives: consuming [TextTerm?]
  ) -> TextMergeResult {
    let hasBase = negatives.contains { $0 != nil }
    let labels = positives.map(\.label)
    let reference = hasBase ? positives.count : 0
    var texts = positives + (hasBase ? negatives.map { $0 ?? TextTerm(text: []) } : [])
    (positives, negatives) = ([], [])
    let textEndings = texts.map { LineEndings(of: $0.text) }
    let positiveEndings = Array(textEndings.prefix(labels.count))
    let negativeEndings = Array(textEndings.dropFirst(labels.count))
    let isMixed = textEndings.contains { $0.style == .mixed }
    var endings = LineEndings.merged(positives: positiveEndings, negatives: negativeEndings)
    if isMixed { endings.style = .lf }
    let terms = zip(texts, textEndings).map { term, endings in
      units(of: term, normalised: !isMixed && endings.style == .crlf)
    }
    // The table has their lines.
    texts = []
    let alignment = Alignment(terms: terms, reference: reference) { [table] in
      hasBase || Self.isParting($0, table)
    }
    for part in alignment.parts {
      switch part {
      case .same(let lines): output += terms[reference][lines]
      case .different(let ranges):
        let values = zip(terms, ranges).map { Array($0[$1]) }
        mergeRegion(
          positives: Array(values.prefix(labels.count)),
          negatives: Array(values.dropFirst(labels.count)), labels: labels
        ) { base in InsertionContext(base: base, replacing: ranges[reference], of: terms[reference])
        }
      }
    }
    // What is not in the result is not to be there while that is put together: texts may be large.
    let blocks = output.compactMap { table.blocks[$0] }
    table.forget(except: [output] + blocks.flatMap { $0.sides.map(\.lines) })
    return rendered(endings)
  }

  /// The lines of a term as numbers, each block of ours as one.
  private mutating func units(of term: TextTerm, normalised: Bool) -> [Int32] {
    let text = normalised ? LineEndings.withoutCarriageReturns(term.text) : term.text
    guard let markerSize = term.markerSize else { return table.lines(of: text) }
    var units: [Int32] = []
    for piece in MarkedText(text, markerSize: markerSize).pieces {
      switch piece {
      case .text(let text): units += table.lines(of: Array(text))
      case .block(let sides, _):
        let block = ConflictBlock(
          sides: sides.map { .init(label: $0.label, lines: table.lines(of: $0.text)) })
        units.append(table.number(of: block))
      }
    }
    return units
  }

  /// Whether lines that all sides share tell what stands before them from what stands after them.
  private static func isParting(_ lines: ArraySlice<Int32>, _ table: LineTable) -> Bool {
    lines.contains { table.blocks[$0] != nil || table.hasLetters($0) }
  }

  private mutating func mergeRegion(
    positives: [[Int32]], negatives: [[Int32]], labels: [[UInt8]],
    context: (_ base: [Int32]) -> InsertionContext
  ) {
    let left = Cancellation(positives: positives, negatives: negatives)
    if left.positives.count == 1 { return output += positives[left.positives[0]] }
    var sides = left.positives.map {
      ConflictBlock.Side(label: labels[$0], lines: positives[$0])
    }
    let bases = left.negatives.map { negatives[$0] }
    let isPlain = (sides.map(\.lines) + bases).joined().allSatisfy { table.blocks[$0] == nil }
    if isPlain, bases.count == 1, !rules.isEmpty {
      let pieces = mergeFinely(&sides, base: bases[0], context: context(bases[0]))
      if let pieces { return put(pieces, labels: sides.map(\.label)) }
    }
    putBlocks(
      ConflictSides.sides(
        sides.map { ($0.lines, $0.label) }, positives: positives, negatives: negatives,
        blocks: table.blocks),
      isUnion: negatives.isEmpty)
  }

  /// Makes one side of those that the fine-grained rules merge, each with the first that it goes
  /// with. Returns what stands in place of all when that leaves one, or two of which parts merge.
  private mutating func mergeFinely(
    _ sides: inout [ConflictBlock.Side], base: [Int32], context: InsertionContext
  ) -> [FineRegion.Piece]? {
    var merged: [ConflictBlock.Side] = []
    // What the first two come to, if that is known.
    var ofTwo: FineRegion.Outcome??
    for side in sides {
      var isTaken = false
      for index in merged.indices where !isTaken {
        let outcome = FineRegion.merge(
          base: base, older: merged[index].lines, newer: side.lines, context: context,
          rules: rules, table: &table)
        if merged.count == 1 { ofTwo = .some(outcome) }
        guard let outcome, outcome.isWhole else { continue }
        merged[index].lines = outcome.settled
        used.formUnion(outcome.rules)
        isTaken = true
        ofTwo = .none
      }
      if !isTaken { merged.append(side) }
    }
    sides = merged
    if merged.count == 1 { return [.settled(merged[0].lines)] }
    guard merged.count == 2 else { return nil }
    let outcome =
      if let ofTwo {
        ofTwo
      } else {
        FineRegion.merge(
          base: base, older: merged[0].lines, newer: merged[1].lines, context: context,
          rules: rules, table: &table)
      }
    if let outcome { used.formUnion(outcome.rules) }
    return outcome?.pieces
  }

  private mutating func put(_ pieces: [FineRegion.Piece], labels: [[UInt8]]) {
    for piece in pieces {
      switch piece {
      case .settled(let lines): output += lines
      case .open(let older, let newer):
        putBlocks([
          .init(label: labels[0], lines: older), .init(label: labels[1], lines: newer),
        ])
      }
    }
  }

  /// Puts out the lines that all sides share, and a block for each stretch in which they differ; in
  /// a union, a side without lines there is none.
  private mutating func putBlocks(_ sides: [ConflictBlock.Side], isUnion: Bool = false) {
    let first = sides.first?.lines ?? []
    guard sides.count > 1 else { return output += first }
    let shortest = sides.map(\.lines.count).min() ?? 0
    var start = 0
    while start < shortest, sides.allSatisfy({ $0.lines[start] == first[start] }) { start += 1 }
    var end = 0
    while end < shortest - start,
      sides.allSatisfy({ $0.lines[$0.lines.count - 1 - end] == first[first.count - 1 - end] })
    { end += 1 }
    output += first.prefix(start)
    let middles = sides.map { Array($0.lines.dropFirst(start).dropLast(end)) }
    let alignment = Alignment(terms: middles, reference: 0) { [table] in
      Self.isParting($0, table)
    }
    for part in alignment.parts {
      switch part {
      case .same(let lines): output += middles[0][lines]
      case .different(let ranges):
        var seen: Set<[Int32]> = []
        let differing = zip(sides, zip(middles, ranges)).compactMap { side, place in
          let lines = Array(place.0[place.1])
          let isShown = !(lines.isEmpty && isUnion) && seen.insert(lines).inserted
          return isShown ? ConflictBlock.Side(label: side.label, lines: lines) : nil
        }
        if differing.count == 1 {
          output += differing[0].lines
        } else {
          output.append(table.append(ConflictBlock(sides: differing)))
        }
      }
    }
    output += first.suffix(end)
  }

  private func rendered(_ endings: LineEndings) -> TextMergeResult {
    let size = markerSize
    var text: [UInt8] = []
    // A text that is as large as a note may be is not to be there twice while it grows.
    text.reserveCapacity(output.reduce(0) { $0 + room(for: $1, markerSize: size) })
    for unit in output {
      if let block = table.blocks[unit] {
        append(block, size: size, to: &text)
      } else {
        text += table[unit]
        text.append(UInt8(ascii: "\n"))
      }
    }
    func isBlock(_ unit: Int32) -> Bool { table.blocks[unit] != nil }
    let endsInBlock = output.last.map(isBlock) ?? false
    return TextMergeResult(
      text: endings.apply(to: text, keepsFinalNewline: endsInBlock),
      markerSize: output.contains(where: isBlock) ? size : nil, rules: used)
  }

  /// How many bytes a line or block takes.
  private func room(for unit: Int32, markerSize: Int) -> Int {
    guard let block = table.blocks[unit] else { return table[unit].count + 1 }
    return block.sides.reduce(0) { sum, side in
      side.lines.reduce(sum + 2 * (markerSize + side.label.count + 2)) { $0 + table[$1].count + 1 }
    }
  }

  /// One more than the longest run that could be taken for a marker, at least 7.
  private var markerSize: Int {
    var longest = MarkedText.smallestMarkerSize - 1
    for unit in output {
      if let block = table.blocks[unit] {
        for line in block.sides.flatMap(\.lines) {
          longest = max(longest, MarkerLine.Parts(table[line])?.size ?? 0)
        }
      } else if let parts = MarkerLine.Parts(table[unit]), parts.mark != UInt8(ascii: "=") {
        longest = max(longest, parts.size)
      }
    }
    return longest + 1
  }

  private func append(_ block: ConflictBlock, size: Int, to text: inout [UInt8]) {
    func marker(_ mark: Unicode.Scalar, _ label: [UInt8]?) -> [UInt8] {
      let run = Array(repeating: UInt8(ascii: mark), count: size)
      return run + (label.map { Array(" ".utf8) + $0 } ?? []) + Array("\n".utf8)
    }
    let last = block.sides.count - 1
    for (index, side) in block.sides.enumerated() {
      text += index == 0 ? marker("<", side.label) : marker("=", index == last ? nil : side.label)
      for line in side.lines {
        text += table[line]
        text.append(UInt8(ascii: "\n"))
      }
      if index == last { text += marker(">", side.label) }
    }
  }
}
