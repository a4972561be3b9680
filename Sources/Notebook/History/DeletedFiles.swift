public import Git

/// A file that history has and the folder has no more.
public struct DeletedFile: Hashable, Sendable {
  public let path: TreePath
  /// When it was deleted, in seconds since 1970, and by whom; nil where that is not saved yet.
  public let time: Int64?
  public let author: String?
}

extension Notebook {
  /// The files that were deleted and did not come back, last deleted first. One that got another
  /// name was not deleted.
  public func deletedFiles() throws -> [DeletedFile] {
    let scan = try scan()
    let unsaved = scan.deleted.filter { $0.mode.isFile }.map(\.path)
    let gone = Set(unsaved)
    var settled = Set(try indexFile().entries.map(\.path).filter { !gone.contains($0) })
    settled.formUnion(scan.candidates.map(\.path))
    var found = unsaved.map { DeletedFile(path: $0, time: nil, author: nil) }
    settled.formUnion(unsaved)
    guard let (table, tip) = try historyTable() else { return found }
    // What happened last to a name is met first.
    for version in table.versions(from: tip) {
      for change in table.changeRange(of: version) {
        let former = table.changeFormers[change]
        if former != HistoryTable.none { settled.insert(table.path(former)) }
        guard table.newBlob(of: change) == nil,
          case let path = table.path(table.changePaths[change]), settled.insert(path).inserted
        else { continue }
        let author = table.authorTexts[table.authors[version]]
        found.append(
          DeletedFile(
            path: path, time: table.times[version],
            author: String(decoding: author.prefix { $0 != 0 }, as: UTF8.self)))
      }
    }
    return found
  }
}
