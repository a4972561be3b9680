package import Git
package import Glibc
internal import Merge
internal import System

/// On which text a save was made: notes-merge(7), "The stale editor".
package struct SaveBase {
  /// The evidence that decided.
  package enum Evidence: String, Codable, Sendable, CaseIterable {
    /// All that the checkouts brought is in it.
    case kept
    /// No program had read what the last checkout brought.
    case unread
    /// `notes edit` gave its editor an older text.
    case edit
    /// The editor's lock file is older.
    case lock
    /// A program has the older text's file open.
    case descriptor
    /// Its lines are the older text's.
    case lines
    /// A program had read the new text, or written on it.
    case read
    /// Nothing spoke against the new text.
    case unknown
  }

  /// The checkout that put the next text there; nil for the text that the folder held last.
  package let unseen: CheckoutLog.Entry?
  package let evidence: Evidence
  /// How many lines that checkouts brought within the last day the save takes away, which had seen them.
  package let taken: Int
  /// A commit before all that it takes away, or did not see.
  package let since: ObjectID
}

/// All that is known of a save of a note that checkouts had changed.
struct SaveEvidence {
  /// The checkouts, oldest first; there is one at least.
  let entries: [CheckoutLog.Entry]
  let saved: ObjectID
  /// The note as the folder held it last.
  let present: ObjectID
  /// When the save is looked at, in nanoseconds since 1970.
  let now: Int64
  let reading: FileReading
  /// When the editor's lock file was made; asked for only where it matters.
  var lock: () -> Int64? = { nil }
  /// Which of these files, each with the time at which it had left the folder, a program has open.
  var open: ([UInt64: Int64]) -> Set<UInt64> = { _ in [] }
  /// The texts that running commands gave to their editors.
  var runs: () -> [EditRuns.Item] = { [] }
  /// Whether something reads all files, so that a file that was read tells nothing.
  var readsAll: () -> Bool = { false }
  /// The size of the markers of the note's open conflict; nil where there is none.
  var markerSize: () throws -> Int? = { nil }

  /// How long an edit of the very text that a checkout brought may be of the former one, in nanoseconds.
  static let doubt: Int64 = 600 * 1_000_000_000
  static let day: Int64 = 24 * 3_600 * 1_000_000_000
  /// Texts larger than this, and those with zero bytes, are not looked into.
  static let largestText = 1 << 22

  func base(reading blob: (ObjectID) throws -> [UInt8]) throws -> SaveBase {
    let count = entries.count
    let isWritten = entries[count - 1].isSeen
    guard let texts = try Texts(self, blob) else {
      let isUnread = !isWritten && reading == .unread
      return SaveBase(
        unseen: isUnread ? entries[count - 1] : nil, evidence: isUnread ? .unread : .unknown,
        taken: 0, since: entries[count - 1].base)
    }
    let regions = texts.regions
    let all = regions.joined()
    if !all.isEmpty, all.allSatisfy({ $0.state == .new }) { return base(count, .kept, texts) }
    // The newest text that its writer can have had.
    var (upper, proof) = (count, SaveBase.Evidence?.none)
    func bound(_ text: Int, _ evidence: SaveBase.Evidence) {
      if text < upper { (upper, proof) = (text, evidence) }
    }
    if !isWritten, reading == .unread { bound(count - 1, .unread) }
    if upper == count, all.isEmpty { return base(count, .kept, texts) }
    for proof in proofs { bound(proof.text, proof.evidence) }
    // The oldest one: what it has of a checkout its writer had read.
    let low = (0..<upper).last { regions[$0].contains(where: \.showsNew) }.map { $0 + 1 } ?? 0
    let rest = regions[low..<upper].joined()
    if rest.isEmpty { return base(upper, proof ?? .unknown, texts) }
    if isOlder(low, upper, rest, texts) {
      return base(closest(low, upper, texts), proof ?? .lines, texts)
    }
    let isKnown = isWritten || reading == .read
    return base(upper, proof ?? (isKnown ? .read : .unknown), texts)
  }

  /// The texts that the writer had by what is known of its editor.
  var proofs: [(text: Int, evidence: SaveBase.Evidence)] {
    var found: [(text: Int, evidence: SaveBase.Evidence)] = []
    if reading != .read, let lock = lock() {
      let held = entries.firstIndex { $0.time > lock } ?? entries.count
      found.append((newestWritten(from: held), .lock))
    }
    if reading != .read, let held = oldestOpen() {
      found.append((newestWritten(from: held), .descriptor))
    }
    for run in runs() {
      if let held = entries.firstIndex(where: { $0.old == run.text && $0.time > run.time }) {
        found.append((newestWritten(from: held), .edit))
      }
    }
    return found
  }

  /// The oldest text whose file a program has open still.
  private func oldestOpen() -> Int? {
    let files = Dictionary(entries.filter { $0.inode > 0 }.map { ($0.inode, $0.time) }) { $1 }
    let open = files.isEmpty ? [] : open(files)
    return entries.firstIndex { open.contains($0.inode) && files[$0.inode] == $0.time }
  }

  /// The text that programs here wrote last, from one on that an editor had.
  private func newestWritten(from text: Int) -> Int {
    if entries[entries.count - 1].isSeen { return entries.count }
    return entries.indices.last { $0 > text && entries[$0].isWritten } ?? text
  }

  /// Of an older text and those that programs here wrote since, which took nothing in of what came either:
  /// the one that the save has most of, the newest of several.
  private func closest(_ low: Int, _ upper: Int, _ texts: Texts) -> Int {
    var (closest, most) = (low, texts.saved.share(of: texts.olds[low]))
    for text in low...upper where text < entries.count && text > low {
      guard entries[text].isWritten || text == upper else { continue }
      let share = texts.saved.share(of: texts.olds[text])
      // Of two that tell as much, one that a program here wrote is held for sure.
      if share > most || share == most && entries[text].isWritten {
        (closest, most) = (text, share)
      }
    }
    // A text that was written here before, again: its writer has changed its mind about what was written since.
    let newest = (low...upper).last { $0 < entries.count && entries[$0].isWritten }
    if let newest, newest > closest, entries[closest].isWritten, entries[closest].old == saved {
      return newest
    }
    return closest
  }

  /// Whether a save that shows nothing of what came between two texts was made on the older one.
  private func isOlder(
    _ low: Int, _ upper: Int, _ rest: some Collection<BroughtRegion>, _ texts: Texts
  ) -> Bool {
    let isLast = upper == entries.count
    let isHeld =
      isLast
      ? entries[upper - 1].isSeen || reading == .read && !readsAll() : entries[upper].isWritten
    let share = texts.saved.share(of: texts.olds[low])
    let isDoubtful = now - entries[upper - 1].time < Self.doubt
    // A person who settles a conflict takes away its blocks: only text that came outside of them tells.
    let outside = rest.filter { !(isLast && $0.isInBlock) }
    if outside.isEmpty {
      return !isHeld && rest.allSatisfy { $0.state == .old } && share >= 0.5
        && texts.keepsBlocks(of: low) && (isDoubtful || entries[low].old != saved)
    }
    let old = outside.filter { $0.state == .old }
    let isWhole = old.count == outside.count
    if isHeld {
      return isWhole && share >= 0.5 && (old.count > 1 || old.contains(where: \.hasGoing))
    }
    if !old.isEmpty, share >= 0.5 { return true }
    return isDoubtful
  }

  private func base(_ text: Int, _ evidence: SaveBase.Evidence, _ texts: Texts) -> SaveBase {
    if text < entries.count {
      return SaveBase(
        unseen: entries[text], evidence: evidence, taken: 0, since: entries[text].base)
    }
    let taken = entries.indices.map { position in
      now - entries[position].time > Self.day
        ? 0 : texts.regions[position].reduce(0) { $0 + $1.missing }
    }
    let first = taken.firstIndex { $0 > 0 } ?? 0
    return SaveBase(
      unseen: nil, evidence: evidence, taken: taken.reduce(0, +), since: entries[first].base)
  }

  /// How many lines that came within the last day a text takes away which is put in the note's place on
  /// purpose, and a commit before these.
  func taken(reading blob: (ObjectID) throws -> [UInt8]) throws -> SaveBase? {
    try Texts(self, blob).map { base(entries.count, .kept, $0) }
  }

  /// The texts, and what each checkout brought that still stands.
  private struct Texts {
    let saved: LineTexts.Text
    /// The texts before each checkout.
    let olds: [LineTexts.Text]
    let regions: [[BroughtRegion]]
    private let present: LineTexts.Text
    /// The present text without the blocks of an open conflict; nil where there is none.
    private let outside: LineTexts.Text?

    /// Whether the save has all lines of an older text that stand in blocks now.
    func keepsBlocks(of text: Int) -> Bool {
      guard let outside else { return true }
      let old = olds[text]
      return old.distinct.allSatisfy {
        outside.count($0) >= present.count($0) || saved.count($0) >= old.count($0)
      }
    }

    /// Nil where one is too large, or is no text.
    init?(_ evidence: SaveEvidence, _ blob: (ObjectID) throws -> [UInt8]) throws {
      var table = LineTexts()
      let empty = table.text([])
      var known: [ObjectID: LineTexts.Text] = [:]
      var total = 0
      let steps = evidence.entries.flatMap { [$0.old, $0.new].compactMap(\.self) }
      for id in [evidence.saved, evidence.present] + steps where known[id] == nil {
        let bytes = try blob(id)
        total += bytes.count
        if total > SaveEvidence.largestText || bytes.contains(0) { return nil }
        known[id] = table.text(bytes)
      }
      let bytes = try blob(evidence.present)
      var outside: LineTexts.Text?
      if MarkedText.mayHoldBlocks(bytes), let size = try evidence.markerSize() {
        let marked = MarkedText(bytes, markerSize: size)
        outside = table.text(
          marked.text(
            replacing: Dictionary(uniqueKeysWithValues: marked.blocks.indices.map { ($0, []) })))
      }
      let texts = known
      func text(_ id: ObjectID) -> LineTexts.Text { texts[id] ?? empty }
      let (saved, present) = (text(evidence.saved), text(evidence.present))
      (self.saved, self.present, self.outside) = (saved, present, outside)
      olds = evidence.entries.map { text($0.old) }
      let lines = table
      regions = evidence.entries.map { entry in
        BroughtRegion.all(
          from: text(entry.old), to: entry.new.map(text) ?? empty, present: present, saved: saved,
          outside: outside, in: lines)
      }
    }
  }
}

extension CheckoutLog {
  /// The lines that a text takes away which is to be put in a note's place on purpose.
  ///
  /// - Returns: how many lines that checkouts brought within the last day, and a commit before these; nil
  ///   where no checkout has changed the note lately, or its texts cannot be read.
  package func taken(
    from path: TreePath, present: ObjectID, by text: ObjectID, in repository: Repository
  ) throws -> (lines: Int, since: ObjectID)? {
    let entries = try entries(for: path).filter {
      try repository.contains($0.old) && $0.new.map(repository.contains) ?? false
    }
    if entries.isEmpty { return nil }
    return try SaveEvidence(
      entries: entries, saved: text, present: present, now: WallClock.precise.nanoseconds,
      reading: .unknown
    ).taken(reading: repository.blob).map { ($0.taken, $0.since) }
  }
}

/// Finds on which text saves were made.
package struct SaveBases {
  let workTree: WorkTree
  let log: CheckoutLog
  /// The notes with an open conflict, and the sizes of its markers; asked for only where it matters.
  private let conflicts: () throws -> [TreePath: Int]
  /// The tree of the version that the device shows.
  private let tree: () throws -> ObjectID?
  /// Whether that version has a note of a commit under another name.
  let isRenamed: (TreePath, _ commit: ObjectID) throws -> Bool

  package init(
    workTree: WorkTree, log: CheckoutLog, conflicts: @escaping () throws -> [TreePath: Int],
    tree: @escaping () throws -> ObjectID?,
    isRenamed: @escaping (TreePath, _ commit: ObjectID) throws -> Bool
  ) {
    (self.workTree, self.log) = (workTree, log)
    (self.conflicts, self.tree, self.isRenamed) = (conflicts, tree, isRenamed)
  }

  /// On which text a save of a note was made; nil where no checkout has changed the note lately, or the
  /// version that the device shows has it already.
  ///
  /// - Parameters:
  ///   - present: the note as the folder held it last, and the index's status of that.
  ///   - status: the file as it is now.
  package func base(
    of path: TreePath, saved: ObjectID, present: ObjectID, placed: FileStatus, status: stat,
    index: IndexFile
  ) throws -> SaveBase? {
    let repository = workTree.repository
    // A derived merge that no version was made on is gone with git's reflog.
    let entries = try log.entries(for: path).filter {
      try repository.contains($0.base) && repository.contains($0.old)
        && $0.new.map(repository.contains) ?? false
    }
    guard !entries.isEmpty,
      try tree().flatMap({ try repository.entry(at: path, in: $0) })?.id != saved
    else { return nil }
    let keepsTimes = FileReading.isKept(in: workTree.folder)
    let reading =
      workTree.toldReading(path)
      ?? (keepsTimes ? FileReading(of: status, since: placed) : .unknown)
    let now = WallClock.precise.nanoseconds
    return try SaveEvidence(
      entries: entries, saved: saved, present: present, now: now, reading: reading,
      lock: { EditorLock.birth(of: path, in: workTree.folder) },
      open: { OpenFiles.open(among: $0, on: status.st_dev) },
      runs: { EditRuns.all(of: path, stateFolder: workTree.stateFolder) },
      readsAll: { readsAll(except: path, index) },
      markerSize: { try conflicts()[path] }
    ).base(reading: repository.blob)
  }

  /// Whether most of the files that the last checkouts brought were read, and not written then: an
  /// indexer or the like reads all of them, and tells nothing of an editor.
  private func readsAll(except path: TreePath, _ index: IndexFile) -> Bool {
    var (read, unread) = (log.readFiles, log.unreadFiles)
    let others = log.entries.reversed().map(\.path).eachOnce.filter { $0 != path }
    for other in others.prefix(8) {
      guard log.entries.last(where: { $0.path == other })?.isSeen == false,
        let position = index.position(of: other)
      else { continue }
      var status = stat()
      let name = Array("\(workTree.folder)/".utf8).map { CChar(bitPattern: $0) } + other.cString
      guard Counted.lstat(name, &status) == 0 else { continue }
      let placed = index.status(at: position)
      if FileStatus(status).inode != placed.inode { continue }
      if FileReading(of: status, since: placed) == .unread { unread += 1 } else { read += 1 }
    }
    return read >= 2 && read > 2 * unread
  }
}

extension timespec {
  /// The time in nanoseconds.
  package var nanoseconds: Int64 { Int64(tv_sec) * 1_000_000_000 + Int64(tv_nsec) }
}

/// A save by an editor that had not seen the last checkouts of the note.
package struct StaleSave {
  package let path: TreePath
  /// The text that the editor wrote.
  package let entry: TreeEntry
  /// When, in seconds since 1970.
  package let written: Int64
  /// The checkout that replaced the text it was made on.
  package let unseen: CheckoutLog.Entry
}

/// A save of a note that checkouts had changed, for whoever is told of it.
package struct SaveRemark: Codable, Sendable {
  /// Which note.
  package let path: TreePath
  /// The evidence by which the base was found.
  package let evidence: SaveBase.Evidence
  /// The version that has the text it was made on, where that is older than what the folder held: it was
  /// merged with what came since.
  package let base: ObjectID?
  /// How many lines it takes away that were brought within the last day.
  package let takenLines: Int
  /// A commit before all that it takes away, or did not see.
  package let since: ObjectID

  /// Whether people may be told of it.
  package var isTold: Bool { base != nil || takenLines > 0 }

  package init(path: TreePath, _ base: SaveBase) {
    (self.path, evidence, since) = (path, base.evidence, base.since)
    (self.base, takenLines) = (base.unseen?.base, base.taken)
  }
}
