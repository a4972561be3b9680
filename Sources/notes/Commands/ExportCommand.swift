internal import ArgumentParser
internal import Git
internal import Glibc
internal import History
internal import Notebook
internal import System
internal import WorkTree

struct ExportCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write notes out as plain files, or into an archive.",
    discussion: """
      TARGET is a new folder, or an archive if its name ends in .zip, .tar or .tar.gz; archives need \
      git. Without NOTE, export writes all notes and attachments. It first saves the changes in the \
      folder; with --at it exports the notebook as it was at that time.

      Examples:
        notes export ~/notes-today
        notes export notes.zip
        notes export --at 2026-01-01 last-year.tar.gz
        notes export rome.zip trips/Rome trips/maps/
      """)

  @Argument(
    help: .named("target", "A new folder, or FILE.zip, FILE.tar or FILE.tar.gz."),
    completion: .directory)
  var target: String

  @Argument(
    help: .named("note", "Only these notes or folders."), completion: LiveCompletion.notesAndFolders
  )
  var notes: [String] = []

  @Option(
    help: .named(
      "version",
      "Export the notebook as it was: a version or a time "
        + "(notes-versions(7))."),
    completion: .times)
  var at: String?

  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let place = try NotebookLocator.folder(target)
    try notebook.checkIsOutside(place, named: target)
    guard Self.isFree(place) else {
      throw Failure(
        .failed, "target_exists", "\(Visible.name(target)) already exists",
        hint: "nothing is overwritten: choose another name")
    }
    let paths = try notes.map {
      try NotebookLocator.item($0, in: notebook, among: at == nil ? .present : .former).path
    }
    if at == nil { _ = try DeletionOption.foundBefore { try notebook.save() } }
    let tip = try notebook.state().tip.map(notebook.repository.commit)
    guard let version = try at.map({ try notebook.history.pastVersion(named: $0) }) ?? tip else {
      throw Failure.usage("there is nothing to export yet", hint: "'notes new' makes a note")
    }
    var program = GitProgram()
    program.cancellation = try Interruption.token()
    let line = ProgressLine()
    defer { line.clear() }
    let exported = try notebook.export(
      version, only: paths, to: ExportTarget(path: place), by: program
    ) { done, all in
      if Interruption.hasCome { throw Failure.interrupted }
      line.show("writing \(Phrase.bytes(done)) of \(Phrase.bytes(all))")
    }
    line.clear()
    options.tell(
      [
        "type": "exported", "target": place, "version": exported.version, "files": exported.files,
        "bytes": exported.bytes,
      ],
      "Wrote \(Phrase.count(exported.files, "file")) (\(Phrase.bytes(exported.bytes))) to "
        + Visible.name(target))
  }

  /// Whether nothing is there or, for an export into a folder, only an empty folder.
  private static func isFree(_ place: String) -> Bool {
    var status = stat()
    guard Counted.lstat(place, &status) == 0 else { return true }
    guard case .folder = ExportTarget(path: place), status.st_mode & S_IFMT == S_IFDIR
    else { return false }
    // A folder that cannot be listed may not be empty.
    return (try? Disk.names(in: place).isEmpty) ?? false
  }
}

extension Notebook {
  /// Throws if a command's output would be in the notebook.
  func checkIsOutside(_ place: String, named name: String) throws(Failure) {
    guard contains(place: place) else { return }
    let lastName = name.split(separator: "/").last.map(String.init) ?? name
    throw Failure.usage(
      "\(Visible.name(name)) is in the notebook, so it would be versioned",
      hint: "write it somewhere else, for instance to ~/\(Visible.word(lastName))")
  }
}

struct ImportCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Copy the files of another folder into the notebook.",
    discussion: """
      Copies the files of DIR, except hidden ones, into the notebook, and dates the versions by when \
      the files were last changed. It overwrites nothing: it names the files whose names are \
      taken here, and does not copy them. DIR stays as it is.

      Examples:
        notes import --dry-run ~/Documents/old-notes
        notes import ~/Documents/old-notes --into archive
      """)

  @Argument(help: .named("dir", "The folder to copy from."), completion: .directory)
  var source: String

  @Option(help: .named("folder", "The notebook's folder to copy into."))
  var into: String?

  @Flag(help: "Also add files that look like keys or credentials.") var include = false

  @OptionGroup var trial: DryRunOption
  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let folder = try NotebookLocator.folder(source)
    var status = stat()
    guard let there = realPath(of: folder), let own = realPath(of: notebook.folder),
      Counted.stat(there, &status) == 0, status.st_mode & S_IFMT == S_IFDIR
    else {
      throw Failure(
        .failed, "no_such_folder", "there is no folder \(Visible.name(source))",
        hint: "name the folder to import")
    }
    if notebook.contains(place: there) || there == "/" || (own + "/").hasPrefix(there + "/") {
      throw Failure.usage(
        "one of \(Visible.name(source)) and the notebook's folder is inside the other",
        hint: "'notes save' saves the files in the notebook's folder")
    }
    let target = try into.map {
      try notebook.path(
        titled: NotebookLocator.trimmed($0), in: NotebookLocator.currentFolder(in: notebook),
        suffix: "")
    }
    let line = ProgressLine()
    defer { line.clear() }
    func take(includesSecrets: Bool) throws -> Imported {
      try notebook.importFiles(
        from: there, into: target ?? "", includesSecrets: includesSecrets, trial: trial.isOn
      ) {
        if Interruption.hasCome { throw Failure.interrupted }
        line.show("reading", $0, of: $1, "file")
      }
    }
    _ = try Interruption.token()
    var imported = try DeletionOption.foundBefore { try take(includesSecrets: include) }
    line.clear()
    if !include, !trial.isOn, !imported.secrets.isEmpty {
      try NotebookPlace.demandConsent(toSecrets: imported.secrets)
      imported = try DeletionOption.foundBefore { try take(includesSecrets: true) }
      line.clear()
    }
    options.write([imported.json(isTrial: trial.isOn)]) {
      imported.text(isTrial: trial.isOn, on: $0)
    }
  }
}

extension Imported {
  fileprivate func json(isTrial: Bool) -> JSON {
    [
      "type": "imported", "added": added, "bytes": bytes, "versions": versions, "present": present,
      "taken": taken, "ignored": ignored, "skipped": skipped.map(\.json), "version": version,
      "dry_run": isTrial,
    ]
  }

  fileprivate func text(isTrial: Bool, on terminal: Terminal) -> String {
    var lines: [String] = []
    let what = "\(Phrase.count(added.count, "file")) (\(Phrase.bytes(bytes)))"
    let count = Phrase.count(versions, "version")
    if added.isEmpty {
      lines.append(isTrial ? "There is nothing to import." : "Nothing came in.")
    } else if let version {
      lines.append("Imported \(what), as \(count): the last is \(terminal.paint(version))")
    } else {
      lines.append("This would import \(what), as \(count).")
    }
    func others(_ count: Int, _ standing: String) {
      if count == 0 { return }
      lines.append("\(Phrase.count(count, "file")) \(count == 1 ? "is" : "are") \(standing).")
    }
    others(present, "already here with the same content")
    others(ignored, "excluded by .gitignore")
    for path in taken {
      lines.append("  not imported  \(Visible.name(path)): another file here has that name")
    }
    return lines.map { $0 + "\n" }.joined() + skipped.text(on: terminal)
  }
}
