package import Git
package import Glibc
internal import Merge
internal import System

/// The text on which a save is based: notes-merge(7), "The stale editor".
package struct SaveBase {
  /// The evidence that decided.
  package enum Evidence: String, Codable, Sendable, CaseIterable {
    /// The save has everything that the checkouts added.
    case kept
    /// No program had read the text of the last checkout.
    case unread
    /// `notes edit` gave its editor an older text.
    case edit
    /// The editor's lock file is older than the checkout.
    case lock
    /// A program has the older text's file open.
    case descriptor
    /// The save's lines are those of the older text.
    case lines
    /// A program had read the new text, or written on top of it.
    case read
    /// There was no evidence against the new text.
    case unknown
  }

  /// The checkout that replaced the base; nil if the base is the last text in the folder.
  package let unseen: CheckoutLog.Entry?
  package let evidence: Evidence
  /// How many lines that checkouts added within the last day the save removes although its writer
  /// had seen them.
  package let taken: Int
  /// A commit before all the changes that the save removes, or that its writer had not seen.
  package let since: ObjectID
}

/// All the evidence about a save of a note that checkouts had changed.
struct SaveEvidence {
  /// The checkouts, oldest first; at least one.
  let entries: [CheckoutLog.Entry]
  let saved: ObjectID
  /// The last text that the folder had of the note.
  let present: ObjectID
  /// The time of the decision, in nanoseconds since 1970.
  let now: Int64
  let reading: FileReading
  /// When the editor's lock file was made; called only if needed.
  var lock: () -> Int64? = { nil }
  /// The files among these that a program has open. Each file has the time at which it had left the folder.
  var open: ([UInt64: Int64]) -> Set<UInt64> = { _ in [] }
  /// The texts that running commands gave to their editors.
  var runs: () -> [EditRuns.Item] = { [] }
  /// Whether a program reads all files, so that a read proves nothing.
  var readsAll: () -> Bool = { false }
  /// The size of the markers of the note's open conflict; nil if there is no conflict.
  var markerSize: () throws -> Int? = { nil }

  /// For how long after a checkout an edit without traces of the checkout's text may be based on
  /// the former text, in nanoseconds.
  static let doubt: Int64 = 600 * 1_000_000_000
  static let day: Int64 = 24 * 3_600 * 1_000_000_000
  /// Texts larger than this, and those with zero bytes, are not compared.
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
    // The newest text that the writer can have had.
    var (upper, proof) = (count, SaveBase.Evidence?.none)
    func bound(_ text: Int, _ evidence: SaveBase.Evidence) {
      if text < upper { (upper, proof) = (text, evidence) }
    }
    if !isWritten, reading == .unread { bound(count - 1, .unread) }
    if upper == count, all.isEmpty { return base(count, .kept, texts) }
    for proof in proofs { bound(proof.text, proof.evidence) }
    // The oldest such text: if the save has a line of a checkout, its writer had read that
    // checkout.
    let low = (0..<upper).last { regions[$0].contains(where: \.showsNew) }.map { $0 + 1 } ?? 0
    let rest = regions[low..<upper].joined()
    if rest.isEmpty { return base(upper, proof ?? .unknown, texts) }
    if isOlder(low, upper, rest, texts) {
      return base(closest(low, upper, texts), proof ?? .lines, texts)
    }
    let isKnown = isWritten || reading == .read
    return base(upper, proof ?? (isKnown ? .read : .unknown), texts)
  }

  /// The texts that the writer had, by the evidence about the editor.
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

  /// The oldest text whose file a program still has open.
  private func oldestOpen() -> Int? {
    let files = Dictionary(entries.filter { $0.inode > 0 }.map { ($0.inode, $0.time) }) { $1 }
    let open = files.isEmpty ? [] : open(files)
    return entries.firstIndex { open.contains($0.inode) && files[$0.inode] == $0.time }
  }

  /// The newest text that a program here wrote, starting with a text that an editor had.
  private func newestWritten(from text: Int) -> Int {
    if entries[entries.count - 1].isSeen { return entries.count }
    return entries.indices.last { $0 > text && entries[$0].isWritten } ?? text
  }

  /// The text that the save has the most of; of several, the newest. The candidates are an older text, and the
  /// texts that programs here wrote later without any added lines.
  private func closest(_ low: Int, _ upper: Int, _ texts: Texts) -> Int {
    var (closest, most) = (low, texts.saved.share(of: texts.olds[low]))
    for text in low...upper where text < entries.count && text > low {
      guard entries[text].isWritten || text == upper else { continue }
      let share = texts.saved.share(of: texts.olds[text])
      // Of two texts that match equally well, prefer one that a program here wrote: an editor certainly had it.
      if share > most || share == most && entries[text].isWritten {
        (closest, most) = (text, share)
      }
    }
    // The save has a text that was written here before: its writer has undone the later edits.
    let newest = (low...upper).last { $0 < entries.count && entries[$0].isWritten }
    if let newest, newest > closest, entries[closest].isWritten, entries[closest].old == saved {
      return newest
    }
    return closest
  }

  /// Whether a save that has nothing of the changes between two texts is based on the older text.
  private func isOlder(
    _ low: Int, _ upper: Int, _ rest: some Collection<BroughtRegion>, _ texts: Texts
  ) -> Bool {
    let isLast = upper == entries.count
    let isHeld =
      isLast
      ? entries[upper - 1].isSeen || reading == .read && !readsAll() : entries[upper].isWritten
    let share = texts.saved.share(of: texts.olds[low])
    let isDoubtful = now - entries[upper - 1].time < Self.doubt
    // A person who resolves a conflict removes its blocks: only text outside of them is evidence.
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

  /// How many lines added within the last day a text would remove if it replaces the note on purpose,
  /// and a commit before these lines.
  func taken(reading blob: (ObjectID) throws -> [UInt8]) throws -> SaveBase? {
    try Texts(self, blob).map { base(entries.count, .kept, $0) }
  }

  /// The texts, and the changes of each checkout that are still in the note.
  private struct Texts {
    let saved: LineTexts.Text
    /// The text before each checkout.
    let olds: [LineTexts.Text]
    let regions: [[BroughtRegion]]
    private let present: LineTexts.Text
    /// The present text without the blocks of an open conflict; nil if there is no conflict.
    private let outside: LineTexts.Text?

    /// Whether the save has all lines of an older text that are in blocks now.
    func keepsBlocks(of text: Int) -> Bool {
      guard let outside else { return true }
      let old = olds[text]
      return old.distinct.allSatisfy {
        outside.count($0) >= present.count($0) || saved.count($0) >= old.count($0)
      }
    }

    /// Nil if one of the texts is too large, or is not text.
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
  /// Counts the lines that a text removes, if somebody puts it in the note's place on purpose.
  ///
  /// - Returns: how many of these lines checkouts added within the last day, and a commit before them. Nil if
  ///   no checkout has changed the note lately, or if its texts cannot be read.
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

/// Finds the text on which a save is based.
package struct SaveBases {
  let workTree: WorkTree
  let log: CheckoutLog
  /// The notes with an open conflict, and the sizes of the markers; called only if needed.
  private let conflicts: () throws -> [TreePath: Int]
  /// The tree of the version in the folder.
  private let tree: () throws -> ObjectID?
  /// Whether the version in the folder has a commit's note under another name.
  let isRenamed: (TreePath, _ commit: ObjectID) throws -> Bool

  package init(
    workTree: WorkTree, log: CheckoutLog, conflicts: @escaping () throws -> [TreePath: Int],
    tree: @escaping () throws -> ObjectID?,
    isRenamed: @escaping (TreePath, _ commit: ObjectID) throws -> Bool
  ) {
    (self.workTree, self.log) = (workTree, log)
    (self.conflicts, self.tree, self.isRenamed) = (conflicts, tree, isRenamed)
  }

  /// The text on which a save of a note is based. Nil if no checkout has changed the note lately, or if the
  /// version in the folder already has the saved text.
  ///
  /// - Parameters:
  ///   - present: the last text that the folder had of the note, and the index's status of it.
  ///   - status: the file's status now.
  package func base(
    of path: TreePath, saved: ObjectID, present: ObjectID, placed: FileStatus, status: stat,
    index: IndexFile
  ) throws -> SaveBase? {
    let repository = workTree.repository
    // git's reflog expires, and then a derived merge without a version on top is deleted.
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

  /// Whether most files of the last checkouts were read and not written afterwards. Then an indexer or a
  /// similar program reads all files, so reads prove nothing about an editor.
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
  /// When the editor wrote it, in seconds since 1970.
  package let written: Int64
  /// The checkout that replaced its base.
  package let unseen: CheckoutLog.Entry
}

/// A save of a note that checkouts had changed, as reported to people.
package struct SaveRemark: Codable, Sendable {
  /// The note.
  package let path: TreePath
  /// The evidence by which the base was found.
  package let evidence: SaveBase.Evidence
  /// If the save is based on an older text than the last one in the folder: the version with the older text.
  /// The save was then merged with the later changes.
  package let base: ObjectID?
  /// How many lines the save removes that checkouts added within the last day.
  package let takenLines: Int
  /// A commit before all the changes that the save removes, or that its writer had not seen.
  package let since: ObjectID

  /// Whether the save is reported.
  package var isTold: Bool { base != nil || takenLines > 0 }

  package init(path: TreePath, _ base: SaveBase) {
    (self.path, evidence, since) = (path, base.evidence, base.since)
    (self.base, takenLines) = (base.unseen?.base, base.taken)
  }
}
