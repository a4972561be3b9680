internal import Git
internal import Notebook

/// What `notes save` did.
struct SaveReport {
  let result: SaveResult

  var json: JSON {
    [
      "type": .string("saved"), "version": result.version.map(JSON.id) ?? .null,
      "changes": .array(result.changes.map(\.json)),
      "skipped": .array(result.skipped.map(\.json)),
    ]
  }

  func text(on terminal: Terminal) -> String {
    var text = ""
    if let version = result.version {
      text += "Saved version \(terminal.paint(version.short, .yellow))\n"
      text += ChangeList(changes: result.changes).text(on: terminal)
    } else {
      text += "Nothing changed since the last version.\n"
    }
    if !result.skipped.isEmpty {
      let count = result.skipped.count
      text +=
        "\(Counted.things(count, "file")) \(count == 1 ? "is" : "are") not versioned; "
        + "'notes status' shows why\n"
    }
    return text
  }
}
