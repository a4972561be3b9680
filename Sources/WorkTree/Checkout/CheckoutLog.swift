package import Git
package import State
internal import System

/// The texts that were in the folder before the last checkouts: `.git/notes/brought`.
///
/// An editor may still have one of them loaded; its save is then based on that text: notes-merge(7), "The stale
/// editor". The log is a cache, not history: without it, only this distinction is lost.
package struct CheckoutLog {
  /// A checkout that changed a note.
  package struct Entry: Hashable {
    package let path: TreePath
    /// A commit that has the note as it was before.
    package let base: ObjectID
    /// The note before, in `base`.
    package let old: ObjectID
    /// The note as the checkout left it; nil if the checkout removed the note.
    package internal(set) var new: ObjectID?
    /// The time of the checkout, in nanoseconds since 1970; later than every earlier checkout,
    /// whatever the clock says.
    package internal(set) var time: Int64
    /// The inode of the file with `old`; 0 if unknown.
    package let inode: UInt64
    /// Whether a program on this device wrote `old`, and so has it loaded.
    package let isWritten: Bool
    /// Whether `old` was a save of an editor that had an older text.
    package internal(set) var isStaleSave = false
    /// Whether a program has written the note on top of the checkout's text.
    package internal(set) var isSeen = false

    package init(
      path: TreePath, base: ObjectID, old: ObjectID, new: ObjectID?, time: Int64, inode: UInt64 = 0,
      isWritten: Bool
    ) {
      (self.path, self.base, self.old, self.new) = (path, base, old, new)
      (self.time, self.inode, self.isWritten) = (time, inode, isWritten)
    }
  }

  /// A checkout's change of a note.
  package struct Step {
    package let path: TreePath
    package let base: ObjectID
    package let old: ObjectID
    /// The note as the checkout left it; nil if the checkout removed the note.
    package let new: ObjectID?
    /// The inode of the file with `old`; 0 if unknown.
    package let inode: UInt64
    /// Whether a save made a version with `old`, and the version before has another text.
    package let isSave: Bool
    /// Whether a program has read the file since a checkout wrote it; nil if unknown.
    package let wasRead: Bool?

    package init(
      path: TreePath, base: ObjectID, old: ObjectID, new: ObjectID?, inode: UInt64 = 0,
      isSave: Bool, wasRead: Bool?
    ) {
      (self.path, self.base, self.old, self.new) = (path, base, old, new)
      (self.inode, self.isSave, self.wasRead) = (inode, isSave, wasRead)
    }
  }

  /// How many texts are remembered, of all notes and of one note: enough for a day's work in many
  /// notes.
  package static let capacity = 400
  static let capacityOfNote = 8

  package private(set) var entries: [Entry] = []
  /// How many of the files that one checkout wrote and the next replaced had been read by a
  /// program.
  package private(set) var readFiles = 0
  /// The number of other such files: one checkout wrote them, the next replaced them, and no program had read them.
  package private(set) var unreadFiles = 0
  private let path: String

  /// Reads the log.
  package init(stateFolder: StateFolder) {
    path = stateFolder[.brought]
    let known = Disk.memory(at: path) { content throws(StateDamage) in try Self.parse(content, path)
    }
    guard let known else { return }
    (readFiles, unreadFiles, entries) = known
  }

  private static func parse(
    _ content: StateLines, _ file: String
  ) throws(StateDamage) -> (readFiles: Int, unreadFiles: Int, entries: [Entry]) {
    var found = (readFiles: 0, unreadFiles: 0, entries: [Entry]())
    for words in content.lines.map(\.words) {
      if words.count == 2, let read = Int(words[0]), let unread = Int(words[1]) {
        (found.readFiles, found.unreadFiles) = (read, unread)
        continue
      }
      // notes 1.0 wrote such lines, without the time.
      if words.count == 4, words.id(0) != nil, words.path(3) != nil { continue }
      guard (6...7).contains(words.count), let base = words.id(0), let old = words.id(1),
        words[2] == Self.none || words.id(2) != nil,
        let time = Int64(words[3]), let path = words.path(5)
      else { throw StateDamage(file, "a line is no checkout of a note") }
      let flags = words[4]
      var entry = Entry(
        path: path, base: base, old: old, new: words.id(2), time: time,
        inode: words.count > 6 ? UInt64(words[6]) ?? 0 : 0, isWritten: flags.contains("w"))
      entry.isSeen = flags.contains("s")
      entry.isStaleSave = flags.contains("o")
      found.entries.append(entry)
    }
    return found
  }

  /// The file's mark for a note that a checkout removed.
  private static let none = "-"

  /// The checkouts that changed a note since its last removal by a checkout, oldest first.
  package func entries(for path: TreePath) -> [Entry] {
    let own = entries.filter { $0.path == path }
    return Array(own[(own.lastIndex { $0.new == nil }.map { $0 + 1 } ?? 0)...])
  }

  /// The checkouts that changed a note up to its last removal by a checkout, oldest first; empty if no
  /// checkout removed it.
  func entries(upToRemovalOf path: TreePath) -> [Entry] {
    let own = entries.filter { $0.path == path }
    guard let last = own.last, last.new == nil else { return [] }
    return Array(own[(own.dropLast().lastIndex { $0.new == nil }.map { $0 + 1 } ?? 0)...])
  }

  /// The time of the last checkout; 0 if none is known.
  package var latestTime: Int64 { entries.reduce(0) { max($0, $1.time) } }

  /// The versions that were in the folder before the last few checkouts, the latest first.
  package var latestBases: [ObjectID] {
    Array(entries.reversed().map(\.base).eachOnce.prefix(Self.latestCount))
  }

  // A person who moves a note during a checkout saves soon after it.
  private static let latestCount = 4

  /// Adds the steps of a checkout. Leaves out texts that no program wrote or read, because no program has them
  /// loaded.
  package mutating func append(_ steps: [Step], at now: Int64) {
    let time = max(now, latestTime + 1)
    var latest: [TreePath: Int] = [:]
    for position in entries.indices { latest[entries[position].path] = position }
    for step in steps {
      let last = latest[step.path]
      var isPlaced = false
      if let last, !step.isSave, !entries[last].isSeen, entries[last].new == step.old {
        isPlaced = true
        count(step.wasRead)
        if step.wasRead == false {
          (entries[last].new, entries[last].time) = (step.new, time)
          continue
        }
      }
      if let last, entries[last].old == step.old {
        // The same text was written again; it is remembered once.
        entries[last] = Entry(
          path: step.path, base: step.base, old: step.old, new: step.new, time: time,
          inode: step.inode, isWritten: true)
        entries[last].isStaleSave = step.isSave
        continue
      }
      latest[step.path] = entries.count
      entries.append(
        Entry(
          path: step.path, base: step.base, old: step.old, new: step.new, time: time,
          inode: step.inode, isWritten: !isPlaced))
      entries[entries.count - 1].isStaleSave = step.isSave
    }
    for path in Set(steps.map(\.path)) {
      // The oldest entry stays: an editor opened before all checkouts has its text loaded.
      let own = entries.indices.filter { entries[$0].path == path }
      if own.count > Self.capacityOfNote { entries.remove(at: own[1]) }
    }
    if entries.count > Self.capacity { entries.removeFirst(entries.count - Self.capacity) }
  }

  private mutating func count(_ wasRead: Bool?) {
    guard let wasRead else { return }
    if wasRead { readFiles += 1 } else { unreadFiles += 1 }
    if readFiles + unreadFiles > 32 { (readFiles, unreadFiles) = (readFiles / 2, unreadFiles / 2) }
  }

  /// Records that a program wrote these notes on top of the last checkout's text.
  package mutating func markSeen(_ paths: Set<TreePath>) throws {
    var isChanged = false
    for position in entries.indices
    where !entries[position].isSeen && paths.contains(entries[position].path) {
      entries[position].isSeen = true
      isChanged = true
    }
    if isChanged { try store() }
  }

  /// Writes the log.
  package func store() throws {
    var text = Array("\(readFiles) \(unreadFiles)\n".utf8)
    for entry in entries {
      let flags =
        (entry.isWritten ? "w" : "") + (entry.isSeen ? "s" : "") + (entry.isStaleSave ? "o" : "")
      text +=
        "\(entry.base) \(entry.old) \(entry.new?.description ?? Self.none) \(entry.time) \(flags.isEmpty ? "-" : flags) \(entry.path.hexadecimal) \(entry.inode)\n"
        .utf8
    }
    try Disk.replace(path, with: text, waits: false)
  }
}
