internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook
internal import WorkTree

/// A note in conflict for a report, with the results of checking the signatures of its sides'
/// versions.
struct ConflictReport {
  let conflict: Conflict
  fileprivate let authors: [ObjectID: VersionAuthor]
  fileprivate let sharedNames: SharedNames

  /// The authors of the sides, each name once: one person may have written several sides. Devices with the
  /// same name are distinguished. A side without a known version is text that somebody wrote between the
  /// markers.
  private var sideNames: [String] {
    conflict.sides.map { side in
      if let author = side.version.flatMap({ authors[$0] }) { return sharedNames.shown(author) }
      return Visible.name(side.name) + (side.isMarkedUnsigned ? "" : " (unsigned)")
    }.eachOnce
  }

  fileprivate func cells(now: Int64) -> [Styled] {
    [
      Styled(Visible.name(conflict.path), .yellow), Styled(Phrase.list(sideNames)),
      Styled(TimeText.relative(conflict.since, now: now), .dim),
    ]
  }
}

extension Notebook {
  /// The notes with an open conflict, by path.
  func conflictReports() throws -> [ConflictReport] {
    let conflicts = try history.conflicts()
    if conflicts.isEmpty { return [] }
    let sharedNames = OwnMembership(of: self).sharedNames
    let proofs = VersionProofs(in: self)
    defer { proofs.remember() }
    return try conflicts.map { conflict in
      var authors: [ObjectID: VersionAuthor] = [:]
      for id in Set(conflict.sides.compactMap(\.version)) {
        authors[id] = try proofs.author(of: id)
      }
      return ConflictReport(conflict: conflict, authors: authors, sharedNames: sharedNames)
    }
  }
}

extension [ConflictReport] {
  func text(on terminal: Terminal, now: Int64, indent: String = "") -> String {
    if isEmpty { return "No conflicts.\n" }
    return Table(flexible: 1, indent: indent, rows: map { $0.cells(now: now) }).text(on: terminal)
  }

  /// The number of conflicts, if any, as the last line of a report.
  var summary: String {
    if isEmpty { return "" }
    return Phrase.count(count, "note") + " in conflict: 'notes conflicts' lists "
      + (count == 1 ? "it" : "them") + "\n"
  }
}

extension ConflictReport: JSONEncodable {
  var json: JSON {
    [
      "type": "conflict", "path": conflict.path, "since": TimeText.rfc3339(conflict.since),
      "version": conflict.version,
      "sides": conflict.sides.map { side in
        let author = side.version.flatMap { authors[$0] }
        return [
          "name": author?.name ?? side.name, "device": side.device,
          "time": side.time.map { TimeText.rfc3339($0) }, "date": side.date,
          "version": side.version, "signature": author?.proof.rawValue,
        ] as JSON
      },
      "blocks": conflict.blockCount,
    ]
  }
}
