internal import Git

/// The bounds of every merge, so that every device accepts its result: notes-merge(7), "Bounds".
package struct MergeBounds: Sendable, Codable {
  /// Parents of a derived merge.
  package var parents = PackLimits.standard.parents
  /// The most bytes of a text. A multiple of it, `crowdsInAll`, limits the bytes of all texts that have more than two
  /// contents to merge.
  package var textBytes = PackLimits.standard.objectBytes
  package static let crowdsInAll = 4
  /// The most bytes and newlines of all contents of one text, and the most newlines of the contents of all texts.
  package var contentBytes = 96 << 20
  package var contentNewlines = 1 << 20
  package var newlinesInAll = 1 << 23
  /// Bytes of the lists in a message; the blocks that a merge makes may take half of them.
  package var listBytes = PackLimits.standard.commitBytes / 2
  /// Bytes of a path.
  package var pathBytes = PackLimits.standard.pathBytes
  /// The cost of fine-grained merges: see `MergeBudget`.
  package var fineWork = 1 << 30

  /// The bounds of notes-protocol(7).
  package static let standard = MergeBounds()

  package init() {}
}

/// The remaining work for one tip: notes-merge(7), "Bounds".
package struct MergeBudget: Sendable {
  /// For fine-grained merges of two sides: the product of their sizes in bytes, at most
  /// `mostForPair`.
  private var fineWork: Int
  /// Bytes of texts of which more than two contents are merged.
  private(set) var crowdBytes: Int
  /// Newlines of merged contents.
  private(set) var newlines: Int
  private static let mostForPair = 1 << 27

  package init(_ bounds: MergeBounds) {
    fineWork = bounds.fineWork
    crowdBytes = MergeBounds.crowdsInAll * bounds.textBytes
    newlines = bounds.newlinesInAll
  }

  /// Subtracts the cost of a fine-grained merge of two sides with these sizes; returns false if it exceeds the
  /// budget.
  mutating func takeFineMerge(_ older: Int, _ newer: Int) -> Bool {
    let (product, isOver) = older.multipliedReportingOverflow(by: newer)
    let cost = isOver ? Self.mostForPair : min(product, Self.mostForPair)
    guard cost <= fineWork else { return false }
    fineWork -= cost
    return true
  }

  /// Subtracts the cost of contents with this many newlines, and of their bytes if there are more than two
  /// contents.
  mutating func take(newlines count: Int, crowdBytes bytes: Int) {
    newlines -= count
    crowdBytes -= bytes
  }
}
