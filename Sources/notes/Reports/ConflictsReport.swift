internal import History
internal import Notebook

/// The notes with an open conflict.
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
        Table.Cell(Visible.name(conflict.path), .yellow),
        Table.Cell(Counted.list(names)),
        Table.Cell(TimeText.relative(conflict.since, now: now), .dim),
      ])
    }
    return table.lines(for: terminal).map { $0 + "\n" }.joined()
  }
}

extension Conflict {
  var json: JSON {
    [
      "path": .path(path), "since": .string(TimeText.rfc3339(since)), "version": .id(version),
      "sides": .array(
        sides.map { side in
          [
            "name": .string(side.name),
            "time": .optional(side.time.map { TimeText.rfc3339($0) }),
            "date": .string(side.date),
          ]
        }),
    ]
  }
}
