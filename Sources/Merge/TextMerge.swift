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
    for part in Alignment(terms: terms, reference: reference).parts {
      switch part {
      case .same(let lines): output += terms[reference][lines]
      case .different(let ranges):
        let values = zip(terms, ranges).map { Array($0[$1]) }
        mergeRegion(
          positives: Array(values.prefix(positives.count)),
          negatives: Array(values.dropFirst(positives.count)), labels: positives.map(\.label)
        ) { base in SortedContext(base: base, replacing: ranges[reference], of: terms[reference]) }
      }
    }
    return rendered(endings)
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
    context: (_ base: [Int32]) -> SortedContext
  ) {
    let left = Cancellation(positives: positives, negatives: negatives)
    if left.positives.count == 1 { return output += positives[left.positives[0]] }
    let sides = left.positives.map { positives[$0] }
    let bases = left.negatives.map { negatives[$0] }
    let isPlain = (sides + bases).joined().allSatisfy { table.blocks[$0] == nil }
    if isPlain, bases.count == 1,
      let result = FineRegion.merge(
        sides: sides, base: bases[0], context: context(bases[0]), rules: rules, table: &table)
    {
      used.formUnion(result.rule)
      return output += result.lines
    }
    putBlock(
      ConflictSides.sides(
        left.positives.map { (positives[$0], labels[$0]) }, positives: positives,
        negatives: negatives, blocks: table.blocks))
  }

  /// Puts out a block of the sides, the lines that all share at their start and end outside it.
  private mutating func putBlock(_ sides: [ConflictBlock.Side]) {
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
    let block = ConflictBlock(
      sides: sides.map {
        .init(label: $0.label, lines: Array($0.lines.dropFirst(start).dropLast(end)))
      })
    output.append(table.append(block))
    output += first.suffix(end)
  }

  private func rendered(_ endings: LineEndings) -> TextMergeResult {
    let size = markerSize
    var text: [UInt8] = []
    for unit in output {
      text += table.blocks[unit].map { rendered($0, size: size) } ?? table.text(of: [unit])
    }
    func isBlock(_ unit: Int32) -> Bool { table.blocks[unit] != nil }
    let endsInBlock = output.last.map(isBlock) ?? false
    return TextMergeResult(
      text: endings.apply(to: text, keepsFinalNewline: endsInBlock),
      markerSize: output.contains(where: isBlock) ? size : nil, rules: used)
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

  private func rendered(_ block: ConflictBlock, size: Int) -> [UInt8] {
    func marker(_ mark: Unicode.Scalar, _ label: [UInt8]?) -> [UInt8] {
      let run = Array(repeating: UInt8(ascii: mark), count: size)
      return run + (label.map { Array(" ".utf8) + $0 } ?? []) + Array("\n".utf8)
    }
    let last = block.sides.count - 1
    var text: [UInt8] = []
    for (index, side) in block.sides.enumerated() {
      text += index == 0 ? marker("<", side.label) : marker("=", index == last ? nil : side.label)
      text += table.text(of: side.lines)
      if index == last { text += marker(">", side.label) }
    }
    return text
  }
}
