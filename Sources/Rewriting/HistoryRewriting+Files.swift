internal import Git
internal import History
internal import WorkTree

// The files of a version: notes-forget(1), "Versions".
extension HistoryRewriting {
  mutating func replacements(
    in commit: Commit, changes: [TreeChange]
  ) throws -> [TreePath: Replacement] {
    var files = commit.parents.first.flatMap { replaced[$0] } ?? [:]
    let notes = try followed?.paths(in: commit, changes: changes)
    let gone = try goneNotes?.paths(in: commit, changes: changes) ?? []
    let changed = try changedNotes?.paths(in: commit, changes: changes) ?? []
    for change in changes {
      if change.new != nil { found.allPaths.insert(change.path) }
      files[change.path] = try change.new.flatMap {
        try replacement(for: $0, at: change.path, among: notes, gone, changed)
      }
    }
    // A merge may have a note from another parent than the first, unchanged.
    for path in (notes ?? []).union(gone).union(changed) where files[path] == nil {
      guard let entry = try repository.entry(at: path, in: commit.tree) else { continue }
      files[path] = try replacement(for: entry, at: path, among: notes, gone, changed)
    }
    return files
  }

  private mutating func replacement(
    for file: TreeEntry, at path: TreePath, among notes: Set<TreePath>?, _ gone: Set<TreePath>,
    _ changed: Set<TreePath>
  ) throws -> Replacement? {
    if let notes, !notes.contains(path) { return nil }
    if case .notes = forgetting.cut { return .gone }
    guard file.mode.isFile else { return nil }
    if gone.contains(path), case .learned(let cut) = forgetting.cut {
      let content = try repository.blobReadOnce(file.id)
      guard let rest = cut.rest(of: content, file.id) else { return .gone }
      let new = forgetting.texts.applied(to: rest) ?? rest
      return new == content ? nil : .file(file.with(try repository.write(blob: new)))
    }
    let place = Place(file: file.id, isChanged: changed.contains(path))
    return try self.cut(place, at: path).map { .file(file.with($0)) }
  }

  /// The replacement of a blob; nil if it is kept.
  private mutating func cut(_ place: Place, at path: TreePath) throws -> ObjectID? {
    if let known = cutBlobs[place] { return known }
    let id = place.file
    let content = try repository.blobReadOnce(id)
    var new: [UInt8]?
    switch forgetting.cut {
    case .text: new = withoutTexts(content, id, at: path)
    case .lines(let lines, _): if content.isTextByLook { new = lines.applied(to: content) }
    case .notes, .before: break
    case .learned(let cut):
      if let known = cut.files[id] {
        cutBlobs[place] = .some(known)
        return known
      }
      new = withoutTexts(content, id, at: path)
      if place.isChanged, content.isTextByLook {
        new = LineCut.replacing(in: new ?? content) { cut.lines[$0] } ?? new
      }
    }
    let blob = try new.map { try isTrial ? repository.hash(blob: $0) : repository.write(blob: $0) }
    cutBlobs[place] = .some(blob)
    return blob
  }

  private mutating func withoutTexts(
    _ content: [UInt8], _ id: ObjectID, at path: TreePath
  ) -> [UInt8]? {
    guard content.isTextByLook else {
      if forgetting.texts.contains(where: { $0.isIn(content) }) { found.attachments.insert(path) }
      return nil
    }
    let new = forgetting.texts.applied(to: content)
    guard let lines = parts[id] else { return new }
    return LineCut.replacing(in: new ?? content) { lines[$0] } ?? new
  }

  mutating func findParts(of cut: TextCut, in versions: [ObjectID]) throws {
    let repository = repository
    var pieces = TextPieces(of: cut.text) {
      let content = try repository.blob($0)
      return content.isTextByLook ? content : []
    }
    for id in versions {
      let commit = try repository.commit(id)
      let changes = try changes(of: commit)
      if knownChanges.count < Self.mostKnownChanges, changes.count < Self.mostKnownChanges / 1000 {
        knownChanges[id] = changes
      }
      for change in changes {
        if let old = change.old, let new = change.new, old.mode.isFile, new.mode.isFile {
          pieces.add(old.id, new.id)
        }
      }
      // A version may rename and edit a note at the same time.
      guard changes.contains(where: { $0.old == nil }), changes.contains(where: { $0.new == nil })
      else { continue }
      for change in try history.changes(of: commit) where change.formerPath != nil {
        if let old = change.old, let new = change.new { pieces.add(old, new) }
      }
    }
    parts.merge(try pieces.found()) { $0.merging($1) { first, _ in first } }
  }

  /// Whether the ID of a version does not help to guess the removed content: it covers a signature, which only
  /// its device can make.
  func isShielded(_ commit: Commit, isSigned: Bool, hasOwn: Bool) -> Bool {
    isSigned
      || !hasOwn && commit.parents.allSatisfy { forms[$0] == nil || shielded.contains($0) }
  }

  static let mostIDs = 1_000

  func keepIDs(
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

extension TreeEntry {
  fileprivate func with(_ id: ObjectID) -> TreeEntry { TreeEntry(name: name, mode: mode, id: id) }
}
