public import Git
internal import WorkTree

/// Versions that somebody made one after the other, as editors and the watcher save: notes-log(1),
/// "Bursts".
public struct Burst {
  /// The longest pause between two versions in a burst, in seconds.
  public static let longestPause: UInt64 = 600
  /// The longest duration of a burst, in seconds.
  public static let longestTime: UInt64 = 3600

  /// The versions, newest first; never empty.
  public private(set) var versions: [Version]
  /// The repository with the versions, if all belong to one note. Then versions of other notes may be between
  /// them.
  private let repository: Repository?

  /// How many commits are searched between two versions of a note.
  private static let searchLimit = 64

  /// A burst of one version. `take(_:)` adds older versions.
  ///
  /// - Parameter repository: the repository with the versions, if they are those of one note.
  public init(_ version: Version, ofOneNoteIn repository: Repository? = nil) {
    versions = [version]
    self.repository = repository
  }

  /// The last version, which represents the burst.
  public var newest: Version { versions[0] }
  /// The first version, which is compared with the next older one.
  public var oldest: Version { versions[versions.count - 1] }

  /// Adds the next older version if it belongs to the burst; returns whether it does.
  public mutating func take(_ older: Version) throws -> Bool {
    let (last, next) = (oldest.commit, older.commit)
    guard last.author.name == next.author.name, last.author.email == next.author.email,
      last.parents.count == 1, next.parents.count <= 1,
      (last.author.time &- next.author.time).magnitude <= Self.longestPause,
      (newest.commit.author.time &- next.author.time).magnitude <= Self.longestTime,
      oldest.isUntitled, older.isUntitled, try isMade(last, on: next)
    else { return false }
    versions.append(older)
    return true
  }

  /// Whether `newer` was made on top of `older`, maybe with versions of other notes between them;
  /// false if they were made concurrently.
  private func isMade(_ newer: Commit, on older: Commit) throws -> Bool {
    if newer.parents.contains(older.id) { return true }
    guard let repository else { return false }
    var (pending, seen) = (newer.parents[...], Set(newer.parents))
    while let id = pending.popFirst(), seen.count <= Self.searchLimit {
      let parents = try repository.commit(id).parents
      if parents.contains(older.id) { return true }
      pending += parents.filter { seen.insert($0).inserted }
    }
    return false
  }

  /// The changes of all versions together, by path, without files that were changed back.
  public var changes: [VersionChange] {
    guard versions.count > 1 else { return newest.changes }
    var found: [TreePath: VersionChange] = [:]
    for version in versions.reversed() {
      for change in version.changes {
        let before = found.removeValue(forKey: change.formerPath ?? change.path)
        let former = before == nil ? change.formerPath : before?.formerPath ?? change.formerPath
        let old = before == nil ? change.old : before?.old
        found[change.path] = VersionChange(
          path: change.path, formerPath: old == nil || former == change.path ? nil : former,
          old: old, new: change.new)
      }
    }
    return found.values.filter { $0.old != $0.new || $0.formerPath != nil }
      .sorted { $0.path < $1.path }
  }
}

extension Version {
  /// Whether the version's title, or a part of it between semicolons, is one that a save makes from the changes.
  public var isUntitled: Bool {
    guard let change = changes.first else { return false }
    let title = Change.summary(of: [Change(path: change.path, kind: .modified)]).dropFirst(7)
    return subject.split(separator: "; ").contains { part in
      guard let verb = ["Add ", "Update ", "Delete "].first(where: part.hasPrefix) else {
        return false
      }
      let names = part.dropFirst(verb.count)
      return ", \(names), ".contains(", \(title), ")
        || (names.hasSuffix(" notes") && names.dropLast(6).allSatisfy(\.isNumber))
    }
  }
}
