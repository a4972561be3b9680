internal import Git

/// Gives every file of the merged tree a name of its own: notes-merge(7), "Names that meet".
struct NameSettlement {
  let store: any MergeStore
  let reference: ObjectID
  let heads: [MergeTerm]
  let rules: MergeRules
  private(set) var reports: [MergeReport] = []
  private var settled: [TreePath: Claim] = [:]

  init(store: any MergeStore, reference: ObjectID, heads: [MergeTerm], rules: MergeRules) {
    self.store = store
    self.reference = reference
    self.heads = heads
    self.rules = rules
  }

  mutating func settle(_ claims: [TreePath: [Claim]]) throws -> [TreePath: Claim] {
    for path in claims.keys.sorted() {
      guard let first = claims[path]?.first else { continue }
      settled[path] = first
    }
    for path in claims.keys.sorted() {
      for claim in claims[path]?.dropFirst() ?? [] { try copy(claim, of: path) }
    }
    for path in settled.keys.sorted() {
      var folder = path.parent
      while let name = folder {
        if let file = settled.removeValue(forKey: name) { try copy(file, of: name) }
        folder = name.parent
      }
    }
    return settled
  }

  /// Puts a file beside the one whose name it can't have.
  private mutating func copy(_ claim: Claim, of path: TreePath) throws {
    let label = try SideLabel.text(for: path, in: heads[claim.owner], store: store)
    var attempt = 1
    while true {
      let name = CopyName.path(for: path, label: label, attempt: attempt)
      if settled[name] == nil, try store.entry(at: name, in: reference) == nil {
        settled[name] = claim
        reports.append(MergeReport(path: name, kind: .copied(of: path)))
        return
      }
      attempt += 1
    }
  }
}
