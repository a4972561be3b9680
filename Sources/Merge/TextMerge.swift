/// One text of a sum.
package struct TextTerm: Sendable {
  package var text: [UInt8]
  /// The size of the markers of the text's own blocks; nil if it has none.
  package var markerSize: Int?
  /// `NAME · DATE` of the text's author.
  package var label: [UInt8]

  package init(text: [UInt8], markerSize: Int? = nil, label: [UInt8] = []) {
    self.text = text
    self.markerSize = markerSize
    self.label = label
  }
}

/// The result of a sum of texts.
package struct TextMergeResult: Sendable {
  package var text: [UInt8]
  /// The size of the markers of the blocks in `text`; nil if it has none.
  package var markerSize: Int?
  /// The fine-grained rules that were used.
  package var rules: MergeRules
  /// Whether the sum exceeds the requested size: then there is no text.
  package var isTooLarge = false
}

/// The sum of texts h1 − b1 + h2 − b2 + h3 …: notes-merge(7), "Text".
package struct TextMerge {
  private let rules: MergeRules
  private var budget: MergeBudget
  var table = LineTable()

  /// The merge of the positive terms against the negative ones, of which there is one fewer. A negative term is
  /// nil if that side did not have the note. No text with more than `mostBytes` bytes is made.
  package static func merge(
    positives: consuming [TextTerm], negatives: consuming [TextTerm?], rules: MergeRules = .all,
    budget: inout MergeBudget, mostBytes: Int = .max
  ) -> TextMergeResult {
    var merge = TextMerge(rules: rules, budget: budget)
    let result = merge.run(consume positives, consume negatives, mostBytes: mostBytes)
    budget = merge.budget
    return result
  }

  private mutating func run(
    _ positives: consuming [TextTerm], _ negatives: consuming [TextTerm?], mostBytes: Int
  ) -> TextMergeResult {
    let hasBase = negatives.contains { $0 != nil }
    let labels = positives.map(\.label)
    var texts = positives + (hasBase ? negatives.map { $0 ?? TextTerm(text: []) } : [])
    (positives, negatives) = ([], [])
    let textEndings = texts.map { LineEndings(of: $0.text) }
    let positiveEndings = Array(textEndings.prefix(labels.count))
    let negativeEndings = Array(textEndings.dropFirst(labels.count))
    let isMixed = textEndings.contains { $0.style == .mixed }
    var endings = LineEndings.merged(positives: positiveEndings, negatives: negativeEndings)
    if isMixed { endings.style = .lf }
    // Each text is freed as soon as the table has its lines.
    let terms = texts.indices.map { index in
      let lines = units(
        of: texts[index], normalised: !isMixed && textEndings[index].style == .crlf)
      texts[index].text = []
      return lines
    }
    let sum = sum(
      ConflictTerms(
        positives: Array(terms.prefix(labels.count)), labels: labels,
        negatives: Array(terms.dropFirst(labels.count))),
      between: [], and: [], isFine: !rules.isEmpty)
    // Free large texts that are not in the result before composing it.
    let blocks = sum.units.compactMap { table.blocks[$0] }
    table.forget(except: [sum.units] + blocks.flatMap { $0.sides.map(\.lines) })
    let merged = MergedUnits(units: sum.units, table: table)
    var result = TextMergeResult(text: [], markerSize: merged.markerSizeOfBlocks, rules: sum.rules)
    // Do not compose a text that is too large: it would be in memory in addition to its parts. The last newline
    // may be missing.
    result.isTooLarge = merged.leastSize - 1 > mostBytes
    if !result.isTooLarge { result.text = merged.rendered(endings) }
    if result.text.count > mostBytes { (result.text, result.isTooLarge) = ([], true) }
    return result
  }

  /// The lines of a term as numbers, with one number for each conflict block.
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

  /// Whether lines that all sides share separate the edits before these lines from the edits after them.
  private static func isParting(_ lines: ArraySlice<Int32>, _ table: LineTable) -> Bool {
    lines.contains { table.blocks[$0] != nil || table.hasLetters($0) }
  }

  /// The result of a sum: lines and blocks.
  struct Sum {
    var units: [Int32] = []
    var rules: MergeRules = []
  }

  /// The sum of terms between some lines.
  mutating func sum(
    _ terms: ConflictTerms, between before: [Int32], and after: [Int32], isFine: Bool
  ) -> Sum {
    let alignment = alignment(of: terms)
    let sum = sum(terms, by: alignment, between: before, and: after, isFine: isFine)
    guard isFine, rules.contains(.touchingLines), terms.positives.count == 2,
      terms.negatives.count == 1,
      !(terms.positives + terms.negatives).joined().contains(where: isBlock)
    else { return sum }
    let context = InsertionContext(base: [], between: before, and: after)
    var moves = MovedLines(
      base: terms.negatives[0], sides: terms.positives, hunks: Array(alignment.hunks.prefix(2)))
    guard
      let sides = moves.carried(
        isOpen: sum.units.contains(where: isBlock), in: context, &self, terms.labels)
    else { return sum }
    var carried = terms
    carried.positives = sides
    var result = self.sum(
      carried, by: self.alignment(of: carried), between: before, and: after, isFine: isFine)
    result.rules.insert(.touchingLines)
    return result
  }

  func isBlock(_ unit: Int32) -> Bool { table.blocks[unit] != nil }

  private func alignment(of terms: ConflictTerms) -> Alignment {
    Alignment(
      terms: terms.positives + terms.negatives,
      reference: terms.negatives.isEmpty ? 0 : terms.positives.count
    ) { [table] in !terms.negatives.isEmpty || Self.isParting($0, table) }
  }

  private mutating func sum(
    _ terms: ConflictTerms, by alignment: Alignment, between before: [Int32], and after: [Int32],
    isFine: Bool
  ) -> Sum {
    let texts = terms.positives + terms.negatives
    let reference = terms.negatives.isEmpty ? 0 : terms.positives.count
    /// The sum of each part, and for parts without fine-grained rules their terms.
    var parts: [(sum: Sum, region: ConflictTerms?)] = []
    for part in alignment.parts {
      switch part {
      case .same(let lines): parts.append((Sum(units: Array(texts[reference][lines])), nil))
      case .different(let ranges):
        let values = zip(texts, ranges).map { Array($0[$1]) }
        let region = ConflictTerms(
          positives: Array(values.prefix(terms.positives.count)), labels: terms.labels,
          negatives: Array(values.dropFirst(terms.positives.count)))
        let reach = InsertionContext.reach
        let (above, below) = (
          texts[reference][..<ranges[reference].lowerBound],
          texts[reference][ranges[reference].upperBound...]
        )
        // Only the needed part of the text is passed: a large text may have thousands of parts.
        let sum = sumRegion(
          region, between: (before.suffix(reach) + above.suffix(reach)).suffix(reach),
          and: Array((below.prefix(reach) + after.prefix(reach)).prefix(reach)), isFine: isFine)
        parts.append((sum, sum.rules.isEmpty ? nil : region))
      }
    }
    let moved = movedByBoth(
      parts.map { ($0.sum.units, $0.region != nil) }, terms, reference: texts[reference])
    var result = Sum()
    for var part in parts {
      if let region = part.region, part.sum.units.contains(where: moved.contains) {
        part.sum = sumRegion(region, between: [], and: [], isFine: false)
      }
      result.units += part.sum.units
      result.rules.formUnion(part.sum.rules)
    }
    return result
  }

  /// Lines in merged parts that nobody added, and that occur more often in the sum than in any side:
  /// two sides moved them to different places.
  private func movedByBoth(
    _ parts: [(units: [Int32], isSettled: Bool)], _ terms: ConflictTerms, reference: [Int32]
  ) -> Set<Int32> {
    var settled: Set<Int32> = []
    for part in parts where part.isSettled { settled.formUnion(part.units) }
    settled = settled.filter { table.blocks[$0] == nil && table.hasLetters($0) }
    if settled.isEmpty { return [] }
    func counts(_ lines: some Sequence<Int32>) -> [Int32: Int] {
      lines.reduce(into: [:]) { if settled.contains($1) { $0[$1, default: 0] += 1 } }
    }
    let (inSum, inReference) = (counts(parts.lazy.flatMap(\.units)), counts(reference))
    let most = terms.positives.reduce(into: [:]) { $0.merge(counts($1), uniquingKeysWith: max) }
    return settled.filter { line in
      let inSides = most[line, default: 0]
      return inSides > 0 && inSides < inSum[line, default: 0]
        && inSides <= inReference[line, default: 0]
    }
  }

  private mutating func sumRegion(
    _ region: ConflictTerms, between before: [Int32], and after: [Int32], isFine: Bool
  ) -> Sum {
    let left = Cancellation(positives: region.positives, negatives: region.negatives)
    if left.positives.count == 1 { return Sum(units: region.positives[left.positives[0]]) }
    var (terms, rules): (ConflictTerms, MergeRules) = (region, [])
    let bases = left.negatives.map { region.negatives[$0] }
    let values = left.positives.map { region.positives[$0] } + bases
    if values.joined().contains(where: { table.blocks[$0] != nil }) {
      if !region.negatives.isEmpty {
        (terms, rules) = sideBySide(
          region.uncancelled, between: before, and: after, isFine: isFine)
      }
    } else if isFine, bases.count > 1,
      let sum = sumInSteps(region, between: before, and: after, isFine: isFine)
    {
      return sum
    } else if isFine, bases.count == 1 {
      var sides = left.positives.map {
        ConflictBlock.Side(label: region.labels[$0], lines: region.positives[$0])
      }
      let context = InsertionContext(base: bases[0], between: before, and: after)
      if let sum = mergeFinely(&sides, base: bases[0], context: context, rules: &rules) {
        return sum
      }
      return Sum(
        units: blocks(
          ConflictSides.sides(
            sides, positives: region.positives, negatives: region.negatives, blocks: table.blocks)),
        rules: rules)
    }
    let positives = Cancellation(positives: terms.positives, negatives: terms.negatives).positives
    if positives.count == 1 { return Sum(units: terms.positives[positives[0]], rules: rules) }
    let sides = positives.map {
      ConflictBlock.Side(label: terms.labels[$0], lines: terms.positives[$0])
    }
    return Sum(
      units: blocks(
        ConflictSides.sides(
          sides, positives: terms.positives, negatives: terms.negatives, blocks: table.blocks),
        isUnion: region.negatives.isEmpty),
      rules: rules)
  }

  /// The sum of texts with several bases, one after the other. Nil if a step has a conflict, or if the sum
  /// would repeat or lose lines: when terms cancel, it may be unclear which base belongs to which text.
  private mutating func sumInSteps(
    _ terms: ConflictTerms, between before: [Int32], and after: [Int32], isFine: Bool
  ) -> Sum? {
    var result = Sum(units: terms.positives[0], rules: .touchingLines)
    for (base, text) in zip(terms.negatives, terms.positives.dropFirst()) {
      let step = sum(
        ConflictTerms(
          positives: [result.units, text], labels: Array(terms.labels.prefix(2)),
          negatives: [base]),
        between: before, and: after, isFine: isFine)
      if step.units.contains(where: { table.blocks[$0] != nil }) { return nil }
      result.units = step.units
      result.rules.formUnion(step.rules)
    }
    func counts(_ lines: [Int32]) -> [Int32: Int] {
      lines.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
    let most = terms.positives.reduce(into: [:]) { $0.merge(counts($1), uniquingKeysWith: max) }
    let isRepeated = counts(result.units).contains { line, count in
      (1..<count).contains(most[line, default: 0]) && table.hasWords(line)
    }
    if isRepeated { return nil }
    var net = counts(terms.positives.flatMap(\.self))
    net.merge(counts(terms.negatives.flatMap(\.self)).mapValues { -$0 }, uniquingKeysWith: +)
    let present = Set(result.units)
    let isLost = net.contains { $1 > 0 && !present.contains($0) && table.hasWords($0) }
    return isLost ? nil : result
  }

  /// Combines sides that the fine-grained rules can merge, each with the first one possible.
  /// Returns the result if one side remains, or if two remain of which parts merge.
  private mutating func mergeFinely(
    _ sides: inout [ConflictBlock.Side], base: [Int32], context: InsertionContext,
    rules used: inout MergeRules
  ) -> Sum? {
    var known: [[[Int32]]: FineRegion.Outcome?] = [:]
    func outcome(
      _ older: [Int32], _ newer: [Int32], _ merge: inout TextMerge
    ) -> FineRegion.Outcome? {
      if let known = known[[older, newer]] { return known }
      let outcome = merge.finely(base, older, newer, in: context)
      known[[older, newer]] = .some(outcome)
      return outcome
    }
    var merged: [ConflictBlock.Side] = []
    for side in sides {
      let partner = merged.indices.first { index in
        guard let outcome = outcome(merged[index].lines, side.lines, &self), outcome.isWhole else {
          return false
        }
        merged[index].lines = outcome.settled
        used.formUnion(outcome.rules)
        return true
      }
      if partner == nil { merged.append(side) }
    }
    sides = merged
    if merged.count == 1 { return Sum(units: merged[0].lines, rules: used) }
    guard merged.count == 2, let outcome = outcome(merged[0].lines, merged[1].lines, &self) else {
      return nil
    }
    var sum = Sum(rules: used.union(outcome.rules))
    for piece in outcome.pieces {
      switch piece {
      case .settled(let lines): sum.units += lines
      case .open(let older, let newer):
        sum.units += blocks([
          .init(label: merged[0].label, lines: older), .init(label: merged[1].label, lines: newer),
        ])
      }
    }
    return sum
  }

  /// The result of the fine-grained rules for two sides; nil if the budget is used up.
  mutating func finely(
    _ base: [Int32], _ older: [Int32], _ newer: [Int32], in context: InsertionContext
  ) -> FineRegion.Outcome? {
    guard budget.takeFineMerge(table.size(of: older), table.size(of: newer)) else { return nil }
    return FineRegion.merge(
      base: base, older: older, newer: newer, context: context, rules: rules, table: &table)
  }

  /// The lines that all sides share, and a block for each stretch in which they differ. In a union, a side
  /// without lines does not count.
  mutating func blocks(_ sides: [ConflictBlock.Side], isUnion: Bool = false) -> [Int32] {
    let whole = TrimmedSides(sides, isUnion: isUnion)
    guard whole.sides.count > 1 else {
      return whole.start + (whole.sides.first?.lines ?? []) + whole.end
    }
    let texts = whole.sides.map(\.lines)
    var units = whole.start
    let alignment = Alignment(terms: texts, reference: 0) { [table] in Self.isParting($0, table) }
    let parts = alignment.partsJoiningMoved(of: texts) { [table] in
      table.blocks[$0] == nil && table.hasLetters($0)
    }
    for part in parts {
      switch part {
      case .same(let lines): units += texts[0][lines]
      case .different(let ranges):
        let stretch = TrimmedSides(
          zip(whole.sides, ranges).map { side, range in
            ConflictBlock.Side(label: side.label, lines: Array(side.lines[range]))
          }, isUnion: isUnion)
        units += stretch.start
        if stretch.sides.count > 1 {
          units.append(table.append(ConflictBlock(sides: stretch.sides)))
        } else {
          units += stretch.sides.first?.lines ?? []
        }
        units += stretch.end
      }
    }
    return units + whole.end
  }
}
