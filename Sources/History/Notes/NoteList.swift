public import Git
internal import WorkTree

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
  /// Its size in bytes.
  public let size: Int
  /// Whether it has an open conflict in the tip.
  public let isInConflict: Bool

  /// Its title: the file's name without what makes it a note.
  public var title: String { path.noteTitle }

  /// How many hexadecimal digits an ID has.
  static let idLength = 12
}

extension History {
  /// The notes in the folder, by path, unsaved ones too.
  public func notes() throws -> [NoteSummary] { try files().filter { $0.path.isNote } }

  /// All versioned or versionable files in the folder, by path.
  public func files() throws -> [NoteSummary] {
    let found = try workTree.scan()
    let gone = Set(found.deleted.map(\.path))
    var sizes: [TreePath: Int] = [:]
    for entry in try workTree.indexFile().entries
    where entry.mode.isFile && !gone.contains(entry.path) {
      sizes[entry.path] = Int(entry.status.size)
    }
    for candidate in found.candidates { sizes[candidate.path] = candidate.size }
    let conflicts = Set(try openConflictPaths())
    let times = try times(of: Array(sizes.keys))
    return try sizes.sorted { $0.key < $1.key }.map { path, size in
      let times = times[path]
      return NoteSummary(
        id: try times.map(noteID) ?? "", path: path, created: times?.created,
        modified: times?.modified, author: times?.author, size: size,
        isInConflict: conflicts.contains(path))
    }
  }

  /// The ID is what git would call the text "COMMIT PATH\n", shortened: known to every device that
  /// has the version which added the note.
  func noteID(_ times: NoteTimes) throws -> String {
    let birth =
      Array("\(times.firstVersion) ".utf8) + times.firstPath.bytes + [UInt8(ascii: "\n")]
    return String(try repository.hash(blob: birth).hex.prefix(NoteSummary.idLength))
  }
}

extension History {
  /// How many notes the last version or checkout left in the folder; counted without opening one.
  public func noteCount() throws -> Int {
    let index = try workTree.indexFile()
    return (0..<index.count).count { position in
      index.mode(at: position).isFile && TreePath(bytes: index.pathBytes(at: position)).isNote
    }
  }
}
