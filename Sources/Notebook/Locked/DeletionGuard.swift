internal import Git
internal import History
internal import WorkTree

/// The guard against mass deletion: notes-protocol(7), "Mass deletion". In a notebook of ten notes or more,
/// deleting more than half needs consent. The cause is rarely intention: more often a folder was unmounted or
/// emptied by mistake, or there was an accident on another device.
struct DeletionGuard {
  static let guardedNotes = 10

  let repository: Repository

  func check(checkoutFrom former: ObjectID?, to tip: ObjectID) throws {
    guard let former else { return }
    try check(from: repository.commit(former).tree, to: repository.commit(tip).tree)
  }

  func check(from old: ObjectID, to new: ObjectID) throws {
    let changes = try repository.changes(from: old, to: new)
    let arrived = Set(changes.filter { $0.old == nil }.compactMap { $0.new?.id })
    let deleted = changes.filter { change in
      guard change.new == nil, change.path.isNote, let id = change.old?.id else { return false }
      // A renamed note is not deleted.
      return !arrived.contains(id)
    }.count
    // Counting all notes reads every folder, so it happens only if the result could matter.
    guard deleted * 2 >= Self.guardedNotes else { return }
    try check(deleted, of: repository.files(in: old).filter { $0.path.isNote }.count)
  }

  /// Stops a save that would delete too much. Deleted and new notes are offset against each other,
  /// as they may be renames.
  func check(_ found: WorkingChanges, since former: ObjectID?) throws {
    let gone = found.deleted.map(\.path).filter(\.isNote)
    let new = found.candidates.filter { $0.isNew && $0.path.isNote }.count
    guard let former, (gone.count - new) * 2 >= Self.guardedNotes else { return }
    let files = try repository.files(in: repository.commit(former).tree)
    let notes = Set(files.map(\.path).filter(\.isNote))
    // Files whose deletion is not in the index yet: a run was killed before it wrote the index.
    let deleted = gone.filter(notes.contains).count
    try check(deleted - new, of: notes.count)
  }

  /// The mass deletion that would stop a save of these changes; nil if there is none.
  func massDeletion(in changes: [Change], since former: ObjectID?) throws -> MassDeletion? {
    let notes = changes.filter(\.path.isNote)
    let new = notes.count { $0.kind == .added }
    let deleted = notes.count { $0.kind == .deleted } - new
    guard let former, deleted * 2 >= Self.guardedNotes else { return nil }
    let total = try repository.files(in: repository.commit(former).tree).count { $0.path.isNote }
    do {
      try check(deleted, of: total)
      return nil
    } catch NotebookError.massDeletion(let deleted, let total) {
      return MassDeletion(deleted: deleted, total: total)
    }
  }

  private func check(_ deleted: Int, of total: Int) throws {
    if total >= Self.guardedNotes, deleted * 2 > total {
      throw NotebookError.massDeletion(deleted: deleted, of: total)
    }
  }
}
