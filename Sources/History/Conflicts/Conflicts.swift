public import Git
internal import Merge
internal import WorkTree

/// A note with an open conflict.
public struct Conflict: Hashable, Sendable {
  /// One of the texts between the markers.
  public struct Side: Hashable, Sendable {
    /// The author, from the marker.
    public let name: String
    /// The device on which it was written; nil if no version of the note has that name and date.
    public let device: String?
    /// The date, from the marker: `YYYY-MM-DD HH:MM` in the writer's zone.
    public let date: String
    /// The time, in seconds since 1970; nil if no version of the note has that name and date.
    public let time: Int64?
    /// The last version of the note with that name and date; nil if there is none.
    public let version: ObjectID?
    /// Whether the marker says that nothing proves the author.
    public var isMarkedUnsigned: Bool { name.hasSuffix(SideLabel.unsigned) }
  }

  /// The note with the conflict blocks.
  public let path: TreePath
  /// The time of the merge that made the conflict, in seconds since 1970.
  public let since: Int64
  /// The merge that made the conflict.
  public let version: ObjectID
  /// The sides of all blocks in the note, each once, in the note's order.
  public let sides: [Side]
  /// The number of blocks in the note.
  public let blockCount: Int
}

extension History {
  /// The notes with an open conflict in the tip, by path.
  package func openConflictPaths() throws -> [TreePath] { try openConflicts().keys.sorted() }

  /// The notes that have conflict markers in the tip, and the sizes of the markers.
  package func openConflicts() throws -> [TreePath: Int] {
    guard let tip = try repository.head().commit else { return [:] }
    return try OpenConflicts.conflicts(at: tip, in: repository)
  }

  /// The notes with an open conflict, by path. A note without markers in the folder is left out, whether it is
  /// saved or not.
  public func conflicts() throws -> [Conflict] {
    guard try state().conflictCount > 0 else { return [] }
    let index = try workTree.indexFile()
    // Markers that were edited away, or deleted with the note, are not a conflict.
    let marked = try openConflicts().compactMap {
      path, size -> (path: TreePath, blocks: [[MarkedText.Side]])? in
      // Skip a note that cannot be read; a save reports it.
      guard let text = try? workTree.text(of: path, by: index) else { return nil }
      let blocks = MarkedText(text, markerSize: size).blocks
      return blocks.isEmpty ? nil : (path, blocks)
    }.sorted { $0.path < $1.path }
    let origins = try origins(ofConflictsIn: Set(marked.map(\.path)))
    return try marked.compactMap { path, blocks in
      guard let origin = origins[path] else { return nil }
      var labels: [MarkedText.Side] = []
      for side in blocks.flatMap({ $0 }) where !labels.contains(where: { $0.label == side.label }) {
        labels.append(side)
      }
      let writers = try writers(ofLabels: labels.map(\.label), in: path)
      return Conflict(
        path: path, since: origin.committer.time, version: origin.id,
        sides: labels.map { side in
          let writer = writers[side.label]
          return Conflict.Side(
            name: side.name, device: writer?.deviceID, date: side.date, time: writer?.author.time,
            version: writer?.id)
        }, blockCount: blocks.count)
    }
  }

  /// The oldest version from which each conflict has been open without interruption, along the first parents
  /// that have it. All notes are followed together, so that each version's list is read once.
  private func origins(ofConflictsIn paths: Set<TreePath>) throws -> [TreePath: Commit] {
    guard let tip = try repository.head().commit, !paths.isEmpty else { return [:] }
    var found: [TreePath: Commit] = [:]
    var waiting = [tip: paths]
    while let (id, paths) = waiting.popFirst() {
      let commit = try repository.commit(id)
      var rest = paths
      for parent in commit.parents where !rest.isEmpty {
        let open = try OpenConflicts.conflicts(at: parent, in: repository)
        let inherited = rest.filter { open[$0] != nil }
        if inherited.isEmpty { continue }
        waiting[parent, default: []].formUnion(inherited)
        rest.subtract(inherited)
      }
      for path in rest { found[path] = commit }
    }
    return found
  }

  /// The times, in seconds since 1970, at which the versions named by the labels in a note's blocks were
  /// written. Labels that name no version are missing.
  package func times(
    ofLabels labels: [[UInt8]], in path: TreePath
  ) throws -> [[UInt8]: Int64] {
    try writers(ofLabels: labels, in: path).mapValues(\.author.time)
  }

  /// The last versions of a note that the labels in its blocks name, by label.
  package func writers(
    ofLabels labels: [[UInt8]], in path: TreePath
  ) throws -> [[UInt8]: Commit] {
    let wanted = Set(labels)
    var found: [[UInt8]: Commit] = [:]
    if wanted.isEmpty { return found }
    try forEachVersion(of: path) { version in
      let author = version.commit.author
      for label in [SideLabel.text(for: author), SideLabel.unmarkedText(for: author)]
      where wanted.contains(label) && found[label] == nil { found[label] = version.commit }
      return found.count < wanted.count
    }
    return found
  }
}
