internal import ArgumentParser
internal import Git
internal import History
internal import Notebook

struct MoveCommand: Verb {
  static let configuration = CommandConfiguration(
    commandName: "mv",
    abstract: "Rename a note, or move it to another folder.",
    discussion: """
      TITLE alone renames the note where it is; with folders before it, seen from the current one, \
      or as a folder with a slash at its end, it moves. A folder is renamed or moved with all that is versioned in it. The \
      history follows the note, on all devices.

      Examples:
        notes mv Rome Roma
        notes mv Rome trips/Rome
        notes mv Rome trips/
        notes mv trips/Rome ./Rome
        notes mv trips/ travels
      """)

  @Argument(help: ArgumentHelp("The note or folder.", valueName: "note"))
  var note: String

  @Argument(help: ArgumentHelp("What to call it.", valueName: "title"))
  var title: String

  @OptionGroup var format: JSONOption
  @OptionGroup var place: PlaceOption

  func perform() throws -> Exit {
    let notebook = try Place.notebook()
    let item = try Place.item(note, in: notebook)
    let target = try target(of: item, in: notebook)
    let done = try DeletionOption.foundBefore {
      switch item {
      case .note(let path): try notebook.rename(path, to: target)
      case .folder(let path): try notebook.rename(folder: path, to: target)
      }
    }
    if format.json {
      Output.standard.event([
        "type": .string("renamed"),
        "renamed": .array(
          done.files.map { ["from": .path($0.old), "to": .path($0.new)] }),
        "version": done.version.map(JSON.id) ?? .null,
      ])
    } else if let version = done.version {
      let slash = item == .folder(item.path) ? "/" : ""
      let count = slash.isEmpty ? "" : " with \(Counted.things(done.files.count, "file"))"
      Output.standard.line(
        "Renamed \(Visible.name(item.path))\(slash) to \(Visible.name(target))\(slash)\(count): "
          + "version " + Console.output.paint(version.short, .yellow))
    } else {
      Output.standard.line("\(Visible.name(target)) is called so already.")
    }
    return .done
  }

  private func target(of item: Item, in notebook: Notebook) throws -> TreePath {
    let here = Place.currentFolder(in: notebook)
    let suffix =
      switch item {
      case .folder: ""
      case .note(let path): path.noteSuffix
      }
    guard title.hasSuffix("/") else {
      let folder = title.contains("/") ? here : item.path.parent ?? ""
      return try notebook.path(titled: title, in: folder, suffix: suffix)
    }
    if let folder = Place.folderOrTop(named: title, in: notebook) {
      return folder.appending(item.path.name)
    }
    var name = title
    while name.hasSuffix("/") { name.removeLast() }
    let folder = try notebook.path(titled: name, in: here, suffix: "")
    if case .folder = item { return folder }
    return folder.appending(item.path.name)
  }
}
