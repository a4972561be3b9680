public import Git
internal import Glibc
internal import History
public import Merge
internal import WorkTree

/// A note in conflict, as it was when somebody began to settle it.
public struct ConflictedNote: Sendable {
  /// Which note.
  public var path: TreePath { place.path }
  /// Its blocks, and the text around them.
  public let marked: MarkedText
  /// When the sides were written, by their labels, in seconds since 1970; not known of all.
  public let times: [[UInt8]: Int64]
  let place: Place

  /// A version, and the file there.
  struct Place: Sendable {
    let path: TreePath
    let version: ObjectID
    let entry: TreeEntry
  }

  /// The sides of each block, those written first first.
  public var blocks: [[MarkedText.Side]] { marked.blocks.map { $0.oldestFirst(times) } }

  /// The whole note as it stood.
  public var text: [UInt8] { marked.text(replacing: [:]) }

  /// The whole note with a side in the place of each block.
  public func text(keeping resolution: Resolution) -> [UInt8] {
    let texts = marked.blocks.map { resolution.text(of: $0, times: times) }
    return marked.text(
      replacing: Dictionary(uniqueKeysWithValues: zip(texts.indices, texts)).compactMapValues { $0 }
    )
  }
}

extension Notebook {
  /// Replaces a note's conflict blocks by the chosen sides, as a new version; what the folder holds
  /// is saved first.
  ///
  /// - Parameter blocks: which blocks, counted from 0; all where none are given.
  /// - Throws: `MergeError.noConflict`; `.noBlock`; `.noSide` when nobody of that name wrote a side.
  public func resolve(
    _ path: TreePath, keeping resolution: Resolution, blocks: Set<Int> = []
  ) throws -> ObjectID? {
    try withWriterLock { transaction in
      try transaction.save()
      // Of a large note no more is held than what is written.
      let (place, text) = try {
        let note = try readConflict(in: path, transaction.writer.tip())
        return (
          note.place, try resolution.apply(to: note.marked, times: note.times, blocks: blocks)
        )
      }()
      return try settle(place, as: text, transaction)
    }
  }

  /// A note in conflict as it is now; what the folder holds is saved first.
  ///
  /// - Throws: `MergeError.noConflict`.
  public func conflictedNote(at path: TreePath) throws -> ConflictedNote {
    try withWriterLock { transaction in
      try transaction.save()
      return try readConflict(in: path, transaction.writer.tip())
    }
  }

  /// Makes a version in which a note has the text that somebody made of its blocks. Where the note is not
  /// as it was read any more, the text is merged with what it became: notes-resolve(1).
  ///
  /// - Returns: the new version; nil where the text is the one that was read.
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

  /// The text that the oldest and the newest side of a note's first block were made from; empty where
  /// there was none, or where it is not known who wrote them.
  public func base(of note: ConflictedNote) throws -> [UInt8] {
    guard let sides = note.blocks.first, let first = sides.first, let last = sides.last else {
      return []
    }
    let writers = try history.writers(ofLabels: [first.label, last.label], in: note.path)
    guard let older = writers[first.label], let newer = writers[last.label],
      let base = try repository.mergeBases(of: older.id, and: newer.id).first,
      // A note that the base did not have, has no former text.
      let former = try? history.noteVersion(at: repository.commit(base), of: note.path)
    else { return [] }
    return try history.text(of: former)
  }

  /// Takes back what a merge settled by fine-grained rules in a note: the version made has the sides in
  /// markers, as a conflict to resolve. The folder is saved first.
  ///
  /// - Returns: the new version; nil when the note's last change is no such merge.
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
