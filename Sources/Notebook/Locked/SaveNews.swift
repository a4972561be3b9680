public import Git
internal import History
internal import WorkTree

/// A notice about a save. It was based on an older text, or removes text from another device: notes-merge(7),
/// "The stale editor". Or it adds text that looks like a secret: notes-save(1). Or a checkout separated a hard
/// link.
public struct SaveNews: Hashable, Codable, Sendable {
  /// The kind of notice.
  public enum Kind: String, Codable, Sendable {
    /// The save was based on an older text, and merged with the later changes.
    case merged
    /// The save removes lines that were added within the last day.
    case tookAway = "took_away"
    /// The save adds text that looks like a secret.
    case secret
    /// The file had another name on the disk, a hard link, which keeps the former text.
    case linkParted = "link_parted"
    /// The note is in a command's version, and not in the folder.
    case waits
  }

  /// The note.
  public let path: TreePath
  /// The kind of notice.
  public let kind: Kind
  /// How many lines the save removes; 0 if the save was merged.
  public let lines: Int
  /// The devices or people whose edits are affected, by name, with a remark if the name is not
  /// proved.
  public let devices: [String]
  /// The kind of secret that the text looks like; nil for other notices.
  public var looksLike: String? = nil
  /// The former name under which an editor saved the note; nil if the name has not changed.
  public var formerPath: TreePath? = nil
}

extension WriteTransaction {
  /// The notices about these saves, if they affect other devices' edits.
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

  /// The saved note's present name, if others have renamed it.
  private func presentPath(of remark: SaveRemark) throws -> TreePath {
    guard let base = remark.base, let tree = try history.tipTree(),
      try repository.entry(at: remark.path, in: tree) == nil
    else { return remark.path }
    return try history.renamedChanges(from: repository.commit(base).tree, to: tree)
      .first { $0.formerPath == remark.path }?.path ?? remark.path
  }

  /// Gives notice of saves that no command asked for: unsaved edits that another operation saved.
  func tell(_ remarks: [SaveRemark]) throws { try news(of: remarks).forEach(saveNotice) }

  /// The notices about the lines that files will remove when they replace others.
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

  /// Gives notice of the notes that a command wrote and that are not in the folder.
  func tellWaiting(after outcome: MergeOutcome) {
    for path in outcome.waiting {
      saveNotice(SaveNews(path: path, kind: .waits, lines: 0, devices: []))
    }
  }

  /// Gives notice that a text was based on an older version, and merged with the later changes.
  func tellMerged(_ path: TreePath, since base: ObjectID) throws {
    let names = try makers(
      history.othersVersions(of: path, since: base, than: device.deviceID)
    ).eachOnce
    saveNotice(SaveNews(path: path, kind: .merged, lines: 0, devices: names))
  }
}

extension History {
  /// How many versions are searched.
  private static let searchedVersions = 64

  /// The versions that changed a note since a version and that were made by devices other than
  /// `device`.
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
