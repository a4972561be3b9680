internal import Git

/// How the folder differs from the index.
package struct FolderChanges {
  /// What differs from the last version, by path.
  package let changes: [Change]
  /// Files that are not versioned, and why, by path.
  package let skipped: [SkippedFile]
}

extension WorkTree {
  /// Compares the folder with the index: by status, and by bytes where the status can't tell.
  package func changes() throws -> FolderChanges {
    let index = try indexFile()
    let found = try scan(against: index)
    var changes = found.deleted.map { Change(path: $0.path, kind: .deleted) }
    var skipped = found.skipped
    for candidate in found.candidates {
      let path = candidate.path
      guard let position = candidate.position else {
        changes.append(Change(path: path, kind: .added))
        continue
      }
      // The status differs, or can't tell: the bytes decide.
      switch try FileContent.read(path, in: folder, sizeLimit: sizeLimit) {
      case .read(let content):
        if try repository.hash(blob: content.bytes) != index.id(at: position)
          || !fileModes.isSame(content.mode, as: index.mode(at: position))
        {
          changes.append(Change(path: path, kind: .modified))
        }
      case .gone: changes.append(Change(path: path, kind: .deleted))
      case .skipped(let reason): skipped.append(SkippedFile(path: path, reason: reason))
      }
    }
    return FolderChanges(
      changes: changes.sorted { $0.path < $1.path }, skipped: skipped.sorted { $0.path < $1.path })
  }
}
