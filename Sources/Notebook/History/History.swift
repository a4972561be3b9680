public import Git

/// A file that a version changed.
public struct VersionChange: Hashable, Sendable {
  public let path: TreePath
  public let kind: ChangeKind
  /// What the file was called before, when it was renamed.
  public let formerPath: TreePath?
  /// The file's blob before and after; nil where there is none.
  public let old: ObjectID?
  public let new: ObjectID?
}

/// A version with what it changed.
public struct Version: Sendable {
  public let commit: Commit
  /// Whether it is a derived merge, which nobody wrote.
  public let isDerived: Bool
  /// What it changed against its first parent, by path.
  public let changes: [VersionChange]

  /// The device it was made on, or nil for a hand-made commit.
  public var deviceID: String? { DeviceIdentity.deviceID(inEmail: commit.author.email) }

  /// The message's first line.
  public var subject: String {
    String(commit.message.prefix { !$0.isNewline })
  }
}

extension Notebook {
  /// Goes through the versions of the tip, newest first, until `body` returns false.
  ///
  /// - Parameters:
  ///   - path: only versions that changed this file, under the name it had at the time.
  ///   - includesDerived: also derived merges.
  public func forEachVersion(
    of path: TreePath? = nil, includesDerived: Bool = false,
    _ body: (Version) throws -> Bool
  ) throws {
    guard let tip = try repository.head().commit else { return }
    let walk = try repository.walk(from: [tip])
    // The names the file has in commits that are still to come; it forks where histories do.
    var names: Set<TreePath> = path.map { [$0] } ?? []
    while let id = try walk.next() {
      let commit = try repository.commit(id)
      let isDerived = DerivedMerge.isDerived(commit)
      if isDerived && !includesDerived { continue }
      var changes = try self.changes(of: commit)
      if path != nil {
        changes = changes.filter { names.contains($0.path) }
        if changes.isEmpty { continue }
        for change in changes {
          if let former = change.formerPath { names.insert(former) }
        }
      }
      guard try body(Version(commit: commit, isDerived: isDerived, changes: changes)) else {
        return
      }
    }
  }

  /// What a commit changed against its first parent, by path. A file that went while one with the
  /// same bytes came is one that was renamed.
  func changes(of commit: Commit) throws -> [VersionChange] {
    let parent = try commit.parents.first.map { try repository.commit($0).tree }
    let changes = try repository.changes(from: parent, to: commit.tree)
    var gone: [ObjectID: TreePath] = [:]
    for change in changes where change.new == nil {
      if let id = change.old?.id { gone[id] = change.path }
    }
    var renamed: Set<TreePath> = []
    var found: [VersionChange] = []
    for change in changes where change.new != nil {
      if change.old == nil, let id = change.new?.id, let former = gone.removeValue(forKey: id) {
        renamed.insert(former)
        found.append(
          VersionChange(
            path: change.path, kind: .renamed, formerPath: former, old: id, new: id))
      } else {
        found.append(
          VersionChange(
            path: change.path, kind: change.old == nil ? .added : .modified, formerPath: nil,
            old: change.old?.id, new: change.new?.id))
      }
    }
    for change in changes where change.new == nil && !renamed.contains(change.path) {
      found.append(
        VersionChange(
          path: change.path, kind: .deleted, formerPath: nil, old: change.old?.id, new: nil))
    }
    return found.sorted { $0.path < $1.path }
  }
}
