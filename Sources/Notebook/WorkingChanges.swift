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
  /// The entries of the index with its time stamp, read without a library where the form allows.
  func indexEntries() throws -> (entries: [IndexEntry], isRacy: (FileStatus) -> Bool) {
    if let file = try IndexFile(ofRepositoryAt: repository.gitFolder) {
      return (file.entries, { file.isRacy($0) })
    }
    // A form that only libgit2 reads: without its time stamp everything counts as racy.
    return (try Index(of: repository).entries, { _ in true })
  }

  /// Scans the folder and compares it with the index by status alone; nothing is read yet.
  func scan() throws -> WorkingChanges {
    let (entries, isRacy) = try indexEntries()
    let found = try FolderScan(
      folder: folder, sizeLimit: SkipRules.defaultSizeLimit,
      tracked: entries, rules: IgnoreRules(repository: repository))
    var changes = WorkingChanges()
    changes.skipped = found.skipped
    // A path that could not be looked at is not gone, and neither is what is below it.
    let unseen = found.skipped.map(\.path)
    var position = 0
    for file in found.files {
      while position < entries.count, entries[position].path < file.path {
        changes.missing(entries[position], unseen: unseen)
        position += 1
      }
      guard position < entries.count, entries[position].path == file.path else {
        changes.candidates.append((file, nil))
        continue
      }
      let known = entries[position]
      position += 1
      if known.status != file.status || known.mode != file.mode || isRacy(file.status) {
        changes.candidates.append((file, known))
      }
    }
    for entry in entries[position...] { changes.missing(entry, unseen: unseen) }
    return changes
  }
}

extension WorkingChanges {
  fileprivate mutating func missing(_ entry: IndexEntry, unseen: [TreePath]) {
    // Links and submodules of hand-made commits are not ours to create or delete.
    guard entry.mode.isFile else { return }
    let isUnseen = unseen.contains { path in
      path == entry.path || (entry.path.bytes.starts(with: path.bytes + [UInt8(ascii: "/")]))
    }
    if !isUnseen { deleted.append(entry) }
  }
}

/// Look-ups in entries sorted by path.
extension [IndexEntry] {
  /// The position of the first entry that is not before `path`.
  private func lowerBound(_ path: TreePath) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle].path < path { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Whether a file of that path is in the index.
  func containsPath(_ path: TreePath) -> Bool {
    let position = lowerBound(path)
    return position < count && self[position].path == path
  }

  /// Whether a file below that folder is in the index.
  func containsFolder(_ path: TreePath) -> Bool {
    let prefix = path.bytes + [UInt8(ascii: "/")]
    let position = lowerBound(TreePath(bytes: prefix))
    return position < count && self[position].path.bytes.starts(with: prefix)
  }
}
