public import Git
internal import WorkTree

/// A file that history has and the folder has no more.
public struct DeletedFile: Hashable, Sendable {
  /// Where it was in the folder.
  public let path: TreePath
  /// The ID that it had, and has again when it comes back (notes-list(1)).
  public let id: String
  /// When it was deleted, in seconds since 1970; nil where that is not saved yet.
  public let time: Int64?
  /// Who deleted it; nil where that is not saved yet.
  public let author: String?
}

extension History {
  /// The files that were deleted and did not come back, last deleted first. One that got another
  /// name was not deleted.
  public func deletedFiles() throws -> [DeletedFile] {
    let scan = try workTree.scan()
    let unsaved = scan.deleted.filter { $0.mode.isFile }.map(\.path)
    let gone = Set(unsaved)
    var settled = Set(try workTree.indexFile().entries.map(\.path).filter { !gone.contains($0) })
    settled.formUnion(scan.candidates.map(\.path))
    settled.formUnion(unsaved)
    var found = unsaved.map { (path: $0, deletion: Int?.none) }
    let history = try historyTable()
    if let (table, tip) = history {
      // What happened last to a name is met first.
      for version in table.versions(from: tip) {
        for change in table.changeRange(of: version) {
          let former = table.changeFormers[change]
          if former != HistoryTable.none { settled.insert(table.path(former)) }
          guard table.newBlob(of: change) == nil,
            case let path = table.path(table.changePaths[change]), settled.insert(path).inserted
          else { continue }
          found.append((path, version))
        }
      }
    }
    let times = try times(of: found.map(\.path))
    return try found.map { path, deletion in
      DeletedFile(
        path: path, id: try times[path].map(noteID) ?? "",
        time: deletion.flatMap { history?.table.times[$0] },
        author: deletion.flatMap { history?.table.author(of: $0) })
    }
  }
}
