public import Git
internal import Glibc
internal import History
internal import WorkTree

/// A note's text as shown to a person who may edit it, and the base for a save of that edit.
public struct ShownText: Sendable {
  /// The text, including unsaved changes.
  public let text: [UInt8]
  /// The ID of the text's blob.
  public let blob: ObjectID
  /// The version in the device's folder.
  public let version: ObjectID
}

extension Notebook {
  /// A note's present text. Nothing is saved.
  ///
  /// - Throws: `noSuchNote`, also before the first version.
  public func shownText(of path: TreePath) throws -> ShownText {
    let text = try workTree.text(of: path)
    guard let tip = try state().tip else { throw WorkTreeError.noSuchNote(path.description) }
    return ShownText(text: text, blob: try repository.hash(blob: text), version: tip)
  }

  /// Saves a text that somebody edited from an older one. Puts it on top of the version that showed the older
  /// text, and merges it with the later changes: notes-web(1), "What a save is made on". Saves the folder
  /// first, so neither text is lost.
  ///
  /// - Parameters:
  ///   - path: the note's present or last path.
  ///   - blob: the text that was shown.
  ///   - base: the version that showed it, one of the tip's history: see `isOfHistory(_:of:)`.
  /// - Returns: the new version; nil if the note already has the text, or if the edit was already saved.
  /// - Throws: `notInVersion`, `noSuchVersion`.
  public func save(
    _ text: [UInt8], of path: TreePath, shown blob: ObjectID, on base: ObjectID
  ) throws -> ObjectID? {
    guard text.count <= workTree.sizeLimit else {
      throw WorkTreeError.file(call: "write", path: path.description, errno: EFBIG)
    }
    return try withWriterLock { transaction in
      try transaction.save()
      guard let tip = try transaction.writer.tip(), try isOfHistory(base, of: tip.id)
      else { throw HistoryError.noSuchVersion(base.hex) }
      try transaction.checkNoConversion(at: path, holding: text)
      let id = try repository.write(blob: text)
      let present = try repository.entry(at: path, in: tip.tree)
      if id == blob || present?.id == id { return nil }
      if let present, present.id == blob, present.mode.isFile {
        let entry = TreeEntry(name: path.name, mode: present.mode, id: id)
        return try transaction.replace(
          [path: entry], message: "Update \(path.noteTitle)", operation: .edit)
      }
      if try wasSaved(id, madeOf: blob, path, since: base) { return nil }
      let former = try history.noteVersion(at: repository.commit(base), of: path)
      let mode = try repository.entry(at: former.path, in: former.commit.tree)?.mode ?? .regular
      let entry = TreeEntry(name: former.path.name, mode: mode, id: id)
      let version = try transaction.replace(
        [former.path: entry], on: base, message: "Update \(former.path.noteTitle)",
        trailers: [EditedOnTrailer.line(base)], operation: .edit)
      if version != nil { try transaction.tellMerged(former.path, since: base) }
      return version
    }
  }

  /// Whether a version belongs to a tip's history: the tip descends from it, or it is a merge by notes of such
  /// versions. Such a merge may have been replaced by another one since it was shown.
  ///
  /// - Throws: an error if there is no such version.
  public func isOfHistory(_ id: ObjectID, of tip: ObjectID) throws -> Bool {
    if try repository.isAncestor(id, of: tip) { return true }
    let version = try repository.commit(id)
    return try history.isDerived(version)
      && version.parents.allSatisfy { try repository.isAncestor($0, of: tip) }
  }

  /// Whether this edit is already a version: its sender repeats the request because the answer was
  /// lost.
  private func wasSaved(
    _ text: ObjectID, madeOf blob: ObjectID, _ path: TreePath, since base: ObjectID
  ) throws -> Bool {
    let versions = try history.versions(of: path)
    while let version = try versions.next() {
      if version.changes.contains(where: { $0.old == blob && $0.new == text }) { return true }
      if try repository.isAncestor(version.commit.id, of: base) { return false }
    }
    return false
  }

  /// A note in conflict, as it is in a version. Nothing is saved.
  ///
  /// - Throws: `MergeError.noConflict`; `noSuchVersion` if the version is not in the tip's history.
  public func conflictedNote(at path: TreePath, in version: ObjectID) throws -> ConflictedNote {
    guard let tip = try state().tip, try repository.isAncestor(version, of: tip) else {
      throw HistoryError.noSuchVersion(version.hex)
    }
    return try readConflict(in: path, repository.commit(version))
  }
}
