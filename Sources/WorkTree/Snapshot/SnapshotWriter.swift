package import Git
internal import Glibc

/// Called with the amount that a save has read and the total. A throw ends the save without a
/// version.
public typealias SaveProgress = (_ done: WorkAmount, _ total: WorkAmount) throws -> Void

/// Stores the candidates' content and records it in the new index.
package struct SnapshotWriter {
  private let workTree: WorkTree
  private let log: CheckoutLog
  private let bases: SaveBases
  private let index: IndexFile
  private var edit: IndexEdit
  private var newIndex: NewIndex?
  package private(set) var changes: [Change] = []
  package private(set) var skipped: [SkippedFile] = []
  /// Edits based on texts from before a checkout; the index keeps the checkout's text.
  package private(set) var stale: [StaleSave] = []
  /// The base of each save of a note that checkouts had changed.
  package private(set) var remarks: [SaveRemark] = []
  /// The latest modification time of the stored texts, in seconds since 1970; nil if no text is new.
  package private(set) var written: Int64?
  /// The texts of deleted files: a new file with such a text was moved, and not written now.
  private let gone: Set<ObjectID>
  /// The files that may contain conflict blocks.
  package private(set) var marked: Set<TreePath> = []
  private var pack: NewPack?
  private var privateFiles: PrivateFiles

  package init(
    _ workTree: WorkTree, index: IndexFile, log: CheckoutLog, gone: Set<ObjectID>,
    bases: SaveBases
  ) {
    self.workTree = workTree
    (self.log, self.gone, self.bases) = (log, gone, bases)
    self.index = index
    edit = IndexEdit(of: index)
    privateFiles = PrivateFiles(in: workTree.stateFolder)
  }

  /// Stores the candidates. Call it inside `withBatchedWrites`.
  ///
  /// - Parameter progress: called with the amounts done and in total.
  package mutating func record(_ candidates: [Candidate], progress: SaveProgress) throws {
    let isMany = candidates.count > BulkRead.threshold
    // A text that may be from before a checkout is handled on its own.
    let brought = Set(log.entries.map(\.path))
    let isSingle = { (candidate: Candidate) in !isMany || brought.contains(candidate.path) }
    let total = WorkAmount(of: candidates)
    var done = WorkAmount()
    if isMany {
      let many = brought.isEmpty ? candidates : candidates.filter { !isSingle($0) }
      try recordInBulk(many) { try progress($0, total) }
      done = WorkAmount(of: many)
    }
    for candidate in candidates where isSingle(candidate) {
      try progress(done, total)
      try recordSingly(candidate)
      done.count(candidate)
    }
    recordPrivateFolders(of: candidates)
    privateFiles.keep()
  }

  /// Records the permissions and groups of the folders that the files are in.
  private mutating func recordPrivateFolders(of candidates: [Candidate]) {
    var seen: Set<TreePath> = [""]
    var access: FolderAccess?
    for candidate in candidates {
      var next = candidate.path.parent
      while let folder = next, seen.insert(folder).inserted {
        // If a folder cannot be read, its record stays.
        access = access ?? (try? FolderAccess(folder: workTree.folder))
        if let status = try? access?.status(of: folder) {
          privateFiles.record(folder, status.st_mode, group: status.st_gid)
        }
        next = folder.parent
      }
    }
  }

  package mutating func remove(_ entry: IndexEntry) {
    edit.remove(entry.path)
    changes.append(Change(path: entry.path, kind: .deleted))
  }

  /// Gives damaged files their last version's entries in the index.
  package mutating func keepVersioned(_ cut: [PowerLossDamage], in head: Head) throws {
    guard !cut.isEmpty, let tip = head.commit else { return }
    let tree = try workTree.repository.commit(tip).tree
    for path in cut.map(\.path) {
      guard let entry = try workTree.repository.entry(at: path, in: tree),
        index.position(of: path).map({ index.id(at: $0) }) != entry.id
      else { continue }
      edit.set(
        IndexEntry(path: path, mode: entry.mode, id: entry.id, status: FileStatus(stat())))
    }
  }

  /// Marks these notes in the index as left out of the folder.
  package mutating func leaveOut(_ positions: [Int]) {
    for position in positions {
      let entry = index[position]
      edit.set(
        IndexEntry(
          path: entry.path, mode: entry.mode, id: entry.id, status: FileStatus(stat()),
          skipsWorktree: true))
    }
  }

  /// Stores the trees of the new index and returns the root's ID. Call it after everything is
  /// recorded.
  package mutating func makeTree() throws -> ObjectID {
    if pack == nil, let tree = edit.unchangedTree { return tree }
    let repository = workTree.repository
    var index = finishEdit()
    defer { newIndex = index }
    guard let pack else { return try index.makeTree { try repository.write(.tree, $0) } }
    var piece = try PackPiece(of: pack)
    let tree = try index.makeTree { content in
      if piece.isFull { try pack.append(&piece) }
      return try piece.add(.tree, content)
    }
    try pack.append(&piece)
    try pack.finish(in: repository)
    self.pack = nil
    return tree
  }

  /// Writes the new index under a temporary name. Call it after its trees are made.
  package mutating func stageIndex() throws -> StagedIndex {
    let index = newIndex ?? finishEdit()
    newIndex = nil
    return try index.stage(in: workTree.repository)
  }

  /// Applies the gathered changes to the index; after a bulk read there are many.
  private mutating func finishEdit() -> NewIndex {
    var done = IndexEdit(of: index)
    swap(&done, &edit)
    return done.finish()
  }

  private mutating func recordInBulk(
    _ candidates: [Candidate], progress: (WorkAmount) throws -> Void
  ) throws {
    let pack = try NewPack(in: workTree.repository)
    self.pack = pack
    let outcomes = try BulkRead(candidates, index: index, in: workTree, pack: pack)
      .run(progress: progress)
    // An array that doubles as it grows would need three times the memory.
    edit.reserveCapacity(candidates.count)
    changes.reserveCapacity(candidates.count)
    for (candidate, outcome) in zip(candidates, outcomes) { take(outcome, of: candidate) }
  }

  private mutating func recordSingly(_ candidate: Candidate) throws {
    let path = candidate.path
    switch try FileContent.read(path, in: workTree.folder, sizeLimit: workTree.sizeLimit) {
    case .skipped(let reason): take(.skipped(reason), of: candidate)
    case .gone: take(.gone, of: candidate)
    case .read(let content):
      var id = try workTree.repository.hash(blob: content.bytes)
      let known = candidate.position.map { index.id(at: $0) }
      if id != known { id = try workTree.repository.write(blob: content.bytes) }
      let base = try known == id ? nil : self.base(of: candidate, saved: id, content)
      if let base { remarks.append(SaveRemark(path: path, base)) }
      if let base, let unseen = base.unseen {
        let entry = TreeEntry(name: path.name, mode: mode(content.mode, of: candidate), id: id)
        stale.append(
          StaleSave(path: path, entry: entry, written: content.written, unseen: unseen))
      } else {
        take(BulkRead.Outcome(id, content), of: candidate)
      }
    }
  }

  private func base(
    of candidate: Candidate, saved: ObjectID, _ content: FileContent
  ) throws -> SaveBase? {
    guard let position = candidate.position else {
      // A file that was moved here was not written by an editor that had the former note open.
      if gone.contains(saved) { return nil }
      return try bases.base(
        ofGone: candidate.path, saved: saved, device: content.before.st_dev)
    }
    return try bases.base(
      of: candidate.path, saved: saved, present: index.id(at: position),
      placed: index.status(at: position), status: content.before, index: index)
  }

  private func mode(_ seen: FileMode, of candidate: Candidate) -> FileMode {
    workTree.fileModes.mode(of: seen, known: candidate.position.map { index.mode(at: $0) })
  }

  private mutating func take(_ outcome: BulkRead.Outcome, of candidate: Candidate) {
    switch outcome {
    case .skipped(let reason): skipped.append(SkippedFile(path: candidate.path, reason: reason))
    case .gone: if let position = candidate.position { remove(index[position]) }
    case .stored(let id, let seen, let status, let time, let mayHoldBlocks, let permissions):
      privateFiles.record(candidate.path, permissions, group: status.group)
      if mayHoldBlocks { marked.insert(candidate.path) }
      let mode = self.mode(seen, of: candidate)
      edit.set(IndexEntry(path: candidate.path, mode: mode, id: id, status: status))
      let known = candidate.position.map { index.id(at: $0) }
      if known != id, !gone.contains(id) { written = max(written ?? time, time) }
      let isSame = candidate.position.map { known == id && index.mode(at: $0) == mode }
      if isSame != true {
        changes.append(Change(path: candidate.path, kind: isSame == nil ? .added : .modified))
      }
    }
  }
}

extension WorkAmount {
  /// All these files, with the sizes read in the scan.
  fileprivate init(of candidates: [Candidate]) {
    self.init()
    for candidate in candidates { count(candidate) }
  }

  mutating func count(_ candidate: Candidate) {
    files += 1
    bytes += candidate.size
  }
}
