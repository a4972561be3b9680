public import Git
internal import WorkTree

/// A version of a note, with the note's path and text in it.
public struct NoteVersion: Sendable {
  /// The version's commit.
  public let commit: Commit
  /// The note's path in the version.
  public let path: TreePath
  /// The note's blob in the version.
  public let blob: ObjectID
}

/// The forms of a version's name: notes-versions(7).
public enum VersionName: Hashable, Sendable {
  /// `~N`: N versions back.
  case back(Int)
  /// The last version up to that time.
  case by(NamedTime)
  /// The beginning of the version's ID.
  case id(String)

  /// Reads a name; a text in no other form may be an ID. Relative times count from `now`, seconds
  /// since 1970.
  public init(parsing text: String, now: Int64, zone: LocalZone = .system) {
    if text.hasPrefix("~"), let count = Int(text.dropFirst()), count >= 0, text.utf8.count < 12 {
      self = .back(count)
    } else if let time = NamedTime(parsing: text, now: now, zone: zone) {
      self = .by(time)
    } else {
      self = .id(text)
    }
  }
}

extension History {
  /// The version that `name` means: notes-versions(7). With a note, `~N` and times count the versions that
  /// changed it.
  ///
  /// - Parameter isByPerson: whether `~0` is the last version that somebody made, even if a merge has changed
  ///   the note since.
  public func version(
    named name: String, of path: TreePath? = nil, isByPerson: Bool = false
  ) throws -> Commit {
    let wanted = VersionName(parsing: name, now: clock.now().seconds)
    if case .id(let prefix) = wanted { return try version(withPrefix: prefix) }
    guard let (table, tip) = try historyTable() else { throw HistoryError.noSuchVersion(name) }
    let numbers = table.versions(of: path, from: tip, in: order(of: table, from: tip))
    switch wanted {
    case .back(let count):
      let isMerged =
        try !isByPerson && isMergedSince(numbers.first, of: path, in: table, tip: tip)
      let versions = isMerged ? [tip] + numbers : numbers
      if count < versions.count { return try repository.commit(table.id(of: versions[count])) }
      throw HistoryError.tooFewVersions(name, count: versions.count)
    case .by(let time):
      let dates = dates(in: table, from: tip)
      if let found = numbers.first(where: { dates[$0] <= time.last }) {
        return try repository.commit(table.id(of: found))
      }
      guard let first = numbers.last else { fallthrough }
      throw HistoryError.noVersionBy(name, first: dates[first])
    case .id: throw HistoryError.noSuchVersion(name)
    }
  }

  /// Whether an automatic merge has changed the note since the last version; without a note, whether it has changed any
  /// file. "~0 is always the note as the last version has it" (notes-versions(7)).
  private func isMergedSince(
    _ last: Int?, of path: TreePath?, in table: HistoryTable, tip: Int
  ) throws -> Bool {
    guard let last, last != tip else { return false }
    let then = try repository.commit(table.id(of: last))
    let now = try repository.commit(table.id(of: tip))
    guard let path else { return then.tree != now.tree }
    // If the tip lacks the note, a version deleted it: a merge only applies such a deletion.
    guard let entry = try repository.entry(at: path, in: now.tree), entry.mode.isFile else {
      return false
    }
    do {
      return try noteVersion(at: then, of: path).blob != entry.id
    } catch HistoryError.notInVersion {
      // The version deleted the note, and the merge kept it.
      return true
    }
  }

  /// The version of a note that `name` means, with the note's path in it.
  public func noteVersion(named name: String, of path: TreePath) throws -> NoteVersion {
    try noteVersion(at: version(named: name, of: path), of: path)
  }

  /// A note in a version, with its path there. Throws `notInVersion`.
  package func noteVersion(at commit: Commit, of path: TreePath) throws -> NoteVersion {
    if let (table, tip) = try historyTable(), let position = table.firstIndex(of: commit.id),
      let number = table.paths.firstIndex(of: path.bytes)
    {
      for then in table.names(of: number, at: position, from: tip) {
        if let blob = table.blob(of: then, at: position) {
          return NoteVersion(commit: commit, path: table.path(then), blob: blob)
        }
      }
    }
    return NoteVersion(commit: commit, path: path, blob: try blob(of: path, in: commit))
  }

  private func blob(of path: TreePath, in version: Commit) throws -> ObjectID {
    guard let entry = try repository.entry(at: path, in: version.tree), entry.mode.isFile else {
      throw HistoryError.notInVersion(path, version.id)
    }
    return entry.id
  }

  /// The bytes of a note in a version.
  public func text(of version: NoteVersion) throws -> [UInt8] { try repository.blob(version.blob) }

  /// A file's bytes in a version.
  public func text(of path: TreePath, at version: Commit) throws -> [UInt8] {
    try repository.blob(blob(of: path, in: version))
  }

  private func version(withPrefix prefix: String) throws -> Commit {
    do {
      if let id = try repository.object(withPrefix: prefix) { return try repository.commit(id) }
    } catch GitError.ambiguousPrefix {
      throw HistoryError.ambiguousVersion(prefix)
    } catch GitError.wrongKind {
      throw HistoryError.noSuchVersion(prefix)
    }
    throw HistoryError.noSuchVersion(prefix)
  }
}
