public import Git
internal import WorkTree

/// A file that is in the history and no longer in the folder.
public struct DeletedFile: Hashable, Sendable {
  /// The file's former path in the folder.
  public let path: TreePath
  /// The file's ID. A restored file gets the same ID again (notes-list(1)).
  public let id: String
  /// When the file was deleted, in seconds since 1970; nil if the deletion is not saved yet.
  public let time: Int64?
  /// The version that deleted it; nil if the deletion is not saved yet.
  public let version: ObjectID?
}

extension History {
  /// The files that are deleted now, last deleted first. A renamed file is not deleted.
  public func deletedFiles() throws -> [DeletedFile] {
    let index = try workTree.indexFile()
    let scan = try workTree.scan(against: index)
    let unsaved = scan.deleted.filter { $0.mode.isFile }.map(\.path)
    var settled = Set(presentFiles(scan, against: index).map(\.path)).union(unsaved)
    var found = unsaved.map { (path: $0, deletion: Int?.none) }
    let history = try historyTable()
    if let (table, tip) = history {
      // The last change of each name comes first.
      for version in table.versions(from: tip, in: order(of: table, from: tip)) {
        for change in table.changes(of: version).map(table.value) {
          if let former = change.formerPath { settled.insert(former) }
          let path = change.path
          if change.new == nil, settled.insert(path).inserted { found.append((path, version)) }
        }
      }
    }
    let paths = found.map(\.path).sorted()
    let times = Dictionary(zip(paths, try times(of: paths))) { first, _ in first }
    return try found.map { path, deletion in
      DeletedFile(
        path: path, id: try times[path].flatMap(\.self).map(noteID) ?? "",
        time: deletion.flatMap { history?.table.time(of: $0) },
        version: deletion.flatMap { history?.table.id(of: $0) })
    }
  }
}
