internal import History
internal import Notebook

struct ConflictsReport {
  let conflicts: [Conflict]

  func text(on terminal: Terminal, now: Int64) -> String {
    guard !conflicts.isEmpty else { return "No conflicts.\n" }
    return lines(on: terminal, now: now, indent: "")
  }

  /// A line a conflict: the note, whose texts stand in it, and since when.
  func lines(on terminal: Terminal, now: Int64, indent: String = "  ") -> String {
    var table = Table(flexible: 1, indent: indent)
    for conflict in conflicts {
      // One person may have written several sides.
      var names: [String] = []
      for side in conflict.sides where !names.contains(Visible.name(side.name)) {
        names.append(Visible.name(side.name))
      }
      table.add([
        Styled(Visible.name(conflict.path), .yellow),
        Styled(Phrase.list(names)),
        Styled(TimeText.relative(conflict.since, now: now), .dim),
      ])
    }
    return table.text(on: terminal)
  }
}

extension Conflict: JSONEncodable {
  var json: JSON {
    [
      "path": path, "since": TimeText.rfc3339(since), "version": version,
      "sides": sides.map { side in
        [
          "name": side.name, "time": side.time.map { TimeText.rfc3339($0) }, "date": side.date,
        ] as JSON
      },
    ]
  }
}
