public import Git
internal import History
internal import WorkTree

/// That a save was not made on what the folder held, or takes away what another device brought:
/// notes-merge(7), "The stale editor"; or brings what looks like a secret: notes-save(1); or that a checkout
/// parted a hard link.
public struct SaveNews: Hashable, Codable, Sendable {
  /// The kind of news.
  public enum Kind: String, Codable, Sendable {
    /// The save was made on an older text, and merged with what came since.
    case merged
    /// The save takes away lines that came within the last day.
    case tookAway = "took_away"
    /// The save brings what looks like a secret, which the note did not hold before.
    case secret
    /// The file had another name on the disk, a hard link, which keeps the former text.
    case linkParted = "link_parted"
    /// The note is in the version that a command made, and not in the folder.
    case waits
  }

  /// Which note.
  public let path: TreePath
  /// The kind of news.
  public let kind: Kind
  /// How many lines it takes away; 0 where it was merged.
  public let lines: Int
  /// Whose edits they are, by the names of those who made them, with what is lacking to prove them.
  public let devices: [String]
  /// The kind of secret that it looks like; nil for the other kinds.
  public var looksLike: String? = nil
  /// The former name under which its editor saved it; nil where it has that name still.
  public var formerPath: TreePath? = nil
}

extension WriteTransaction {
  /// The news of these saves: of those only that meet edits of other devices.
  func news(of remarks: [SaveRemark]) throws -> [SaveNews] {
    try remarks.compactMap { remark in
      guard remark.isTold else { return nil }
      let path = try presentPath(of: remark)
      let names = try makers(
        history.othersVersions(of: path, since: remark.since, than: device.deviceID)
      ).eachOnce
      let isMerged = remark.base != nil
      guard isMerged || !names.isEmpty else { return nil }
      return SaveNews(
        path: path, kind: isMerged ? .merged : .tookAway, lines: isMerged ? 0 : remark.takenLines,
        devices: names, formerPath: path == remark.path ? nil : remark.path)
    }
  }

  /// The name that the saved note has now, where others have renamed it.
  private func presentPath(of remark: SaveRemark) throws -> TreePath {
    guard let base = remark.base, let tree = try history.tipTree(),
      try repository.entry(at: remark.path, in: tree) == nil
    else { return remark.path }
    return try history.renamedChanges(from: repository.commit(base).tree, to: tree)
      .first { $0.formerPath == remark.path }?.path ?? remark.path
  }

  /// Tells of saves that no command asked for: what stood in the folder when something else was done.
  func tell(_ remarks: [SaveRemark]) throws { try news(of: remarks).forEach(saveNotice) }

  /// The news of files that are to take the place of others: of the lines that they take away.
  func news(
    ofReplacing files: [TreePath: TreeEntry?], in tree: ObjectID?
  ) throws -> [SaveNews] {
    let log = CheckoutLog(stateFolder: history.workTree.stateFolder)
    let brought = Set(log.entries.map(\.path))
    return try files.sorted { $0.key < $1.key }.compactMap { path, file in
      guard brought.contains(path), let file,
        let present = try tree.flatMap({ try repository.entry(at: path, in: $0) }),
        let taken = try log.taken(from: path, present: present.id, by: file.id, in: repository),
        taken.lines > 0
      else { return nil }
      let names = try makers(
        history.othersVersions(of: path, since: taken.since, than: device.deviceID)
      ).eachOnce
      if names.isEmpty { return nil }
      return SaveNews(path: path, kind: .tookAway, lines: taken.lines, devices: names)
    }
  }

  /// Tells which notes that a command wrote are not in the folder.
  func tellWaiting(after outcome: MergeOutcome) {
    for path in outcome.waiting {
      saveNotice(SaveNews(path: path, kind: .waits, lines: 0, devices: []))
    }
  }

  /// Tells that a text was made of an older version, and merged with what came since.
  func tellMerged(_ path: TreePath, since base: ObjectID) throws {
    let names = try makers(
      history.othersVersions(of: path, since: base, than: device.deviceID)
    ).eachOnce
    saveNotice(SaveNews(path: path, kind: .merged, lines: 0, devices: names))
  }
}

extension History {
  /// How many versions are looked through.
  private static let searchedVersions = 64

  /// The versions of other devices than that one that changed a note since a version.
  package func othersVersions(
    of path: TreePath, since base: ObjectID?, than device: String
  ) throws -> [Commit] {
    var found: [Commit] = []
    let versions = try versions(of: path)
    for _ in 0..<Self.searchedVersions {
      guard let version = try versions.next() else { break }
      if let base, try workTree.repository.isAncestor(version.commit.id, of: base) { break }
      if version.isDerived || version.deviceID == device { continue }
      found.append(version.commit)
    }
    return found
  }
}
