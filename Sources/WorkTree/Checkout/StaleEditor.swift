package import Git

/// Finds the saves of editors that had loaded a note before a checkout changed it: notes-merge(7),
/// "The stale editor".
struct StaleEditor {
  let repository: Repository
  let log: CheckoutLog
  /// The notes with an open conflict; asked for only where it matters.
  let conflicts: () throws -> [TreePath]

  /// The checkout that the writer of `text` had not seen: the oldest one such that the text takes
  /// back all that came into the note since. Nil when there is none, or when the same text was found
  /// so before: then it is meant. `current` is the note as the last checkout left it.
  func unseenCheckout(of path: TreePath, text: ObjectID, current: ObjectID) throws
    -> CheckoutLog.Entry?
  {
    // A derived merge that no version was made on is gone with git's reflog.
    let entries = try log.entries(for: path).filter {
      try repository.contains($0.base) && repository.contains($0.old)
    }
    guard !entries.isEmpty, !entries.contains(where: { $0.refused == text }) else { return nil }
    let saved = try LineCounts(repository.blob(text))
    let brought = try LineCounts(repository.blob(current))
    let isInConflict = try conflicts().contains(path)
    for entry in entries where entry.old != current {
      let loaded = try LineCounts(repository.blob(entry.old))
      guard saved.takesBack(from: loaded, to: brought) else { continue }
      // Whoever settles a conflict takes away markers that a checkout brought. That is what it is,
      // unless the text is all of the loaded one and something more.
      let isEdit =
        isInConflict
        ? text != entry.old && saved.share(of: loaded) == 1 : saved.share(of: loaded) >= 0.5
      if isEdit { return entry }
    }
    return nil
  }
}

/// A save by an editor that had not seen the last checkouts of the note.
package struct StaleSave {
  package let path: TreePath
  /// What it wrote.
  package let entry: TreeEntry
  /// When, in seconds since 1970.
  package let written: Int64
  /// The oldest checkout it had not seen.
  package let unseen: CheckoutLog.Entry
}

private struct LineCounts {
  private var counts: [ArraySlice<UInt8>: Int] = [:]

  init(_ text: [UInt8]) {
    for line in text.split(separator: UInt8(ascii: "\n")) { counts[line, default: 0] += 1 }
  }

  private func count(_ line: ArraySlice<UInt8>) -> Int { counts[line] ?? 0 }

  /// How much of another text's lines this one has, from 0 to 1; 1 for an empty text.
  func share(of other: LineCounts) -> Double {
    let total = other.counts.values.reduce(0, +)
    let common = other.counts.reduce(0) { $0 + min($1.value, count($1.key)) }
    return total == 0 ? 1 : Double(common) / Double(total)
  }

  /// Whether this text has none of the lines that came from one text to another, and has all that
  /// went.
  func takesBack(from old: LineCounts, to new: LineCounts) -> Bool {
    let came = new.counts.filter { $0.value > old.count($0.key) }
    let went = old.counts.filter { $0.value > new.count($0.key) }
    return !(came.isEmpty && went.isEmpty) && came.allSatisfy { count($0.key) <= old.count($0.key) }
      && went.allSatisfy { count($0.key) >= $0.value }
  }
}
