package import Git
package import History
internal import Merge
internal import WorkTree

/// Makes a history again without what is to be forgotten: a pure function of a version and a forgetting, so
/// that every device makes the same of the same. notes-forget(1), "Versions".
///
/// A version keeps its author, dates, place and message; one that neither holds what goes nor stands on a
/// version that does stays itself. The cost follows what versions change and what goes, not the size of the
/// notebook times its versions.
package struct HistoryRewriting {
  /// Makes a signature over the content of a version that this device had signed; deterministic.
  package typealias Sign = (_ content: [UInt8]) throws -> [UInt8]

  private let history: History
  private let forgetting: Forgetting
  private let sign: Sign?
  private let isTrial: Bool
  private var followed: FollowedNotes?
  /// The version that takes the place of each one that was made again.
  package private(set) var forms: [ObjectID: ObjectID] = [:]
  private var seen: Set<ObjectID> = []
  /// The files that take the place of others in a version; no entry stands for nothing.
  private var replaced: [ObjectID: [TreePath: Replacement]] = [:]
  private var cutBlobs: [ObjectID: ObjectID?] = [:]
  /// Lines of blobs that hold a part of the text, and what is left of each.
  private var parts: [ObjectID: [[UInt8]: [UInt8]]] = [:]
  /// Versions whose ID tells nothing to who would guess what went.
  private var shielded: Set<ObjectID> = []
  private var omitted: Set<ObjectID> = []
  /// The findings so far.
  package private(set) var found = ForgettingFindings()

  private var repository: Repository { history.repository }

  /// - Parameters:
  ///   - isTrial: only look what would go; nothing is written.
  ///   - sign: signs again what this device had signed; without it those versions lose their signatures.
  package init(
    of history: History, _ forgetting: Forgetting, isTrial: Bool = false, signedBy sign: Sign? = nil
  ) {
    (self.history, self.forgetting, self.isTrial, self.sign) = (history, forgetting, isTrial, sign)
    switch forgetting.cut {
    case .text: break
    case .notes(let trail), .lines(_, let trail): followed = FollowedNotes(trail, in: history)
    }
  }

  /// Leaves out a version that was made to take out what goes, where it changes nothing any more.
  package mutating func omit(_ version: ObjectID) { omitted.insert(version) }

  /// Makes the versions again from which these descend, and them.
  package mutating func rewrite(
    _ roots: [ObjectID], progress: (_ done: Int, _ of: Int) -> Void = { _, _ in }
  ) throws {
    let all = try repository.commits(from: roots)
    if case .text(let cut) = forgetting.cut, seen.isEmpty { try findParts(of: cut, in: all) }
    // So many at a time: what waits to be stored is in memory or in open files.
    for start in stride(from: 0, to: all.count, by: 256) {
      let part = all[start..<min(start + 256, all.count)]
      try repository.withBatchedWrites { for id in part { try visit(id) } }
      progress(start + part.count, all.count)
    }
  }

  /// The version that takes the place of another: itself or a new one; nil for one that was not looked at.
  package func form(of id: ObjectID) -> ObjectID? { seen.contains(id) ? forms[id] ?? id : nil }

  /// The files that take the place of others in a version: nil for one that goes.
  package func files(in id: ObjectID) -> [TreePath: TreeEntry?] {
    (replaced[id] ?? [:]).mapValues(\.entry)
  }

  /// The texts that something stands in the place of, wherever they stand.
  package var goneBlobs: [ObjectID] {
    guard case .text = forgetting.cut else { return [] }
    return cutBlobs.compactMap { $0.value == nil ? nil : $0.key }
  }

  // MARK: One version

  private mutating func visit(_ id: ObjectID) throws {
    guard seen.insert(id).inserted else { return }
    let data = try repository.object(id).data
    let commit = try Commit(parsing: data, id: id)
    let base = try commit.parents.first.map { try repository.commit($0).tree }
    let changes = try repository.changes(from: base, to: commit.tree)
    let files = try replacements(in: commit, changes: changes)
    if !files.isEmpty { replaced[id] = files }
    let message = messageCut(of: commit, changes: changes)
    let hasMessage = message.text.map { $0.isIn(Array(commit.message.utf8)) } ?? false
    found.add(files, hasMessage: hasMessage)
    let isMoved = commit.parents.contains { forms[$0] != nil }
    guard !isTrial, isMoved || !files.isEmpty || hasMessage else { return }
    var version = try RewrittenCommit(of: data, id: id)
    version.parents = commit.parents.map { forms[$0] ?? $0 }.eachOnce
    if !files.isEmpty {
      version.tree = try repository.write(tree: commit.tree, replacing: files.mapValues(\.entry))
    }
    if omitted.contains(id), let parent = version.parents.first, version.parents.count == 1,
      try repository.commit(parent).tree == version.tree
    {
      forms[id] = parent
      return
    }
    version.message =
      isMoved || !files.isEmpty
      ? message.applied(to: version.message) : message.withoutText(version.message)
    if isShielded(commit, isSigned: version.wasSigned, hasOwn: !files.isEmpty || hasMessage) {
      shielded.insert(id)
      try keepIDs(of: changes, files, in: commit, &version)
    }
    forms[id] = try write(version, insteadOf: data)
  }

  private func write(_ version: RewrittenCommit, insteadOf data: [UInt8]) throws -> ObjectID {
    var version = version
    if let sign, let signed = SignedCommit(parsing: data),
      try sign(signed.content) == signed.signature
    {
      version.add(header: Forgetting.header, forgetting.id)
      return try repository.write(version, signedBy: sign)
    }
    version.add(
      header: Forgetting.header, forgetting.id + (version.wasSigned ? " signed" : ""))
    return try repository.write(version, signedBy: nil)
  }

  private func messageCut(of commit: Commit, changes: [TreeChange]) -> MessageCut {
    var gone: Set<TreePath> = []
    for id in [commit.id] + commit.parents {
      for (path, new) in replaced[id] ?? [:] where new == .gone { gone.insert(path) }
    }
    var text: TextCut?
    if case .text(let cut) = forgetting.cut { text = cut }
    return MessageCut(
      changes: changes.map(Change.init), gone: gone, text: text,
      form: { seen.contains($0) ? forms[$0] ?? $0 : nil },
      formNamed: { digits in forms.first { $0.key.hex.hasPrefix(digits) }?.value })
  }

  // MARK: Files

  private mutating func replacements(
    in commit: Commit, changes: [TreeChange]
  ) throws -> [TreePath: Replacement] {
    var files = commit.parents.first.flatMap { replaced[$0] } ?? [:]
    let notes = try followed?.paths(in: commit, changes: changes)
    for change in changes {
      if change.new != nil { found.allPaths.insert(change.path) }
      files[change.path] = try change.new.flatMap {
        try replacement(for: $0, at: change.path, among: notes)
      }
    }
    // A note may come to a merge by another parent than the first, and be the same there.
    for path in notes ?? [] where files[path] == nil {
      guard let entry = try repository.entry(at: path, in: commit.tree) else { continue }
      files[path] = try replacement(for: entry, at: path, among: notes)
    }
    return files
  }

  private mutating func replacement(
    for file: TreeEntry, at path: TreePath, among notes: Set<TreePath>?
  ) throws -> Replacement? {
    if let notes, !notes.contains(path) { return nil }
    if case .notes = forgetting.cut { return .gone }
    guard file.mode.isFile, let blob = try cut(blob: file.id, at: path) else { return nil }
    return .file(TreeEntry(name: file.name, mode: file.mode, id: blob))
  }

  /// The blob that stands in the place of another; nil for one that stays.
  private mutating func cut(blob id: ObjectID, at path: TreePath) throws -> ObjectID? {
    if let known = cutBlobs[id] { return known }
    let content = try repository.blobReadOnce(id)
    var new: [UInt8]?
    switch forgetting.cut {
    case .text(let text):
      if content.isTextByLook {
        new = text.applied(to: content)
        if let lines = parts[id] {
          new = LineCut.replacing(in: new ?? content) { lines[$0] } ?? new
        }
      } else if text.isIn(content) {
        found.attachments.insert(path)
      }
    case .lines(let lines, _): if content.isTextByLook { new = lines.applied(to: content) }
    case .notes: break
    }
    let blob = try new.map { try isTrial ? repository.hash(blob: $0) : repository.write(blob: $0) }
    cutBlobs[id] = .some(blob)
    return blob
  }

  private mutating func findParts(of cut: TextCut, in versions: [ObjectID]) throws {
    let repository = repository
    var pieces = TextPieces(of: cut.text) {
      let content = try repository.blob($0)
      return content.isTextByLook ? content : []
    }
    for id in versions {
      let commit = try repository.commit(id)
      let base = try commit.parents.first.map { try repository.commit($0).tree }
      let changes = try repository.changes(from: base, to: commit.tree)
      for change in changes {
        if let old = change.old, let new = change.new, old.mode.isFile, new.mode.isFile {
          pieces.add(old.id, new.id)
        }
      }
      // A renamed note is edited in the same version at times.
      guard changes.contains(where: { $0.old == nil }), changes.contains(where: { $0.new == nil })
      else { continue }
      for change in try history.changes(of: commit) where change.formerPath != nil {
        if let old = change.old, let new = change.new { pieces.add(old, new) }
      }
    }
    parts = try pieces.found()
  }

  // MARK: Note IDs

  /// Whether the ID of a version tells nothing to who guesses what went: a signature stands between, which only
  /// its device can make.
  private func isShielded(_ commit: Commit, isSigned: Bool, hasOwn: Bool) -> Bool {
    isSigned
      || !hasOwn && commit.parents.allSatisfy { forms[$0] == nil || shielded.contains($0) }
  }

  private static let mostIDs = 1_000

  private func keepIDs(
    of changes: [TreeChange], _ files: [TreePath: Replacement], in commit: Commit,
    _ version: inout RewrittenCommit
  ) throws {
    let born = changes.filter { $0.old == nil && files[$0.path] != .gone }.prefix(Self.mostIDs)
    for change in born {
      let id = try history.noteID(bornAs: change.path, in: commit.id)
      version.add(header: Forgetting.idHeader, "\(id) \(change.path.hexadecimal)")
    }
  }
}

/// The findings of a forgetting in a history.
package struct ForgettingFindings: Hashable, Sendable {
  /// How many versions hold it.
  package private(set) var versions = 0
  /// The names of the notes that it is taken out of, in any version.
  package private(set) var paths: Set<TreePath> = []
  /// Attachments that hold a text: nothing is taken out of them.
  package internal(set) var attachments: Set<TreePath> = []

  /// The names of all files of all versions.
  package internal(set) var allPaths: Set<TreePath> = []

  mutating func add(_ files: [TreePath: Replacement], hasMessage: Bool) {
    if files.isEmpty, !hasMessage { return }
    versions += 1
    paths.formUnion(files.keys)
  }
}
