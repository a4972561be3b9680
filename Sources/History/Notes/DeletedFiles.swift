public import Git
internal import WorkTree

/// A file that history has and the folder has no more.
public struct DeletedFile: Hashable, Sendable {
  /// The file's former path in the folder.
  public let path: TreePath
  /// The ID that it had, and has again when it comes back (notes-list(1)).
  public let id: String
  /// When it was deleted, in seconds since 1970; nil where that is not saved yet.
  public let time: Int64?
  /// The version that deleted it; nil where that is not saved yet.
  public let version: ObjectID?
}

extension History {
  /// The files that were deleted and did not come back, last deleted first. One that got another
  /// name was not deleted.
  public func deletedFiles() throws -> [DeletedFile] {
    let index = try workTree.indexFile()
    let scan = try workTree.scan(against: index)
    let unsaved = scan.deleted.filter { $0.mode.isFile }.map(\.path)
    var settled = Set(presentFiles(scan, against: index).map(\.path)).union(unsaved)
    var found = unsaved.map { (path: $0, deletion: Int?.none) }
    let history = try historyTable()
    if let (table, tip) = history {
      // The last change of a name is met first.
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
