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
  /// The rules below the line that had a part in it.
  package var rules: MergeRules
}

/// The sum of texts h1 − b1 + h2 − b2 + h3 …: notes-merge(7), "Text".
package struct TextMerge {
  let rules: MergeRules
  var table = LineTable()
  private var used: MergeRules = []
  private var output: [OutputPiece] = []

  private enum OutputPiece {
    case lines([Int32])
    case block(ConflictBlock)
  }

  private init(rules: MergeRules) { self.rules = rules }

  /// The merge of the positive terms against the negative ones, one fewer; a negative term that is
  /// nil is a side on which the note did not exist.
  package static func merge(
    positives: [TextTerm], negatives: [TextTerm?], rules: MergeRules = .all
  ) -> TextMergeResult {
    var merge = TextMerge(rules: rules)
    return merge.run(positives, negatives)
  }

  private mutating func run(_ positives: [TextTerm], _ negatives: [TextTerm?]) -> TextMergeResult {
    let hasBase = negatives.contains { $0 != nil }
    let negatives = hasBase ? negatives.map { $0 ?? TextTerm(text: []) } : []
    let positiveEndings = positives.map { LineEndings(of: $0.text) }
    let negativeEndings = negatives.map { LineEndings(of: $0.text) }
    let isMixed = (positiveEndings + negativeEndings).contains { $0.style == .mixed }
    var endings = LineEndings.merged(positives: positiveEndings, negatives: negativeEndings)
    if isMixed { endings.style = .lf }
    let terms = (positives + negatives).map { units(of: $0, normalised: !isMixed) }
    let reference = hasBase ? positives.count : 0
    let alignment = Alignment(
      terms: terms, reference: reference, symbolCount: table.count)
    let labels = positives.map(\.label)
    for part in alignment.parts {
      switch part {
      case .same(let lines): emit(Array(terms[reference][lines]))
      case .different(let ranges):
        let values = zip(terms, ranges).map { Array($0[$1]) }
        mergeRegion(
          positives: Array(values.prefix(positives.count)),
          negatives: Array(values.dropFirst(positives.count)), labels: labels,
          surroundings: hasBase
            ? (
              terms[reference][..<ranges[reference].lowerBound],
              terms[reference][ranges[reference].upperBound...]
            ) : nil)
      }
    }
    return render(endings)
  }

  /// The lines of a term as numbers, each block of ours as one.
  private mutating func units(of term: TextTerm, normalised: Bool) -> [Int32] {
    let text = normalised ? LineEndings.withoutCarriageReturns(term.text) : term.text
    guard let markerSize = term.markerSize else { return table.lines(of: text) }
    var units: [Int32] = []
    for piece in MarkedText(text, markerSize: markerSize).pieces {
      switch piece {
      case .text(let text): units += table.lines(of: text)
      case .block(let sides, _):
        let block = ConflictBlock(
          sides: sides.map { .init(label: $0.label, lines: table.lines(of: $0.text)) })
        units.append(table.number(of: block))
      }
    }
    return units
  }

  private mutating func mergeRegion(
    positives: [[Int32]], negatives: [[Int32]], labels: [[UInt8]],
    surroundings: SortedContext.Surroundings?
  ) {
    let left = Cancellation(positives: positives, negatives: negatives)
    if left.positives.count == 1 { return emit(positives[left.positives[0]]) }
    let sides = left.positives.map { positives[$0] }
    let bases = left.negatives.map { negatives[$0] }
    let isPlain = (sides + bases).allSatisfy { $0.allSatisfy { table.blocks[$0] == nil } }
    if isPlain, let surroundings, bases.count == 1 {
      let context = SortedContext(base: bases[0], between: surroundings)
      let result = FineGrainedMerge.merge(
        sides: sides, base: bases[0], context: context, rules: rules, table: &table)
      if let result {
        used.formUnion(result.rule)
        return emit(result.lines)
      }
    }
    emitBlock(
      ConflictSides.sides(
        left.positives.map { (positives[$0], labels[$0]) }, positives: positives,
        negatives: negatives, blocks: table.blocks))
  }

  private mutating func emit(_ lines: [Int32]) {
    guard !lines.isEmpty else { return }
    output.append(.lines(lines))
  }

  /// Puts out a block of the sides, the lines that all share at their start and end outside it.
  private mutating func emitBlock(_ sides: [ConflictBlock.Side]) {
    guard sides.count > 1 else { return emit(sides.first?.lines ?? []) }
    let shortest = sides.map(\.lines.count).min() ?? 0
    let first = sides[0].lines
    var start = 0
    while start < shortest, sides.allSatisfy({ $0.lines[start] == first[start] }) { start += 1 }
    var end = 0
    while end < shortest - start,
      sides.allSatisfy({ $0.lines[$0.lines.count - 1 - end] == first[first.count - 1 - end] })
    { end += 1 }
    emit(Array(first.prefix(start)))
    output.append(
      .block(
        ConflictBlock(
          sides: sides.map {
            .init(label: $0.label, lines: Array($0.lines.dropFirst(start).dropLast(end)))
          })))
    emit(Array(first.suffix(end)))
  }

  private func render(_ endings: LineEndings) -> TextMergeResult {
    var pieces: [OutputPiece] = []
    for piece in output {
      guard case .lines(let lines) = piece else {
        pieces.append(piece)
        continue
      }
      var plain: [Int32] = []
      for line in lines {
        if let block = table.blocks[line] {
          pieces.append(.lines(plain))
          pieces.append(.block(block))
          plain = []
        } else {
          plain.append(line)
        }
      }
      pieces.append(.lines(plain))
    }
    let size = markerSize(for: pieces)
    var text: [UInt8] = []
    var hasBlocks = false
    var endsInBlock = false
    for piece in pieces {
      switch piece {
      case .lines(let lines):
        if lines.isEmpty { continue }
        text += table.text(of: lines)
        endsInBlock = false
      case .block(let block):
        text += render(block, size: size)
        (hasBlocks, endsInBlock) = (true, true)
      }
    }
    return TextMergeResult(
      text: endings.apply(to: text, keepsFinalNewline: endsInBlock),
      markerSize: hasBlocks ? size : nil, rules: used)
  }

  /// One more than the longest run that could be taken for a marker, at least 7.
  private func markerSize(for pieces: [OutputPiece]) -> Int {
    var longest = MarkedText.smallestMarkerSize - 1
    for piece in pieces {
      switch piece {
      case .lines(let lines):
        for line in lines {
          let (mark, length) = MarkerLine.run(in: table[line])
          if mark != UInt8(ascii: "=") { longest = max(longest, length) }
        }
      case .block(let block):
        for side in block.sides {
          for line in side.lines { longest = max(longest, MarkerLine.run(in: table[line]).length) }
        }
      }
    }
    return longest + 1
  }

  private func render(_ block: ConflictBlock, size: Int) -> [UInt8] {
    func marker(_ mark: Unicode.Scalar, _ label: [UInt8]?) -> [UInt8] {
      let run = Array(repeating: UInt8(ascii: mark), count: size)
      return run + (label.map { Array(" ".utf8) + $0 } ?? []) + Array("\n".utf8)
    }
    var text: [UInt8] = []
    for (index, side) in block.sides.enumerated() {
      let isLast = index == block.sides.count - 1
      if index == 0 {
        text += marker("<", side.label)
      } else {
        text += marker("=", isLast ? nil : side.label)
      }
      text += table.text(of: side.lines)
      if isLast { text += marker(">", side.label) }
    }
    return text
  }
}
