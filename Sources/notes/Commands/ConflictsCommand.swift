internal import ArgumentParser
internal import Git
internal import History
internal import Merge
internal import Notebook

struct ConflictsCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "conflicts", abstract: "List the notes with a conflict to resolve.",
    discussion: """
      A conflict is where edits of several devices met on the same lines. The note holds every \
      text between markers, on every device alike, until somebody edits the markers away or uses \
      'notes resolve'. Everything else goes on as usual meanwhile.

      Examples:
        notes conflicts
        notes conflicts --json
      """)

  @OptionGroup var options: CommonOptions

  func run() throws {
    let conflicts = try NotebookLocator.notebook().history.conflicts()
    options.write(conflicts.map(\.json)) { conflicts.text(on: $0, now: TimeText.now) }
  }
}

struct ResolveCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "resolve",
    abstract: "Settle a conflict by choosing among the texts between the markers.",
    discussion: """
      Makes a version with the chosen text in place of each block of markers. Editing the markers \
      away and saving does the same. What is not chosen stays in the history.

      Examples:
        notes resolve Shopping --keep both
        notes resolve Journal --keep newer
        notes resolve Journal --keep Ann
      """)

  @Argument(help: .named("note", "The note."), completion: LiveCompletion.notes) var note: String

  @Option(
    help: .named("side", "The text to keep: older, newer, both, or who wrote it."),
    completion: .list(["older", "newer", "both"]))
  var keep: String

  @OptionGroup var options: CommonOptions

  func run() throws {
    let resolution: Resolution =
      switch keep {
      case "older": .older
      case "newer": .newer
      case "both": .both
      default: .side(name: keep)
      }
    let notebook = try NotebookLocator.notebook()
    let path = try NotebookLocator.note(note, in: notebook)
    let version: ObjectID?
    do {
      version = try notebook.resolve(path, keeping: resolution)
    } catch MergeError.noSide {
      throw Self.noSide(keep, of: try notebook.history.conflicts().first { $0.path == path })
    } catch MergeError.noConflict {
      throw Failure(
        .failed, "no_conflict", "\(Visible.name(path)) has no conflict",
        hint: "'notes conflicts' lists the notes that have one")
    }
    let left = try notebook.state().conflictCount
    options.tell(
      ["type": "resolved", "path": path, "version": version, "conflicts": left],
      "Resolved \(Visible.name(path))."
        + (left > 0 ? "\n\(Phrase.count(left, "conflict")) left to resolve." : ""))
  }

  private static func noSide(_ name: String, of conflict: Conflict?) -> Failure {
    let choices = ["older", "newer", "both"] + (conflict?.sideNames ?? [])
    return Failure(
      .failed, "no_such_side", "'\(Visible.name(name))' wrote none of the texts",
      hint: "keep " + Phrase.list(choices.map { "'\($0)'" }, "or"))
  }
}
