public import Git
internal import Glibc
internal import History
public import Merge
internal import WorkTree

/// A note in conflict, as it was when somebody began to resolve it.
public struct ConflictedNote: Sendable {
  /// The note.
  public var path: TreePath { place.path }
  /// The note's blocks, and the text around them.
  public let marked: MarkedText
  /// When the sides were written, by their labels, in seconds since 1970; as far as known.
  public let times: [[UInt8]: Int64]
  let place: Place

  /// A version, and the file there.
  struct Place: Sendable {
    let path: TreePath
    let version: ObjectID
    let entry: TreeEntry
  }

  /// The sides of each block, oldest first.
  public var blocks: [[MarkedText.Side]] { marked.blocks.map { $0.oldestFirst(times) } }

  /// The whole text of the note.
  public var text: [UInt8] { marked.text(replacing: [:]) }

  /// The whole note with one side instead of each block.
  public func text(keeping resolution: Resolution) -> [UInt8] {
    let texts = marked.blocks.map { resolution.text(of: $0, times: times) }
    return marked.text(
      replacing: Dictionary(uniqueKeysWithValues: zip(texts.indices, texts)).compactMapValues { $0 }
    )
  }
}

extension Notebook {
  /// Replaces a note's conflict blocks by the chosen sides, as a new version. Saves the folder before.
  ///
  /// - Parameter blocks: the numbers of the blocks, counted from 0; all blocks if empty.
  /// - Throws: `MergeError.noConflict`; `.noBlock`; `.noSide` if no side has that author.
  public func resolve(
    _ path: TreePath, keeping resolution: Resolution, blocks: Set<Int> = []
  ) throws -> ObjectID? {
    try withWriterLock { transaction in
      try transaction.save()
      // For a large note, only the new text stays in memory.
      let (place, text) = try {
        let note = try readConflict(in: path, transaction.writer.tip())
        return (
          note.place, try resolution.apply(to: note.marked, times: note.times, blocks: blocks)
        )
      }()
      return try settle(place, as: text, transaction)
    }
  }

  /// A note in conflict as it is now, after a save of the folder.
  ///
  /// - Throws: `MergeError.noConflict`.
  public func conflictedNote(at path: TreePath) throws -> ConflictedNote {
    try withWriterLock { transaction in
      try transaction.save()
      return try readConflict(in: path, transaction.writer.tip())
    }
  }

  /// Makes a version with the text to which somebody has resolved a note's blocks. If the note has changed
  /// since it was read, merges the text with the changes: notes-resolve(1).
  ///
  /// - Returns: the new version; nil if the text equals the text that was read.
  public func settle(_ note: ConflictedNote, as text: [UInt8]) throws -> ObjectID? {
    guard text.count <= workTree.sizeLimit else {
      throw WorkTreeError.file(call: "write", path: note.path.description, errno: EFBIG)
    }
    return try withWriterLock { transaction in
      try transaction.save()
      return try settle(note.place, as: text, transaction)
    }
  }

  private func settle(
    _ place: ConflictedNote.Place, as text: [UInt8], _ transaction: WriteTransaction
  ) throws -> ObjectID? {
    let resolved = TreeEntry(
      name: place.path.name, mode: place.entry.mode, id: try repository.write(blob: text))
    if resolved.id == place.entry.id { return nil }
    let present = try transaction.writer.tip().flatMap {
      try repository.entry(at: place.path, in: $0.tree)
    }
    let isOlder = present?.id != place.entry.id
    let version = try transaction.replace(
      [place.path: resolved], on: isOlder ? place.version : nil,
      message: "Resolve \(place.path.noteTitle)",
      trailers: isOlder ? [EditedOnTrailer.line(place.version)] : [], operation: .resolve)
    if isOlder, version != nil { try transaction.tellMerged(place.path, since: place.version) }
    return version
  }

  func readConflict(in path: TreePath, _ version: Commit?) throws -> ConflictedNote {
    guard let tip = version,
      let size = try OpenConflicts.conflicts(at: tip.id, in: repository)[path],
      let entry = try repository.entry(at: path, in: tip.tree)
    else { throw MergeError.noConflict }
    let marked = MarkedText(try repository.blob(entry.id), markerSize: size)
    if marked.blocks.isEmpty { throw MergeError.noConflict }
    let labels = marked.blocks.joined().map(\.label).eachOnce
    return ConflictedNote(
      marked: marked, times: try history.times(ofLabels: labels, in: path),
      place: .init(path: path, version: tip.id, entry: entry))
  }

  /// The base of the oldest and the newest side of a note's first block; empty if there is none, or
  /// if the sides' versions are unknown.
  public func base(of note: ConflictedNote) throws -> [UInt8] {
    guard let sides = note.blocks.first, let first = sides.first, let last = sides.last else {
      return []
    }
    let writers = try history.writers(ofLabels: [first.label, last.label], in: note.path)
    guard let older = writers[first.label], let newer = writers[last.label],
      let base = try repository.mergeBases(of: older.id, and: newer.id).first,
      // If the base does not have the note, there is no former text.
      let former = try? history.noteVersion(at: repository.commit(base), of: note.path)
    else { return [] }
    return try history.text(of: former)
  }

  /// Undoes a merge that combined edits of a note by fine-grained rules. The new version has the sides between
  /// markers, as a conflict to resolve. Saves the folder first.
  ///
  /// - Returns: the new version; nil if the note's last change is not such a merge.
  public func takeBackMerge(of path: TreePath) throws -> ObjectID? {
    try withWriterLock { transaction in
      try transaction.save()
      var last: Version?
      try history.forEachVersion(of: path, includesDerived: true) { version in
        last = version
        return false
      }
      guard let last, last.isDerived,
        MergeTrailers(message: last.commit.message).merged[path] != nil,
        let (text, size) = try DerivedMerge.noteInMarkers(path, at: last.commit.id, in: repository),
        let tip = try transaction.writer.tip(),
        let entry = try repository.entry(at: path, in: tip.tree)
      else { return nil }
      let marked = TreeEntry(
        name: path.name, mode: entry.mode, id: try repository.write(blob: text))
      return try transaction.replace(
        [path: marked], message: "Take back the merge of \(path.noteTitle)",
        conflicts: [path: size], operation: .unmerge)
    }
  }
}
