public import Git
internal import WorkTree

/// A note in the folder.
public struct NoteSummary: Sendable {
  /// The note's ID: the same on every device, kept through edits and renames (notes-list(1)).
  public let id: String
  /// The file's path in the folder.
  public let path: TreePath
  /// When the note was first versioned, in seconds since 1970; nil if it has no version yet.
  public let created: Int64?
  /// When a version last changed it, in seconds since 1970; nil if it has no version yet.
  public let modified: Int64?
  /// The last version that changed the file; nil if no version has it yet.
  public let lastVersion: ObjectID?
  /// The note's size in bytes.
  public let size: Int
  /// Whether the note has an open conflict in the tip.
  public let isInConflict: Bool

  /// The note's title: the file's name without the note suffix.
  public var title: String { path.noteTitle }

  /// How many hexadecimal digits an ID has.
  static let idLength = 12
}

/// When and by which versions a file was made and last changed.
public struct NoteTimes: Hashable, Sendable {
  /// When the note was first versioned, in seconds since 1970.
  public let created: Int64
  /// When a version last changed it, in seconds since 1970.
  public let modified: Int64
  /// The last version that changed it.
  public let lastVersion: ObjectID
  /// The version that made it. The ID is computed from this and the path there (notes-list(1)).
  public let firstVersion: ObjectID
  /// The note's path in that version.
  public let firstPath: TreePath
  /// Whether that version was rewritten by a forgetting.
  package let isBirthRewritten: Bool
}

extension History {
  /// The notes in the folder, by path, including unsaved ones.
  public func notes() throws -> [NoteSummary] { try files().filter { $0.path.isNote } }

  /// All files in the folder that are versioned or can be, by path.
  public func files() throws -> [NoteSummary] {
    let files = try presentFiles()
    let conflicts = Set(try openConflictPaths())
    return try zip(files, times(of: files.map(\.path))).map { file, times in
      NoteSummary(
        id: try times.map(noteID) ?? "", path: file.path, created: times?.created,
        modified: times?.modified, lastVersion: times?.lastVersion, size: file.size,
        isInConflict: conflicts.contains(file.path))
    }
  }

  /// The ID of a note, from the version that added the note and its path there. If a forgetting rewrote that
  /// version, its header may record the ID: notes-forget(1), "Versions".
  func noteID(_ times: NoteTimes) throws -> String {
    if times.isBirthRewritten,
      let known = try keptID(of: times.firstPath, in: times.firstVersion)
    {
      return known
    }
    return try computedID(bornAs: times.firstPath, in: times.firstVersion)
  }

  /// The ID of a note that a version added.
  package func noteID(bornAs path: TreePath, in version: ObjectID) throws -> String {
    try keptID(of: path, in: version) ?? computedID(bornAs: path, in: version)
  }

  /// The ID is the shortened hash that git would give the text "COMMIT PATH\n". Every device that has the
  /// version that added the note can compute it.
  private func computedID(bornAs path: TreePath, in version: ObjectID) throws -> String {
    let birth = Array("\(version) ".utf8) + path.bytes + [UInt8(ascii: "\n")]
    return String(try repository.hash(blob: birth).hex.prefix(NoteSummary.idLength))
  }

  /// The ID that a version records for one of its notes: a header `notes-id ID PATH`, the path in
  /// hexadecimal digits.
  private func keptID(of path: TreePath, in version: ObjectID) throws -> String? {
    let digits = path.hexadecimal
    let data = try repository.object(version).data
    for value in RewrittenCommit.values(ofHeader: "notes-id", in: data) {
      let words = value.split(separator: " ")
      guard words.count == 2, words[1] == digits, words[0].utf8.count == NoteSummary.idLength,
        words[0].utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
      else { continue }
      return String(words[0])
    }
    return nil
  }

  /// The times of each of these files; nil for a file without a version. The files are sorted by path, and the
  /// tip has or had them. Derived merges do not count, because they have no author.
  public func times(of paths: [TreePath]) throws -> [NoteTimes?] {
    guard let (table, tip) = try historyTable() else { return paths.map { _ in nil } }
    return table.lives(of: paths, at: tip, in: order(of: table, from: tip)).map { life in
      guard let life else { return nil }
      return NoteTimes(
        created: table.time(of: life.first.version), modified: table.time(of: life.last.version),
        lastVersion: table.id(of: life.last.version),
        firstVersion: table.id(of: life.first.version),
        firstPath: table.path(table.path(ofChange: life.first.change)),
        isBirthRewritten: table.isRewritten(life.first.version))
    }
  }

  /// For each of these files of a version, when it was last changed, in this version or before: in seconds since 1970.
  /// The files are sorted by path.
  public func times(of paths: [TreePath], at version: Commit) throws -> [Int64?] {
    var times = [Int64?](repeating: nil, count: paths.count)
    guard let (table, _) = try historyTable() else { return times }
    // A computed tip of the past may not be in the history; its parents are.
    let places = ([version.id] + version.parents).compactMap { table.firstIndex(of: $0) }
    for place in table.firstIndex(of: version.id).map({ [$0] }) ?? places {
      let lives = table.lives(of: paths, at: place, in: order(of: table, from: place))
      for (file, life) in lives.enumerated() {
        guard let time = life.map({ table.time(of: $0.last.version) }) else { continue }
        times[file] = max(times[file] ?? time, time)
      }
    }
    return times
  }
}
