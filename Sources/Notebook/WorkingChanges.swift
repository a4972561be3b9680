public import Git
internal import Glibc

/// What happened to a file.
public enum ChangeKind: String, Hashable, Sendable {
  case added
  case modified
  case deleted
  case renamed
}

/// A file that differs between two states of the notebook.
public struct Change: Hashable, Sendable {
  public let path: TreePath
  public let kind: ChangeKind

  public init(path: TreePath, kind: ChangeKind) {
    self.path = path
    self.kind = kind
  }
}

/// How the folder differs from the index, which holds what the last version or checkout left.
struct WorkingChanges {
  /// Files to read: new ones, and those whose status is not the remembered one.
  var candidates: [(file: ScannedFile, known: IndexEntry?)] = []
  /// Versioned files that are gone.
  var deleted: [IndexEntry] = []
  var skipped: [SkippedFile] = []

  /// Whether nothing at all has to be looked at.
  var isEmpty: Bool { candidates.isEmpty && deleted.isEmpty }
}

extension Notebook {
  /// The index as the last version or checkout left it, read without a library where its form
  /// allows.
  func indexFile() throws -> IndexFile {
    try IndexFile(ofRepositoryAt: repository.gitFolder)
      ?? IndexFile(entries: Index(of: repository).entries)
  }

  /// Scans the folder and compares it with the index by status alone; nothing is read yet.
  func scan() throws -> WorkingChanges {
    let index = try indexFile()
    let found = try FolderScan(
      folder: folder, sizeLimit: sizeLimit, index: index,
      rules: IgnoreRules(repository: repository))
    var changes = WorkingChanges()
    changes.skipped = found.skipped
    changes.candidates =
      found.untracked.map { ($0, nil) } + found.suspects.map { ($0.file, index[$0.position]) }
    changes.candidates.sort { $0.file.path < $1.file.path }
    // A path that could not be looked at is not gone, and neither is what is below it.
    let unseen = found.skipped.map(\.path)
    for position in 0..<index.count where !found.seen[position] {
      // Links and submodules of hand-made commits are not ours to create or delete.
      guard index.mode(at: position).isFile else { continue }
      let entry = index[position]
      if !unseen.contains(where: { $0 == entry.path || entry.path.isBelow($0) }) {
        changes.deleted.append(entry)
      }
    }
    return changes
  }
}
