internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook
internal import WorkTree

/// A note in conflict as it is told, with what the signatures of its sides' versions say.
struct ConflictReport {
  let conflict: Conflict
  fileprivate let proofs: [ObjectID: VersionProof]
  /// Versions of which it is not proved who made them.
  fileprivate let unproved: Set<ObjectID>
  fileprivate let sharedNames: SharedNames

  /// Each name once: one person may have written several sides. Devices of one name are told apart.
  private var sideNames: [String] {
    conflict.sides.map { side in
      let isUnproved = side.version.map { unproved.contains($0) } ?? false
      let mark = isUnproved && !side.isMarkedUnsigned ? " (unsigned)" : ""
      return sharedNames.shown(side.name, side.device) + mark
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
    let sharedNames = OwnStanding(of: self).sharedNames
    let checker = VersionProofs(in: self)
    return try conflicts.map { conflict in
      var proofs: [ObjectID: VersionProof] = [:]
      var unproved: Set<ObjectID> = []
      for id in Set(conflict.sides.compactMap(\.version)) {
        let commit = try repository.commit(id)
        proofs[id] = try checker.proof(of: commit)
        if try checker.isUnproved(commit) { unproved.insert(id) }
      }
      return ConflictReport(
        conflict: conflict, proofs: proofs, unproved: unproved, sharedNames: sharedNames)
    }
  }
}

extension [ConflictReport] {
  func text(on terminal: Terminal, now: Int64, indent: String = "") -> String {
    if isEmpty { return "No conflicts.\n" }
    return Table(flexible: 1, indent: indent, rows: map { $0.cells(now: now) }).text(on: terminal)
  }

  /// How many there are, if any, as the last line of a report.
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
        [
          "name": side.name, "device": side.device,
          "time": side.time.map { TimeText.rfc3339($0) }, "date": side.date,
          "version": side.version, "signature": side.version.flatMap { proofs[$0]?.rawValue },
        ] as JSON
      },
      "blocks": conflict.blockCount,
    ]
  }
}
