internal import ArgumentParser
internal import Git
internal import Notebook

struct RestoreCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Bring back a note as it was.",
    discussion: """
      The present text is saved first and the restored one is a new version, so nothing is lost. \
      A deleted note comes back the same way. With --as the old text becomes a note of its own.

      Examples:
        notes restore Shopping@~1
        notes restore 'Shopping@2026-11-20' --as 'Shopping before'
      """)

  @Argument(help: ArgumentHelp("The note and its version.", valueName: "note@version"))
  var note: String

  @Option(
    name: .customLong("as"),
    help: ArgumentHelp("Restore it as another note.", valueName: "title"))
  var title: String?

  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  var writesJSON: Bool { format.json }

  func perform() throws -> Exit {
    let notebook = try Place.notebook()
    let (path, version) = try Place.noteAndVersion(note, in: notebook)
    guard let version else {
      throw Failure.usage(
        "which version of \(Visible.name(path.noteTitle)) to restore is missing",
        hint: "write NOTE@VERSION; 'notes log \(Visible.word(path.noteTitle))' shows the versions")
    }
    let target = try title.map { try Self.target(titled: $0, beside: path, in: notebook) }
    let made = try notebook.restore(path, from: version, as: target)
    let shown = target ?? path
    if format.json {
      Output.standard.event([
        "type": .string("restored"), "path": .path(shown), "from": .id(version.id),
        "version": made.map(JSON.id) ?? .null,
      ])
      return .done
    }
    let when = TimeText.relative(version.author.time, now: TimeText.now)
    if let made {
      Output.standard.line(
        "Restored \(Visible.name(shown)) as it was in \(version.id.short), \(when): version "
          + Console.output.paint(made.short, .yellow))
    } else {
      Output.standard.line("\(Visible.name(shown)) is already as it was in \(version.id.short).")
    }
    return .done
  }

  /// The path of a new note of that title in the same folder, with the same suffix.
  private static func target(
    titled title: String, beside path: TreePath, in notebook: Notebook
  ) throws -> TreePath {
    guard !title.isEmpty, !title.contains("/"), title != ".", title != ".." else {
      throw Failure.usage("'\(Visible.name(title))' cannot be the title of a note")
    }
    let wanted = TreePath(title)
    let suffix = path.isNote ? path.name.bytes.dropFirst(Array(path.noteTitle.utf8).count) : []
    let name = wanted.isNote ? wanted : TreePath(bytes: wanted.bytes + suffix)
    let target = path.parent?.appending(name) ?? name
    if (try? notebook.text(of: target)) != nil {
      throw Failure(
        .failed, "note_exists", "there is a note \(Visible.name(target)) already",
        hint: "choose another title")
    }
    return target
  }
}
