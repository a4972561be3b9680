public import Git
internal import Glibc

/// What a save did.
public struct SaveResult: Sendable {
  /// The new version, or nil when nothing differed from the last.
  public let version: ObjectID?
  /// What differed, by path.
  public let changes: [Change]
  /// Files that are not versioned, and why.
  public let skipped: [SkippedFile]
}

/// Told how many of how many files are stored.
public typealias SaveProgress = (_ done: Int, _ total: Int) -> Void

extension Notebook {
  /// Makes a version of what the folder holds now, if it differs from the last one.
  ///
  /// - Parameters:
  ///   - message: what the version is called; made from the changes when nil.
  ///   - paths: only these files or folders; all when empty. Deleting what is named is a wish.
  ///   - allowsMassDeletion: let more than half of the notes be deleted.
  ///   - operation: what the save is called in the log of operations.
  ///   - progress: called while many files are stored.
  /// - Throws: `NotebookError.massDeletion`, before anything is versioned.
  public func save(
    message: String? = nil, only paths: [TreePath] = [], allowsMassDeletion: Bool = false,
    operation: OperationKind = .save, progress: SaveProgress = { _, _ in }
  ) throws -> SaveResult {
    try withWriterLock {
      try saveLocked(
        message: message, only: paths, allowsMassDeletion: allowsMassDeletion,
        operation: operation, progress: progress)
    }
  }

  /// `save` for callers that hold the writer lock.
  package func saveLocked(
    message: String? = nil, only paths: [TreePath] = [], allowsMassDeletion: Bool = false,
    scope: SaveScope = .everything, operation: OperationKind = .save,
    progress: SaveProgress = { _, _ in }
  ) throws -> SaveResult {
    let head = try repository.head()
    let index = try withoutUnfit(indexForChange(), staying: head)
    var found = try scan(scope, against: index)
    if !allowsMassDeletion && paths.isEmpty {
      try guardAgainstMassDeletion(in: found, since: head.commit)
    }
    var log = CheckoutLog(stateFolder: stateFolder)
    if !paths.isEmpty {
      let isWanted = { (path: TreePath) in paths.contains { path == $0 || path.isBelow($0) } }
      found.candidates.removeAll { !isWanted($0.path) }
      found.deleted.removeAll { !isWanted($0.path) }
    }
    let isSame = found.isEmpty
    var recording = Recording(notebook: self, index: index, log: log)
    var changes: [Change] = []
    var version: ObjectID?
    try repository.withBatchedWrites(isBeforeMove: true) {
      try recording.record(found.candidates, progress: progress)
      // They may be very many, and their files are read.
      found.candidates = []
      for entry in found.deleted { recording.remove(entry) }
      let tree = try recording.makeTree()
      let parent = try head.commit.map { try repository.commit($0) }
      guard parent?.tree != tree, parent != nil || tree != .emptyTree else { return }
      // What git took out of the index by hand, the scan knows nothing of.
      if !allowsMassDeletion, let parent, index.tree != parent.tree {
        try guardAgainstMassDeletion(fromTree: parent.tree, to: tree)
      }
      changes = recording.changes
      if changes.isEmpty {
        changes = try repository.changes(from: parent?.tree, to: tree).map(Change.init)
      }
      changes.sort { $0.path < $1.path }
      version = try makeVersion(
        of: tree, parents: parent.map { [$0] } ?? [],
        message: message ?? Self.message(for: changes),
        conflicts: formerConflicts(in: tree, among: recording.marked, head: head))
    }
    if let version {
      earlyNotice?(version)
      try move(head, to: version, operation: operation)
    } else {
      try repository.syncPendingObjects()
    }
    if !isSame { try recording.writeIndex() }
    if version != nil { try rememberTip() }
    try log.forget(Set(changes.map(\.path)), storedIfChanged: true)
    if !recording.stale.isEmpty {
      version =
        try mergeStaleSaves(
          recording.stale, operation: version == nil ? operation : .continuation) ?? version
      changes += recording.stale.map { Change(path: $0.path, kind: .modified) }
      changes.sort { $0.path < $1.path }
    }
    var skipped = (found.skipped + recording.skipped).sorted { $0.path < $1.path }
    if !index.leftOut.isEmpty, case .everything = scope {
      try bringLeftOut()
      let remaining = try leftOut()
      skipped.removeAll { $0.reason == .leftOut && !remaining.contains($0.path) }
    }
    return SaveResult(version: version, changes: changes, skipped: skipped)
  }

  /// Stores a version made by this device now; no reference moves.
  ///
  /// - Parameters:
  ///   - trailers: lines for the end of the message, before those of open conflicts.
  ///   - conflicts: notes with an open conflict beyond those of the parents.
  func makeVersion(
    of tree: ObjectID, parents: [Commit], message: String, trailers: [String] = [],
    conflicts: [TreePath: Int] = [:]
  ) throws -> ObjectID {
    let author = signature(after: parents)
    var carried = try OpenConflicts.carried(from: parents.map(\.id), to: tree, in: repository)
    carried.conflicts.merge(conflicts) { max($0, $1) }
    return try repository.write(
      commit: tree, parents: parents.map(\.id), author: author, committer: author,
      message: message.withTrailers(trailers + carried.lines))
  }

  /// Moves the branch, naming this device in the reflog.
  package func move(_ head: Head, to id: ObjectID, operation: OperationKind) throws {
    repository.identity = (identity.device.name, identity.device.email)
    try repository.update(
      reference: head.reference, to: id, from: head.commit, message: "notes: \(operation.rawValue)")
  }

  /// This device's signature for a version made now. Times never go back along history, whatever
  /// the clock says (design, "commit times").
  func signature(after parents: [Commit]) -> Signature {
    var now = clock.now()
    // What other devices take from a clock that stands anywhere: notes-protocol(7), PACKS.
    now.seconds = min(max(now.seconds, 0), Self.latestTime)
    if abs(now.offset) >= 24 * 60 { now.offset = 0 }
    let earliest = parents.flatMap { [$0.author.time, $0.committer.time] }.max() ?? now.seconds
    return Signature(
      name: identity.device.name, email: identity.device.email,
      time: max(now.seconds, earliest), offset: now.offset)
  }

  // The end of the year 9999.
  static let latestTime: Int64 = 253_402_300_799

  /// A line that says what changed.
  public static func message(for changes: [Change]) -> String {
    func names(_ kind: ChangeKind) -> [String] {
      changes.filter { $0.kind == kind }.map { $0.path.noteTitle }
    }
    let verbs: [(String, [String])] = [
      ("Add", names(.added)), ("Update", names(.modified)), ("Delete", names(.deleted)),
    ]
    let parts = verbs.filter { !$0.1.isEmpty }.map { verb, names in
      names.count <= 3
        ? "\(verb) \(names.joined(separator: ", "))" : "\(verb) \(names.count) notes"
    }
    // A name may hold a line break, which would end the subject.
    return String(parts.joined(separator: "; ").map { $0.isNewline ? " " : $0 })
  }
}

extension Change {
  init(_ change: TreeChange) {
    self.init(
      path: change.path,
      kind: change.old == nil ? .added : change.new == nil ? .deleted : .modified)
  }
}

extension TreePath {
  /// Whether the path is in that folder, at any depth.
  func isBelow(_ folder: TreePath) -> Bool {
    bytes.count > folder.bytes.count && bytes[folder.bytes.count] == UInt8(ascii: "/")
      && bytes.starts(with: folder.bytes)
  }
}

extension String {
  /// A commit message of this subject and body, with trailers in a paragraph of their own.
  func withTrailers(_ trailers: [String]) -> String {
    let body = hasSuffix("\n") ? self : self + "\n"
    return trailers.isEmpty ? body : body + "\n" + trailers.map { $0 + "\n" }.joined()
  }
}
