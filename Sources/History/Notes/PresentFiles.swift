public import Git
internal import Merge
internal import WorkTree

/// A file that stands in the folder and is versioned or would be, unsaved ones too.
public struct PresentFile: Sendable {
  /// Where it is in the folder.
  public let path: TreePath
  /// Its size in bytes.
  public let size: Int
  /// When the file was written last: seconds since 1970.
  public let modified: Int64
  /// Whether it may differ from the last version: it is new, or was written since.
  public let isChanged: Bool
}

extension History {
  /// The notes in the folder, by path. Nothing is read but the folder's lists and what the index
  /// remembers, which is quick however long the history is.
  public func presentNotes() throws -> [PresentFile] {
    try presentFiles().values.filter(\.path.isNote).sorted { $0.path < $1.path }
  }

  func presentFiles() throws -> [TreePath: PresentFile] {
    let index = try workTree.indexFile()
    return try presentFiles(workTree.scan(against: index), against: index)
  }

  /// The same, where the folder was looked at.
  func presentFiles(_ found: WorkingChanges, against index: IndexFile) -> [TreePath: PresentFile] {
    var files: [TreePath: PresentFile] = [:]
    for entry in index.entries where entry.mode.isFile {
      files[entry.path] = PresentFile(
        path: entry.path, size: Int(entry.status.size),
        modified: Int64(entry.status.modifiedSeconds), isChanged: false)
    }
    for entry in found.deleted { files[entry.path] = nil }
    for candidate in found.candidates {
      files[candidate.path] = PresentFile(
        path: candidate.path, size: candidate.size, modified: Int64(candidate.modifiedSeconds),
        isChanged: true)
    }
    return files
  }

  /// How many notes the last version or checkout left in the folder; counted without opening one.
  public func noteCount() throws -> Int {
    let index = try workTree.indexFile()
    return (0..<index.count).count {
      index.mode(at: $0).isFile && TreePath.titleRange(in: index.pathBytes(at: $0)) != nil
    }
  }

  /// Files of the present version, in groups, whose paths some file systems take for one:
  /// notes-merge(7), "Names that meet".
  public func collidingPaths() throws -> [[String]] {
    guard let tip = try state().tip else { return [] }
    let files = try repository.files(in: repository.commit(tip).tree).map(\.path)
    let groups = Dictionary(grouping: files) { path in path.components.map { NameKey($0) } }
    return groups.values.filter { $0.count > 1 }.map { group in group.sorted().map(\.description) }
      .sorted { $0.lexicographicallyPrecedes($1) }
  }
}
