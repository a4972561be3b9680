internal import Git
internal import History
internal import Notebook

/// What `notes init` made.
struct InitReport {
  let identity: NotebookIdentity
  let folder: String
  let noteCount: Int
  let fileCount: Int
  let saved: SaveResult
  let tip: ObjectID?
  /// The notebook that this one lies in.
  var outer: String?

  var json: JSON {
    [
      "type": .string("initialised"), "notebook": .string(identity.id),
      "name": .string(identity.name), "path": .string(folder),
      "device": .string(identity.device.deviceID), "device_name": .string(identity.device.name),
      "notes": .int(noteCount), "attachments": .int(fileCount),
      "tip": tip.map(JSON.id) ?? .null, "skipped": .array(saved.skipped.map(\.json)),
    ]
  }

  func text(on terminal: Terminal) -> String {
    var held = [Counted.things(noteCount, "note")]
    if fileCount > 0 { held.append(Counted.things(fileCount, "attachment")) }
    let name = terminal.paint(Visible.name(identity.name), .bold)
    var text = "Notebook \(name) in \(Visible.name(folder))\n"
    text +=
      tip == nil
      ? "It is empty so far.\n"
      : "The first version holds \(Counted.list(held)).\n"
    if let outer {
      text += "It lies in the notebook \(Visible.name(outer)), which leaves it out.\n"
    }
    text += SkippedFiles(saved.skipped).text(on: terminal)
    text += """

      Next:
        notes save      makes a version of what you wrote
        notes invite    lets another device join


      """.dropLast()
    return text
  }
}
