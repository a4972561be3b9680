internal import ArgumentParser
internal import Exchange
internal import Git
internal import History
internal import Notebook
internal import WorkTree

struct ShowCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Print a note, as it is or as it was, or a version.",
    discussion: """
      NOTE is a title, a path, or a part of a path that only one note has. VERSION is an ID or its \
      beginning, ~N for N versions of that note ago, or a time such as yesterday, '2 hours ago' or \
      2026-11-20 (notes-versions(7)). Into a file or a pipe the command writes the note's bytes \
      unchanged; on a terminal it shows control characters as text. With only the ID of a version, \
      it shows the changes of that version.

      Examples:
        notes show Shopping
        notes show Shopping@~1
        notes show 'Shopping@2026-11-20 10:00' > before.txt
        notes show 4b82c1d0aa
      """)

  @Argument(
    help: .named("note[@version]", "The note, and a version of it; or a version's ID."),
    completion: LiveCompletion.noteVersions)
  var note: String

  @OptionGroup var paging: PagerOption
  @OptionGroup var options: CommonOptions

  func run() throws { try Self.show(note, as: paging.form(json: options.json)) }

  static func show(_ note: String, as form: OutputForm = OutputForm()) throws {
    let notebook = try NotebookLocator.notebook()
    let (path, version): (TreePath, NoteVersion?)
    do {
      (path, version) = try NotebookLocator.noteVersion(note, in: notebook)
    } catch WorkTreeError.noSuchNote(let name) {
      guard note.utf8.count >= 4, note.allSatisfy(\.isHexDigit),
        // If a word is neither a note nor a version, the error says that there is no such note.
        let commit = try? notebook.history.version(named: note)
      else { throw WorkTreeError.noSuchNote(name) }
      try show(notebook.history.version(of: commit), in: notebook, as: form)
      return
    }
    let text = try version.map(notebook.history.text) ?? notebook.workTree.text(of: path)
    if form.json {
      Output.standard.event([
        "type": "text", "title": (version?.path ?? path).noteTitle, "path": version?.path ?? path,
        "version": version?.commit.id, "size": text.count,
        "text": String(decoding: text, as: UTF8.self),
      ])
      return
    }
    defer {
      if version == nil {
        // A failure to record this only means that the note is shown as new again.
        try? ReadMarks(in: notebook.history).markRead([path])
        notebook.workTree.markRead(path)
      }
    }
    if Console.output.isInteractive {
      form.page {
        let shown = Visible.text(String(decoding: text, as: UTF8.self))
        Output.standard.write(shown.isEmpty || shown.hasSuffix("\n") ? shown : shown + "\n")
      }
    } else {
      Output.standard.write(bytes: text)
    }
  }

  private static func show(
    _ version: Version, in notebook: Notebook, as form: OutputForm
  ) throws {
    let proofs = VersionProofs(in: notebook)
    defer { proofs.remember() }
    let report = try VersionReport(Burst(version), in: notebook, proofs)
    if form.json { return Output.standard.lines([report.json]) }
    let style = VersionReport.Style(
      terminal: Console.output, now: TimeText.now, isLong: true,
      own: try notebook.history.versionsMadeHere(),
      sharedNames: OwnMembership(of: notebook).sharedNames)
    try form.page {
      Output.standard.write(report.text(in: style))
      Output.standard.write(try report.patch(in: notebook, on: Console.output))
    }
  }
}

struct BlameCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "blame", abstract: "Show who wrote each line of a note, and when.",
    discussion: """
      Follows each line through renames and automatic merges to the version that wrote it. With \
      VERSION it shows the lines of that version (notes-versions(7)).

      Examples:
        notes blame Shopping
        notes blame Shopping@yesterday --long
      """)

  @Argument(
    help: .named("note[@version]", "The note, and a version of it."),
    completion: LiveCompletion.noteVersions)
  var note: String

  @Flag(name: .shortAndLong, help: "Show exact times.") var long = false

  @OptionGroup var paging: PagerOption
  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let (path, version) = try NotebookLocator.noteVersion(note, in: notebook)
    let report = try BlameReport(
      notebook.history.blame(path, at: version), in: notebook,
      sharedNames: OwnMembership(of: notebook).sharedNames)
    paging.page(unless: options.json) {
      options.write(report.json) { report.text(on: $0, now: TimeText.now, isLong: long) }
    }
  }
}
