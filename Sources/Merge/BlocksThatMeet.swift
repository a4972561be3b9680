// Conflicts that are merged again: notes-merge(7), "Blocks that meet".
extension TextMerge {
  /// Combines the terms with the same blocks into one, and applies the other terms' edits to every side
  /// that they fit.
  mutating func sideBySide(
    _ given: ConflictTerms, between before: [Int32], and after: [Int32], isFine: Bool
  ) -> (ConflictTerms, MergeRules) {
    let keys = (given.positives + given.negatives).map { value in
      value.compactMap { table.blocks[$0]?.sides.map(\.label) }
    }
    guard let shared = keys.first(where: { !$0.isEmpty }) else { return (given, []) }
    var (terms, rules): (ConflictTerms, MergeRules) = (given, [])
    let (have, others) = given.split { keys[$0] == shared }
    if have.positives.count == have.negatives.count + 1 {
      let sum = mergedBlocks(have, between: before, and: after, isFine: isFine)
      terms = others
      let place = keys.prefix { $0 != shared }.count
      terms.positives.insert(sum.units, at: place)
      terms.labels.insert(have.labels[0], at: place)
      rules = sum.rules
    }
    func hasBlocks(_ value: [Int32]) -> Bool { value.contains { table.blocks[$0] != nil } }
    let held = terms.positives.indices.filter { hasBlocks(terms.positives[$0]) }
    if held.isEmpty, !terms.negatives.isEmpty, !terms.negatives.contains(where: hasBlocks) {
      let sum = sum(terms, between: before, and: after, isFine: isFine)
      return (
        ConflictTerms(positives: [sum.units], labels: [[]], negatives: []), rules.union(sum.rules)
      )
    }
    guard held.count == 1, !terms.negatives.isEmpty, !terms.negatives.contains(where: hasBlocks)
    else { return (terms, rules) }
    var sides = ConflictSides.expand(terms.positives[held[0]], label: [], blocks: table.blocks)
    var isTaken = false
    for index in sides.indices {
      var plain = terms
      plain.positives.remove(at: held[0])
      guard plain.areEdits(ofBasesIn: sides[index].lines) else { continue }
      plain.positives.insert(sides[index].lines, at: held[0])
      let sum = sum(plain, between: before, and: after, isFine: isFine)
      if hasBlocks(sum.units) { continue }
      sides[index].lines = sum.units
      rules.formUnion(sum.rules)
      isTaken = true
    }
    if !isTaken { return (terms, rules) }
    return (ConflictTerms(positives: [blocks(sides)], labels: [[]], negatives: []), rules)
  }

  /// The sum of terms whose blocks have the same labels: the text between blocks, and each side of them,
  /// is summed up separately.
  private mutating func mergedBlocks(
    _ terms: ConflictTerms, between before: [Int32], and after: [Int32], isFine: Bool
  ) -> Sum {
    var result = Sum()
    // The lines before each block, and after the last.
    let texts = (terms.positives + terms.negatives).map { value in
      value.split(omittingEmptySubsequences: false) { table.blocks[$0] != nil }.map(Array.init)
    }
    let held = (terms.positives + terms.negatives).map { $0.compactMap { table.blocks[$0] } }
    func add(_ values: [[Int32]], _ merge: inout TextMerge) -> Sum {
      let count = terms.positives.count
      let part = ConflictTerms(
        positives: Array(values.prefix(count)), labels: terms.labels,
        negatives: Array(values.dropFirst(count)))
      let sum = merge.sum(part, between: before, and: after, isFine: isFine)
      result.rules.formUnion(sum.rules)
      return sum
    }
    for place in texts[0].indices {
      result.units += add(texts.map { $0[place] }, &self).units
      guard place < held[0].count else { break }
      var sides: [ConflictBlock.Side] = []
      for (index, side) in held[0][place].sides.enumerated() {
        let sum = add(held.map { $0[place].sides[index].lines }, &self)
        sides += ConflictSides.expand(sum.units, label: side.label, blocks: table.blocks)
      }
      result.units += blocks(sides)
    }
    return result
  }
}
