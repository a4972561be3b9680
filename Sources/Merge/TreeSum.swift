package import Git

/// The sum of trees h1 − b1 + h2 − b2 + h3 …: notes-merge(7), "Trees".
package struct TreeSum {
  let store: any MergeStore
  let rules: MergeRules
  let positives: [MergeTerm]
  let negatives: [MergeTerm]

  private var reports: [MergeReport] = []
  private var claims: [TreePath: [Claim]] = [:]
  private var copies: [TreePath: [Claim]] = [:]

  package init(
    store: any MergeStore, rules: MergeRules, positives: [MergeTerm], negatives: [MergeTerm]
  ) {
    self.store = store
    self.rules = rules
    self.positives = positives
    self.negatives = negatives
  }

  package struct Result {
    package var tree: ObjectID
    package var conflicts: [TreePath: Int]
    package var reports: [MergeReport]
  }

  package mutating func run() throws -> Result {
    let reference = negatives[0].tree
    let terms = positives + negatives
    var files = try TermFiles(store: store, reference: reference, terms: terms)
    let renames = try RenameDetection.renames(
      store: store, files: files)
    for (term, moves) in renames.enumerated() {
      for (source, target) in moves { files.undoRename(from: source, to: target, in: term) }
    }
    for path in files.paths.sorted() { try merge(path, files) }
    var replaced: [TreePath: TreeEntry?] = [:]
    for path in files.paths { replaced.updateValue(nil, forKey: path) }
    var settlement = NameSettlement(
      store: store, reference: reference, heads: positives, rules: rules)
    try settlement.settle(claims, copies: copies)
    reports += settlement.reports
    var conflicts: [TreePath: Int] = [:]
    for term in positives {
      for (path, size) in term.conflicts where !files.paths.contains(path) {
        conflicts[path] = size
      }
    }
    for (path, claim) in settlement.files {
      replaced[path] = TreeEntry(name: path.name, mode: claim.value.mode, id: claim.value.id)
      conflicts[path] = claim.markerSize
      if claim.isNewConflict { reports.append(MergeReport(path: path, kind: .conflict)) }
    }
    return Result(
      tree: try store.write(tree: reference, replacing: replaced), conflicts: conflicts,
      reports: reports)
  }

  /// Sums up one file, and claims its name or names.
  private mutating func merge(_ path: TreePath, _ files: TermFiles) throws {
    func value(_ term: Int, _ origin: MergeTerm) -> FileSum.Value {
      FileSum.Value(
        file: files.value(path, in: term),
        markerSize: origin.conflicts[files.name(of: path, in: term)], owner: term,
        source: files.name(of: path, in: term))
    }
    let above = positives.indices.map { value($0, positives[$0]) }
    let below = negatives.indices.map { value(positives.count + $0, negatives[$0]) }
    let names = Self.names(of: path, above, below, files)
    let isRenamed = names != [path]
    var sum = FileSum(store: store, rules: rules) { [self] head in
      try SideLabel.text(for: files.name(of: path, in: head), in: positives[head], store: store)
    }
    let outcome = try sum.outcome(positives: above, negatives: below, keeps: isRenamed)
    guard case .absent = outcome else {
      for name in names {
        switch outcome {
        case .absent: break
        case .file(let claim): claims[name, default: []].append(claim)
        case .copies(let files):
          claims[name, default: []] += files.prefix(1)
          copies[name, default: []] += files.dropFirst()
        }
        report(name, sum, source: path, isRenamed: isRenamed, isOnly: names.count == 1)
      }
      return
    }
  }

  private mutating func report(
    _ name: TreePath, _ sum: FileSum, source: TreePath, isRenamed: Bool, isOnly: Bool
  ) {
    if !sum.usedRules.isEmpty {
      reports.append(MergeReport(path: name, kind: .merged(sum.usedRules)))
    }
    if sum.keptEdit { reports.append(MergeReport(path: name, kind: .keptEdit)) }
    if isRenamed {
      let kind: MergeReport.Kind =
        isOnly ? .renamed(from: source) : .renamedDifferently(from: source)
      reports.append(MergeReport(path: name, kind: kind))
    }
  }

  /// The sum of a file's names; terms without the file have none.
  private static func names(
    of path: TreePath, _ positives: [FileSum.Value], _ negatives: [FileSum.Value],
    _ files: TermFiles
  ) -> [TreePath] {
    func names(_ values: [FileSum.Value], from first: Int) -> [TreePath] {
      values.indices.compactMap { index in
        values[index].file == nil ? nil : files.name(of: path, in: first + index)
      }
    }
    let above = names(positives, from: 0)
    let below = names(negatives, from: positives.count)
    let left = Cancellation(positives: above, negatives: below).positives.map { above[$0] }
    if left.isEmpty { return [path] }
    // A side that kept the name has no say against sides that changed it.
    let moved = left.filter { !below.contains($0) }
    return (moved.isEmpty ? left : moved).sorted()
  }
}
