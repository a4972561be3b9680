public import Git

/// A version with what it changed.
public struct Version: Sendable {
  public let commit: Commit
  /// Whether it is a derived merge, which nobody wrote.
  public let isDerived: Bool
  /// What it changed against its first parent, by path; in the versions of one note, what it
  /// changed in that note.
  public let changes: [VersionChange]

  /// The device it was made on, or nil for a hand-made commit.
  public var deviceID: String? { commit.deviceID }

  /// The message's first line.
  public var subject: String {
    String(commit.message.prefix { !$0.isNewline })
  }
}

extension Commit {
  /// The device it was made on, or nil for a hand-made commit.
  public var deviceID: String? { DeviceIdentity.deviceID(inEmail: author.email) }
}

extension Notebook {
  /// A version with what it changed.
  public func version(of commit: Commit) throws -> Version {
    Version(
      commit: commit, isDerived: DerivedMerge.isDerived(commit), changes: try changes(of: commit))
  }

  /// The versions of the tip, newest first, each read when it is asked for: the first one is there
  /// at once, however long the history is.
  ///
  /// - Parameters:
  ///   - path: only versions that changed this file, under the name it had at the time.
  ///   - includesDerived: also derived merges.
  public func versions(
    of path: TreePath? = nil, includingDerived includesDerived: Bool = false
  ) throws -> VersionWalk {
    if let path, let (table, tip) = try historyTable(newVersions: Self.fewVersions) {
      let steps = table.trail(of: path, from: tip).filter {
        includesDerived || !table.isDerived($0.version)
      }
      return VersionWalk(self, along: steps, in: table)
    }
    return VersionWalk(
      self, from: try repository.head().commit, of: path, includesDerived: includesDerived)
  }

  /// Goes through `versions(of:includingDerived:)` until `body` returns false.
  public func forEachVersion(
    of path: TreePath? = nil, includesDerived: Bool = false,
    _ body: (Version) throws -> Bool
  ) throws {
    let walk = try versions(of: path, includingDerived: includesDerived)
    while let version = try walk.next(), try body(version) {}
  }
}
