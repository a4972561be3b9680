public import Git

/// A note as it stands in the folder.
public struct NoteSummary: Sendable {
  /// The note's ID: the same on every device, kept through edits and renames (notes-list(1)).
  public let id: String
  public let path: TreePath
  /// When it was first versioned and last changed, in seconds since 1970; nil while it was never
  /// versioned.
  public let created: Int64?
  public let modified: Int64?
  /// Who changed it last; nil while it was never versioned.
  public let author: String?
  /// Its size in bytes.
  public let size: Int
  public let isInConflict: Bool

  public var title: String { path.noteTitle }
}

extension Notebook {
  /// The notes in the folder, by path, unsaved ones too.
  public func notes() throws -> [NoteSummary] { try files().filter { $0.path.isNote } }

  /// All versioned or versionable files in the folder, by path.
  public func files() throws -> [NoteSummary] {
    let found = try scan()
    let gone = Set(found.deleted.map(\.path))
    var sizes: [TreePath: Int] = [:]
    for entry in try indexFile().entries where entry.mode.isFile && !gone.contains(entry.path) {
      sizes[entry.path] = Int(entry.status.size)
    }
    for candidate in found.candidates { sizes[candidate.file.path] = candidate.file.size }
    let conflicts = Set(try openConflictPaths())
    let lives = try noteLives(of: Set(sizes.keys))
    return sizes.sorted { $0.key < $1.key }.map { path, size in
      let life = lives[path]
      return NoteSummary(
        id: life?.id ?? "", path: path, created: life?.first.author.time,
        modified: life?.last.author.time, author: life?.last.author.name, size: size,
        isInConflict: conflicts.contains(path))
    }
  }

  private struct NoteLife {
    var last: Commit
    var first: Commit
    /// The path under which `first` added it.
    var firstPath: TreePath
    var id = ""
  }

  /// The first and last version of each of these files, from one walk through the history.
  private func noteLives(of paths: Set<TreePath>) throws -> [TreePath: NoteLife] {
    var lives: [TreePath: NoteLife] = [:]
    // Which present file a path of that time belongs to; names change on the way back.
    var present = Dictionary(uniqueKeysWithValues: paths.map { ($0, $0) })
    try forEachVersion { version in
      for change in version.changes {
        guard let path = present[change.path] else { continue }
        lives[
          path,
          default: NoteLife(
            last: version.commit, first: version.commit, firstPath: change.path)
        ].first = version.commit
        lives[path]?.firstPath = change.path
        if let former = change.formerPath { present[former] = path }
      }
      return true
    }
    for (path, life) in lives {
      // The ID is what git would call the text "COMMIT PATH\n", shortened: known to every device
      // that has the version which added the note.
      let birth = Array("\(life.first.id) ".utf8) + life.firstPath.bytes + [UInt8(ascii: "\n")]
      lives[path]?.id = String(try repository.hash(blob: birth).hex.prefix(12))
    }
    return lives
  }
}

extension Notebook {
  /// How many notes the last version or checkout left in the folder; counted without opening one.
  public func noteCount() throws -> Int {
    let index = try indexFile()
    return (0..<index.count).count { position in
      index.mode(at: position).isFile && TreePath(bytes: index.pathBytes(at: position)).isNote
    }
  }
}
