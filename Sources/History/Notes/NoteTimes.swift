public import Git

/// When a file was made and last changed, and by whom, as its history tells.
public struct NoteTimes: Hashable, Sendable {
  /// When it was first versioned, in seconds since 1970.
  public let created: Int64
  /// When a version changed it last, in seconds since 1970.
  public let modified: Int64
  /// Who changed it last.
  public let author: String
  /// The version that made it. With its path there it is what its ID is made of (notes-list(1)).
  public let firstVersion: ObjectID
  /// Its path in that version.
  public let firstPath: TreePath
  /// The version that changed it last.
  public let lastVersion: ObjectID
}

extension History {
  /// The times of these files, which the tip has or had; those that no version has are left out. Derived
  /// merges count for nothing: nobody wrote them.
  public func times(of paths: [TreePath]) throws -> [TreePath: NoteTimes] {
    guard let (table, tip) = try historyTable() else { return [:] }
    return table.lives(of: paths, at: tip).mapValues { life in
      NoteTimes(
        created: table.times[life.first.version], modified: table.times[life.last.version],
        author: table.author(of: life.last.version),
        firstVersion: table.id(of: life.first.version),
        firstPath: table.path(table.changePaths[life.first.change]),
        lastVersion: table.id(of: life.last.version))
    }
  }
}
