internal import Git
internal import Notebook
internal import WorkTree

struct SaveReport {
  let result: SaveResult

  var json: JSON {
    [
      "type": "saved", "version": result.version, "changes": result.changes,
      "skipped": result.skipped,
    ]
  }

  func text(on terminal: Terminal) -> String {
    var text = ""
    if let version = result.version {
      text += "Saved version \(terminal.paint(version))\n"
      text += ChangeList(changes: result.changes).text(on: terminal)
    } else {
      text += "Nothing changed since the last version.\n"
    }
    let sparse = result.skipped.count { $0.reason == .sparse }
    text += Self.pointer(to: result.skipped.count - sparse, "file", "not versioned")
    text += Self.pointer(to: sparse, "note", "not in this folder")
    return text
  }

  private static func pointer(to count: Int, _ thing: String, _ what: String) -> String {
    count == 0
      ? ""
      : "\(Phrase.count(count, thing)) \(count == 1 ? "is" : "are") \(what); "
        + "'notes status' shows why\n"
  }
}
