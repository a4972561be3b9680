public import Git
internal import WorkTree

/// A version of a note, and what the note was in it.
public struct NoteVersion: Sendable {
  /// The commit that holds the version.
  public let commit: Commit
  /// What the note was called then.
  public let path: TreePath
  /// Its bytes then.
  public let blob: ObjectID
}

/// How a version can be named: notes-versions(7).
public enum VersionName: Hashable, Sendable {
  /// N versions back.
  case back(Int)
  /// The last one by then.
  case by(NamedTime)
  /// The beginning of its ID.
  case id(String)

  /// Reads a name; what is neither of the others may be an ID.
  ///
  /// - Parameter now: what relative times count from, in seconds since 1970.
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
  /// The version that `name` means: notes-versions(7). With a note, `~N` and times count the
  /// versions that changed it.
  public func version(named name: String, of path: TreePath? = nil) throws -> Commit {
    switch VersionName(parsing: name, now: clock.now().seconds) {
    case .id(let prefix): return try version(withPrefix: prefix)
    case let wanted:
      guard let (table, tip) = try historyTable() else { throw NotebookError.noSuchVersion(name) }
      let candidates = path.map { table.versions(of: $0, from: tip) } ?? table.versions(from: tip)
      return try repository.commit(
        table.id(of: pick(wanted, named: name, among: candidates, table)))
    }
  }

  /// The version of a note that `name` means, with what the note was called in it.
  public func noteVersion(named name: String, of path: TreePath) throws -> NoteVersion {
    try noteVersion(at: version(named: name, of: path), of: path)
  }

  /// A note as it was in a version, with what it was called there.
  ///
  /// - Throws: `notInVersion`.
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
    guard let entry = try repository.entry(at: path, in: commit.tree), entry.mode.isFile else {
      throw NotebookError.notInVersion(path, commit.id)
    }
    return NoteVersion(commit: commit, path: path, blob: entry.id)
  }

  /// The bytes of a note in a version.
  public func text(of version: NoteVersion) throws -> [UInt8] { try repository.blob(version.blob) }

  private func version(withPrefix prefix: String) throws -> Commit {
    do {
      if let id = try repository.object(withPrefix: prefix) { return try repository.commit(id) }
    } catch GitError.ambiguousPrefix {
      throw NotebookError.ambiguousVersion(prefix)
    } catch GitError.wrongKind {
      throw NotebookError.noSuchVersion(prefix)
    }
    throw NotebookError.noSuchVersion(prefix)
  }

  /// - Parameter candidates: versions, newest first.
  private func pick(
    _ wanted: VersionName, named name: String, among candidates: [Int], _ table: HistoryTable
  ) throws -> Int {
    switch wanted {
    case .back(let count) where count < candidates.count: return candidates[count]
    case .back: throw NotebookError.tooFewVersions(name, count: candidates.count)
    case .by(let time):
      if let found = candidates.first(where: { table.times[$0] <= time.last }) { return found }
      guard let first = candidates.map({ table.times[$0] }).min() else {
        throw NotebookError.noSuchVersion(name)
      }
      throw NotebookError.noVersionBy(name, first: first)
    case .id: throw NotebookError.noSuchVersion(name)
    }
  }
}

extension HistoryTable {
  /// The versions of the tip, newest first, without derived merges.
  func versions(from tip: Int) -> [Int] {
    var isReached = [Bool](repeating: false, count: tip + 1)
    isReached[tip] = true
    var found: [Int] = []
    for version in stride(from: tip, through: 0, by: -1) where isReached[version] {
      for parent in parentRange(of: version) { isReached[Int(parents[parent])] = true }
      if !isDerived(version) { found.append(version) }
    }
    return found.sorted { isNewer($0, than: $1) }
  }

  /// The versions that changed a note, newest first, without derived merges.
  func versions(of path: TreePath, from tip: Int) -> [Int] {
    var found: [Int] = []
    for step in trail(of: path, from: tip) where !isDerived(step.version) {
      if found.last != step.version { found.append(step.version) }
    }
    return found
  }
}
