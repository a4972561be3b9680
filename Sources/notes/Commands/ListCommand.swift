internal import ArgumentParser
internal import Git
internal import History
internal import Notebook

struct ListCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the notes, last changed first.",
    discussion: """
      Lists the text notes of the folder, also those that are not saved yet; '!' marks a conflict. \
      With TEXT only those that have it in their title, in any case.

      Examples:
        notes list
        notes list plan --folder trips
        notes list --sort size --long
        notes list --since 2026-11-01
        notes list --attachments
        notes list --deleted
      """)

  enum Order: String, ExpressibleByArgument, CaseIterable { case modified, created, title, size }

  @Argument(help: .named("text", "Only notes with this in their title.")) var text: String?

  @Flag(name: .shortAndLong, help: "Also show IDs, sizes and exact times.") var long = false

  @Option(help: .named("order", "modified, created, title or size.")) var sort: Order = .modified

  @Flag(name: .shortAndLong, help: "List in the opposite order.") var reverse = false

  @Option(help: .named("dir", "Only notes in this folder."), completion: .directory)
  var folder: String?

  @Option(help: .named("date", "Only notes changed since then."), completion: .times)
  var since: String?

  @Flag(help: "List the attachments instead.") var attachments = false

  @Flag(help: "List what was deleted instead, last deleted first.") var deleted = false

  @OptionGroup var options: CommonOptions

  func validate() throws {
    if deleted, ![.modified, .title].contains(sort) {
      throw ValidationError("What was deleted can be sorted by modified or title.")
    }
  }

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let isWanted = try filter(in: notebook)
    var style = ListStyle(isLong: long, order: sort, isReversed: reverse)
    style.kind = attachments ? "attachment" : "note"
    if deleted {
      let files = try notebook.history.deletedFiles().filter { $0.path.isNote != attachments }
      style.isFiltered = !files.isEmpty
      let report = DeletedReport(files: files.filter { isWanted($0.path, $0.time) }, style)
      options.write(report.json) { report.text(on: $0, now: TimeText.now) }
    } else {
      let notes = try notebook.history.files().filter { $0.path.isNote != attachments }
      style.isFiltered = !notes.isEmpty
      let report = ListReport(notes: notes.filter { isWanted($0.path, $0.modified) }, style)
      options.write(report.json) { report.text(on: $0, now: TimeText.now) }
    }
  }

  /// By path and time of the last change. What is not saved yet is younger than all.
  private func filter(in notebook: Notebook) throws -> (TreePath, Int64?) -> Bool {
    let part = text?.lowercased()
    var start: [UInt8] = []
    if let folder {
      // A folder that was deleted has its notes still.
      let present = NotebookLocator.folderOrTop(named: folder, in: notebook)
      guard let path = present ?? (deleted ? TreePath(folder) : nil) else {
        throw Failure(
          .failed, "no_such_folder", "there is no folder '\(Visible.name(folder))'",
          hint: "it is named as seen from here, or from the notebook's top", name: folder)
      }
      start = path.isEmpty ? [] : path.bytes + [UInt8(ascii: "/")]
    }
    let first = try since.map(NamedTime.named)?.first
    return { path, time in
      if let part, !path.noteTitle.lowercased().contains(part) { return false }
      if let first, let time, time < first { return false }
      return path.bytes.starts(with: start)
    }
  }
}

extension NamedTime {
  static func named(_ text: String) throws(Failure) -> NamedTime {
    guard let time = NamedTime(parsing: text, now: TimeText.now) else {
      throw .usage(
        "'\(Visible.name(text))' is not a time",
        hint: "a time is like yesterday, '2 hours ago', 2026-11-20 or '2026-11-20 10:00'")
    }
    return time
  }
}
