internal import Git
internal import History
internal import Notebook
internal import WorkTree

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
      "type": "initialised", "notebook": identity.id, "name": identity.name, "path": folder,
      "device": identity.device.deviceID, "device_name": identity.device.name, "notes": noteCount,
      "attachments": fileCount, "tip": tip, "skipped": saved.skipped,
    ]
  }

  func text(on terminal: Terminal) -> String {
    var held = [Phrase.count(noteCount, "note")]
    if fileCount > 0 { held.append(Phrase.count(fileCount, "attachment")) }
    let name = terminal.paint(Visible.name(identity.name), .bold)
    var text = "Notebook \(name) in \(Visible.name(folder))\n"
    text +=
      tip == nil
      ? "It is empty so far.\n"
      : "The first version holds \(Phrase.list(held)).\n"
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
