internal import Git
internal import History
internal import Notebook
internal import WorkTree

extension SaveNews {
  var json: JSON {
    [
      "path": path, "what": kind.rawValue, "lines": lines, "devices": devices,
      "looks_like": looksLike, "former_path": formerPath,
    ]
  }

  /// The sentence for people.
  var sentence: String {
    let names = Phrase.list(devices.map { Visible.name($0) })
    switch kind {
    case .merged:
      let others = devices.isEmpty ? "the later edits" : "the edits of \(names)"
      let saved =
        formerPath.map { "under its former name, \(Visible.name($0))" } ?? "on an older text"
      return "\(Visible.name(path)) was saved \(saved), and merged with \(others)"
    case .tookAway:
      return
        "this save of \(Visible.name(path)) removes \(Phrase.count(lines, "line")) that came from "
        + "\(names)"
    case .secret:
      return "\(Visible.name(path)) now contains text that looks like "
        + "\(looksLike ?? "a secret")"
    case .linkParted:
      return "\(Visible.name(path)) had a second name on this disk, which keeps the old text"
    case .waits: return "\(Visible.name(path)) is in that version, but not in this folder"
    }
  }

  /// The next step for the person.
  var hint: String {
    switch kind {
    case .merged: "'notes log --patch \(Visible.word(path.noteTitle))' shows the edits"
    case .tookAway: "'notes undo' brings these lines back"
    case .secret:
      "'notes forget --text' removes it from all versions, on every device; if it is intentional, "
        + "use --include"
    case .waits: "'notes status' says what is in its place"
    case .linkParted:
      "to have one text again, replace the second name by a symbolic link to the "
        + "note"
    }
  }

  /// The lines on standard error.
  var warning: String { "notes: warning: \(sentence)\nnotes: hint: \(hint)\n" }
}
