public import Git
internal import WorkTree

/// Versions that somebody made one after the other in one go, as editors and the watcher save:
/// notes-log(1), "Bursts".
public struct Burst {
  /// The longest pause between two versions of a burst, in seconds.
  public static let longestPause: UInt64 = 600
  /// The longest a burst lasts, in seconds.
  public static let longestTime: UInt64 = 3600

  /// The versions, newest first; one at least.
  public private(set) var versions: [Version]
  /// The repository with the versions, if they are those of one note, so that others may stand between
  /// them.
  private let repository: Repository?

  /// So many commits are looked at between two versions of a note.
  private static let searchLimit = 64

  /// A burst of one version; `take(_:)` adds older ones.
  ///
  /// - Parameter repository: where the versions are of one note: where they are.
  public init(_ version: Version, ofOneNoteIn repository: Repository? = nil) {
    versions = [version]
    self.repository = repository
  }

  /// The last of them, which stands for all.
  public var newest: Version { versions[0] }
  /// The first of them, which the next older version is compared with.
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

  /// Whether one version was made on the other, maybe with versions of other notes between them; not
  /// where both were made side by side.
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

  /// The changes of all of them together, by path; a file that was changed back is left out.
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
  /// Whether nobody gave it a title: it has the one that saving makes of what changed.
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
