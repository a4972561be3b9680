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

  /// Those of notes-protocol(7).
  package static let standard = MergeBounds()

  package init() {}
}
