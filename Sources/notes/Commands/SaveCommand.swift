internal import ArgumentParser
internal import Git
internal import History
internal import Notebook
internal import WorkTree

struct SaveCommand: CountedCommand {
  static let configuration = CommandConfiguration(
    commandName: "save", abstract: "Save the changes in the folder as a version.",
    discussion: """
      Saves every changed, new and deleted file, or only the named notes and folders. If nothing \
      changed, it makes no version. 'notes sync' saves by itself.

      Examples:
        notes save
        notes save -m 'Plan for the summer' 'Summer plan'
        notes save .
      """)

  @Argument(
    help: .named("note", "Only these notes or folders."), completion: LiveCompletion.notesAndFolders
  )
  var notes: [String] = []

  @Option(name: .shortAndLong, help: .named("msg", "A message for the version."))
  var message: String?

  @Flag(help: "Do not warn of a text that looks like a key, a token or a file of passwords.")
  var include = false

  @OptionGroup var deletions: DeletionOption
  @OptionGroup var stats: StatsOption
  @OptionGroup var options: CommonOptions

  func run() throws {
    try Self.save(
      notes, message: message, allowDeletes: deletions.isAllowed, include: include,
      json: options.json)
  }

  static func save(
    _ notes: [String], message: String? = nil, allowDeletes: Bool = false, include: Bool = false,
    json: Bool = false
  ) throws {
    let notebook = try NotebookLocator.notebook()
    notebook.namesSecrets = !include
    let named = try NotebookLocator.items(notes, in: notebook).map(\.path)
    // The name of the notebook's own folder means all files.
    let paths = named.contains(where: \.isEmpty) ? [] : named
    // An empty message would make a version without a title. git refuses it; here it counts as no
    // message.
    let message = message.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
    // Show that the command works: with a large file, the first progress can take long.
    let waiting = WaitingLine("saving ...")
    let line = ProgressLine()
    defer { line.clear() }
    let result = try notebook.save(
      message: message, only: paths, allowsMassDeletion: allowDeletes
    ) { line.show("saving", $0, of: $1) }
    waiting.end()
    line.clear()
    let report = SaveReport(
      result: result,
      news: ToldFiles(stateFolder: notebook.stateFolder).news(among: result.skipped),
      foreign: try ForeignText.all(in: result, of: notebook),
      branch: try notebook.repository.head().branch)
    Output.standard.report(json ? [report.json] : nil) { report.text(on: $0) }
    if result.version != nil { BackgroundGC.startIfDue(in: notebook) }
    if !json { try offerToBringBack(result.skipped.filter(\.reason.isPowerLoss), in: notebook) }
  }

  /// Asks whether to restore notes that a power cut damaged.
  private static func offerToBringBack(_ cut: [SkippedFile], in notebook: Notebook) throws {
    guard !cut.isEmpty, Console.canAsk,
      try Console.confirm("Restore the last saved text?"),
      let (files, version) = try notebook.restoreDamagedFiles(cut.map(\.path))
    else { return }
    Output.standard.line(files.sentence(broughtBackIn: version))
  }
}

struct StatusCommand: CountedCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show what changed, what is in conflict, and which version this device shows.",
    discussion: """
      Lists the files that differ from the last version, the notes with a conflict to resolve, and \
      the files that are not versioned. If 'notes watch' is running, it also lists the connected \
      devices. Changes nothing.

      Examples:
        notes status
        notes -C ~/notes status --json
      """)

  @OptionGroup var stats: StatsOption
  @OptionGroup var options: CommonOptions

  func run() throws { try Self.show(json: options.json) }

  static func show(json: Bool = false) throws {
    let notebook = try NotebookLocator.notebook()
    let status = try notebook.status()
    var report = StatusReport(
      status: status, folder: notebook.folder,
      conflicts: status.state.conflictCount > 0 ? try notebook.conflictReports() : [],
      watcher: RunningWatcher.status(of: notebook), ownMembership: OwnMembership(of: notebook),
      held: RefusalNotice.all(in: notebook))
    if !json { report.roleNews = RoleNews.take(of: notebook) }
    Output.standard.report(json ? [report.json] : nil) {
      report.text(on: $0, now: TimeText.now)
    }
  }
}
