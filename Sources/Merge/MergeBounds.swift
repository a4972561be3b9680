internal import Git

/// What no merge goes beyond, so that every device takes what comes of it: notes-merge(7), "Bounds".
package struct MergeBounds: Sendable, Codable {
  /// Parents of a derived merge.
  package var parents = PackLimits.standard.parents
  /// Bytes of a text; the texts that are summed up may have this many times as much together.
  package var textBytes = PackLimits.standard.objectBytes
  package static let textsInAll = 4
  /// Bytes of the lists in a message; the blocks that a merge makes may take half of them.
  package var listBytes = PackLimits.standard.commitBytes / 2
  /// Bytes of a path.
  package var pathBytes = PackLimits.standard.pathBytes
  /// What fine-grained merges may cost: see `MergeBudget`.
  package var fineWork = 1 << 30

  /// Those of notes-protocol(7).
  package static let standard = MergeBounds()

  package init() {}
}

/// What is left of the work that goes into one tip: notes-merge(7), "Bounds".
package struct MergeBudget: Sendable {
  /// For fine-grained merges of two sides: the product of their sizes in bytes, at most
  /// `mostForPair`.
  private var fineWork: Int
  /// Bytes of contents of which more than two meet.
  private(set) var crowdBytes: Int
  private static let mostForPair = 1 << 27

  package init(_ bounds: MergeBounds) {
    fineWork = bounds.fineWork
    crowdBytes = MergeBounds.textsInAll * bounds.textBytes
  }

  /// Whether two sides of so many bytes may be merged finely, which is then paid for.
  mutating func takeFineMerge(_ older: Int, _ newer: Int) -> Bool {
    let (product, isOver) = older.multipliedReportingOverflow(by: newer)
    let cost = isOver ? Self.mostForPair : min(product, Self.mostForPair)
    guard cost <= fineWork else { return false }
    fineWork -= cost
    return true
  }

  /// Pays for contents of so many bytes of which more than two meet.
  mutating func takeCrowd(of bytes: Int) { crowdBytes -= bytes }
}
