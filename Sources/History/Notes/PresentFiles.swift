public import Git
internal import Merge
internal import WorkTree

/// A file in the folder that is versioned or would be, even if unsaved.
public struct PresentFile: Sendable {
  /// The file's path in the folder.
  public let path: TreePath
  /// The file's size in bytes.
  public let size: Int
  /// When the file was last written, in seconds since 1970.
  public let modified: Int64
  /// Whether the file may differ from the last version: it is new, or was written since.
  public let isChanged: Bool
}

extension PresentFile {
  fileprivate init(_ candidate: Candidate) {
    self.init(
      path: candidate.path, size: candidate.size, modified: Int64(candidate.modifiedSeconds),
      isChanged: true)
  }
}

extension History {
  /// The notes in the folder, by path. Only the folder's lists and the index are read, which is
  /// quick however long the history is.
  public func presentNotes() throws -> [PresentFile] {
    try presentFiles().filter(\.path.isNote)
  }

  /// All files in the folder that are versioned or can be, by path.
  func presentFiles() throws -> [PresentFile] {
    let index = try workTree.indexFile()
    return try presentFiles(workTree.scan(against: index), against: index)
  }

  /// Like `presentFiles()`, from a finished scan of the folder.
  func presentFiles(_ found: WorkingChanges, against index: IndexFile) -> [PresentFile] {
    var files: [PresentFile] = []
    files.reserveCapacity(index.count + found.candidates.count)
    let deleted = Set(found.deleted.map(\.path))
    var candidates = found.candidates[...]
    for position in 0..<index.count where index.mode(at: position).isFile {
      let path = index.path(at: position)
      while let candidate = candidates.first, candidate.path < path {
        files.append(PresentFile(candidate))
        candidates.removeFirst()
      }
      if let candidate = candidates.first, candidate.path == path {
        files.append(PresentFile(candidate))
        candidates.removeFirst()
      } else if !deleted.contains(path) {
        let status = index.status(at: position)
        files.append(
          PresentFile(
            path: path, size: Int(status.size), modified: Int64(status.modifiedSeconds),
            isChanged: false))
      }
    }
    return files + candidates.map(PresentFile.init)
  }

  /// How many notes the last version or checkout left in the folder; counted without opening a
  /// file.
  public func noteCount() throws -> Int {
    let index = try workTree.indexFile()
    return (0..<index.count).count {
      index.mode(at: $0).isFile && TreePath.titleRange(in: index.pathBytes(at: $0)) != nil
    }
  }

  /// Groups of files in the present version whose paths are equal on some file systems:
  /// notes-merge(7), "Names that meet".
  public func collidingPaths() throws -> [[String]] {
    guard let tip = try state().tip else { return [] }
    let files = try repository.files(in: repository.commit(tip).tree).map(\.path)
    let groups = Dictionary(grouping: files) { path in path.components.map { NameKey($0) } }
    return groups.values.filter { $0.count > 1 }.map { group in group.sorted().map(\.description) }
      .sorted { $0.lexicographicallyPrecedes($1) }
  }
}
