public import Git

/// A note as it stands in the folder.
public struct NoteSummary: Sendable {
  /// The note's ID: the same on every device, kept through edits and renames (notes-list(1)).
  public let id: String
  /// Where its file is in the folder.
  public let path: TreePath
  /// When it was first versioned, in seconds since 1970; nil while it never was.
  public let created: Int64?
  /// When a version changed it last, in seconds since 1970; nil while it was never versioned.
  public let modified: Int64?
  /// Who changed it last; nil while it was never versioned.
  public let author: String?
  /// The version that changed it last; nil while it was never versioned.
  public let lastVersion: ObjectID?
  /// Its size in bytes.
  public let size: Int
  /// Whether it has an open conflict in the tip.
  public let isInConflict: Bool

  /// Its title: the file's name without what makes it a note.
  public var title: String { path.noteTitle }

  /// How many hexadecimal digits an ID has.
  static let idLength = 12
}

/// When a file was made and last changed, and by whom, as its history tells.
public struct NoteTimes: Hashable, Sendable {
  /// When it was first versioned, in seconds since 1970.
  public let created: Int64
  /// When a version changed it last, in seconds since 1970.
  public let modified: Int64
  /// Who changed it last.
  public let author: String
  /// The version that changed it last.
  public let lastVersion: ObjectID
  /// The version that made it. With its path there it is what its ID is made of (notes-list(1)).
  public let firstVersion: ObjectID
  /// Its path in that version.
  public let firstPath: TreePath
}

extension History {
  /// The notes in the folder, by path, unsaved ones too.
  public func notes() throws -> [NoteSummary] { try files().filter { $0.path.isNote } }

  /// All versioned or versionable files in the folder, by path.
  public func files() throws -> [NoteSummary] {
    let files = try presentFiles()
    let conflicts = Set(try openConflictPaths())
    let times = try times(of: Array(files.keys))
    return try files.values.sorted { $0.path < $1.path }.map { file in
      let times = times[file.path]
      return NoteSummary(
        id: try times.map(noteID) ?? "", path: file.path, created: times?.created,
        modified: times?.modified, author: times?.author,
        lastVersion: times?.lastVersion, size: file.size,
        isInConflict: conflicts.contains(file.path))
    }
  }

  /// The ID is what git would call the text "COMMIT PATH\n", shortened: known to every device that
  /// has the version which added the note.
  func noteID(_ times: NoteTimes) throws -> String {
    let birth = Array("\(times.firstVersion) ".utf8) + times.firstPath.bytes + [UInt8(ascii: "\n")]
    return String(try repository.hash(blob: birth).hex.prefix(NoteSummary.idLength))
  }

  /// The times of these files, which the tip has or had; those that no version has are left out. Derived
  /// merges count for nothing: nobody wrote them.
  public func times(of paths: [TreePath]) throws -> [TreePath: NoteTimes] {
    guard let (table, tip) = try historyTable() else { return [:] }
    return table.lives(of: paths, at: tip, in: order(of: table, from: tip)).mapValues { life in
      NoteTimes(
        created: table.time(of: life.first.version), modified: table.time(of: life.last.version),
        author: table.author(of: life.last.version), lastVersion: table.id(of: life.last.version),
        firstVersion: table.id(of: life.first.version),
        firstPath: table.path(table.path(ofChange: life.first.change)))
    }
  }

  /// When each of these files of a version was last changed by then, in seconds since 1970.
  public func times(of paths: [TreePath], at version: Commit) throws -> [TreePath: Int64] {
    guard let (table, _) = try historyTable() else { return [:] }
    // A tip of the past, which nobody made, may be of no history: its parents are.
    let places = ([version.id] + version.parents).compactMap { table.firstIndex(of: $0) }
    var times: [TreePath: Int64] = [:]
    for place in table.firstIndex(of: version.id).map({ [$0] }) ?? places {
      let lives = table.lives(of: paths, at: place, in: order(of: table, from: place))
      times.merge(lives.mapValues { table.time(of: $0.last.version) }) { max($0, $1) }
    }
    return times
  }
}
