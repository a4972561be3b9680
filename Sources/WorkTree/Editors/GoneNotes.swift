internal import Git
internal import Glibc
internal import System

/// Saves of editors that have a note open which a checkout removed, because it was renamed or deleted:
/// notes-merge(7), "The stale editor".
extension SaveBases {
  /// The text of a removed note on which a new file in its place is based; nil if the file is a new
  /// note.
  ///
  /// - Parameters:
  ///   - saved: the text of the file.
  ///   - device: the file system that it is on.
  func base(ofGone path: TreePath, saved: ObjectID, device: dev_t) throws -> SaveBase? {
    let repository = workTree.repository
    let entries = try log.entries(upToRemovalOf: path).filter {
      try repository.contains($0.base) && repository.contains($0.old)
    }
    guard let removal = entries.last, removal.new == nil else { return nil }
    let evidence = SaveEvidence(
      entries: entries, saved: saved, present: saved, now: WallClock.precise.nanoseconds,
      reading: .unknown,
      lock: { EditorLock.birth(of: path, in: workTree.folder) },
      open: { OpenFiles.open(among: $0, on: device) },
      runs: { EditRuns.all(of: path, stateFolder: workTree.stateFolder) })
    return try evidence.baseOfGone(reading: repository.blob) { try isRenamed(path, $0) }
  }
}

extension SaveEvidence {
  /// The text of the removed note on which the writer of a new file in its place based the file. Nil if
  /// nothing proves that the writer had the note.
  ///
  /// - Parameter isRenamed: whether the note of a commit has another name now.
  fileprivate func baseOfGone(
    reading blob: (ObjectID) throws -> [UInt8], isRenamed: (ObjectID) throws -> Bool
  ) throws -> SaveBase? {
    let isSame = entries.contains { $0.old == saved }
    if let proof = proofs.filter({ $0.text < entries.count }).min(by: { $0.text < $1.text }) {
      // If the same text returns for a deleted note, somebody wants the note back.
      let isSave = try !isSame || isRenamed(entries[proof.text].base)
      return isSave ? base(proof.text, proof.evidence) : nil
    }
    guard now - entries[entries.count - 1].time < Self.doubt else { return nil }
    if let text = entries.lastIndex(where: { $0.old == saved && $0.isStaleSave }) {
      // The same text is saved again after a late save of it, as with ':w' and then ':wq' in vim.
      return try isRenamed(entries[text].base) ? base(text, .lines) : nil
    }
    // If the text is the same, somebody put a copy of the note there.
    guard !isSame, let shares = try shares(reading: blob), let most = shares.max(), most >= 0.5,
      let text = shares.lastIndex(of: most)
    else { return nil }
    return base(text, .lines)
  }

  private func base(_ text: Int, _ evidence: SaveBase.Evidence) -> SaveBase {
    SaveBase(
      unseen: entries[text], evidence: evidence, taken: 0, since: entries[text].base)
  }

  /// How much of each older text the save has; nil if one of them is not text, or if they are too
  /// large.
  private func shares(reading blob: (ObjectID) throws -> [UInt8]) throws -> [Double]? {
    var table = LineTexts()
    var total = 0
    func text(_ id: ObjectID) throws -> LineTexts.Text? {
      let bytes = try blob(id)
      total += bytes.count
      return total > Self.largestText || bytes.contains(0) ? nil : table.text(bytes)
    }
    guard let saved = try text(saved) else { return nil }
    var shares: [Double] = []
    for entry in entries {
      guard let old = try text(entry.old) else { return nil }
      shares.append(old.lines.isEmpty ? 0 : saved.share(of: old))
    }
    return shares
  }
}
