public import Git
internal import Glibc
internal import History
internal import WorkTree

/// A note's text as it is shown to somebody who may edit it, and what a save of that edit is made on.
public struct ShownText: Sendable {
  /// The text, unsaved changes included.
  public let text: [UInt8]
  /// The name of its bytes.
  public let blob: ObjectID
  /// The version that the device shows.
  public let version: ObjectID
}

extension Notebook {
  /// A note's text as it is now. Nothing is saved.
  ///
  /// - Throws: `noSuchNote`, also before the first version.
  public func shownText(of path: TreePath) throws -> ShownText {
    let text = try workTree.text(of: path)
    guard let tip = try state().tip else { throw WorkTreeError.noSuchNote(path.description) }
    return ShownText(text: text, blob: try repository.hash(blob: text), version: tip)
  }

  /// Makes a version of a text that somebody made of an older one, on the version that showed it, and
  /// merges it with what came since: notes-web(1), "What a save is made on". What the folder holds is
  /// saved first, so neither text is lost.
  ///
  /// - Parameters:
  ///   - path: what the note is called now, or was called last.
  ///   - blob: the text that was shown.
  ///   - base: the version that showed it, one of the tip's history: see `isOfHistory(_:of:)`.
  /// - Returns: the new version; nil where the text is the note's already, or was saved before.
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

  /// Whether a version is one of a tip's history: the tip descends from it, or it is a merge that notes made
  /// of such versions, and that another merge has taken the place of since it was shown.
  ///
  /// - Throws: where there is no such version.
  public func isOfHistory(_ id: ObjectID, of tip: ObjectID) throws -> Bool {
    if try repository.isAncestor(id, of: tip) { return true }
    let version = try repository.commit(id)
    return try history.isDerived(version)
      && version.parents.allSatisfy { try repository.isAncestor($0, of: tip) }
  }

  /// Whether this edit is a version already: whoever sends it again has not heard the answer.
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

  /// A note in conflict as a version has it. Nothing is saved.
  ///
  /// - Throws: `MergeError.noConflict`; `noSuchVersion` where it is none of the tip's history.
  public func conflictedNote(at path: TreePath, in version: ObjectID) throws -> ConflictedNote {
    guard let tip = try state().tip, try repository.isAncestor(version, of: tip) else {
      throw HistoryError.noSuchVersion(version.hex)
    }
    return try readConflict(in: path, repository.commit(version))
  }
}
