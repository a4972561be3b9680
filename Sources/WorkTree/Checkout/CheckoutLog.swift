package import Git
internal import System

/// What the last checkouts brought into notes: `.git/notes/brought`.
///
/// It tells a save by an editor that had loaded the note before a checkout from a wish to take back
/// what the checkout brought (notes-merge(7), "The stale editor"). It is a memory, not history:
/// losing it costs no more than that distinction.
package struct CheckoutLog {
  /// A checkout that changed a note.
  package struct Entry: Hashable {
    package let path: TreePath
    /// A commit that has the note as it was before.
    package let base: ObjectID
    /// The note before, in `base`.
    package let old: ObjectID
    /// The text that a save was found to have come from such an editor with, last time: the same text
    /// again is meant.
    var refused: ObjectID?

    package init(path: TreePath, base: ObjectID, old: ObjectID, refused: ObjectID? = nil) {
      self.path = path
      self.base = base
      self.old = old
      self.refused = refused
    }
  }

  /// How many checkouts are remembered: enough for a day's work in many notes.
  package static let capacity = 1_000

  package private(set) var entries: [Entry] = []
  private let path: String

  /// Reads the log; a broken one counts as empty.
  package init(stateFolder: String) {
    path = stateFolder + "/brought"
    guard let content = try? Disk.readIfThere(path) else { return }
    for line in content.split(separator: UInt8(ascii: "\n")) {
      let words = StateWords(line)
      guard words.count == 4, let base = words.id(0), let old = words.id(1),
        let refused = words.id(2), let path = words.path(3)
      else { continue }
      entries.append(Entry(path: path, base: base, old: old, refused: refused.unlessZero))
    }
  }

  /// The checkouts that changed a note, oldest first.
  package func entries(for path: TreePath) -> [Entry] { entries.filter { $0.path == path } }

  /// What the folder held before the last few checkouts, the latest first.
  package var latestBases: [ObjectID] {
    Array(entries.reversed().map(\.base).eachOnce.prefix(Self.latestCount))
  }

  // Who moves a note while a checkout runs saves soon after.
  private static let latestCount = 4

  /// Adds what a checkout brought.
  package mutating func append(_ new: [Entry]) {
    entries += new
    if entries.count > Self.capacity { entries.removeFirst(entries.count - Self.capacity) }
  }

  /// Forgets the checkouts of some notes: their present text was written by somebody who saw them.
  package mutating func forget(_ paths: Set<TreePath>) throws {
    let count = entries.count
    entries.removeAll { paths.contains($0.path) }
    if entries.count != count { try store() }
  }

  /// Remembers a text that was taken for a stale editor's.
  package mutating func refuse(_ text: ObjectID, for path: TreePath) {
    for position in entries.indices where entries[position].path == path {
      entries[position].refused = text
    }
  }

  /// Writes the log.
  package func store() throws {
    let text = entries.flatMap { entry in
      "\(entry.base) \(entry.old) \(entry.refused ?? .zero) \(entry.path.hexadecimal)\n".utf8
    }
    try Disk.replace(path, with: text, waits: false)
  }
}
