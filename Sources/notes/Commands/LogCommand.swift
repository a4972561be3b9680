internal import ArgumentParser
internal import Exchange
internal import Git
internal import History
internal import Notebook

struct LogCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "log", abstract: "Show the versions, newest first: who, when, and what changed.",
    discussion: """
      With NOTE, shows only the versions that changed that note, also under its former names; with \
      a folder, those that changed something in it. Versions saved in one go are one entry. \
      Automatic merges appear only if they left a conflict, or merged edits of one line by words.

      Examples:
        notes log
        notes log Shopping -n 5
        notes log --since monday --by Ben -p
        notes log --graph Shopping
        notes log trips/
      """)

  @Argument(
    help: .named("note", "Only versions that changed this note or folder."),
    completion: LiveCompletion.notesAndFolders)
  var note: String?

  @Option(
    name: [.customShort("n", allowingJoined: true), .long], help: .named("n", "At most N entries."))
  var limit: Int?

  @Option(help: .named("time", "Only versions made at this time or later."), completion: .times)
  var since: String?

  @Option(help: .named("time", "Only versions made at this time or earlier."), completion: .times)
  var until: String?

  @Option(
    help: .named("name", "Only versions whose author's name contains this."),
    completion: LiveCompletion.authors)
  var by: String?

  @Flag(name: [.customShort("p"), .long], help: "Also show what changed, word by word.")
  var patch = false

  @Flag(help: "Draw which version is based on which.") var graph = false

  @Flag(help: "Show each entry on one line: ID and title.") var oneline = false

  @Option(
    help: .named(
      "text", "Format each entry: %H, %h, %s, %B, %a, %I, %t, %d and %n are its parts."))
  var format: String?

  @Flag(help: "Show every version, also merges without a conflict.") var all = false

  @Flag(name: .shortAndLong, help: "Show exact times and devices.") var long = false

  @Flag(help: "List the operations on this device instead, which 'notes undo' undoes.")
  var operations = false

  @OptionGroup var paging: PagerOption
  @OptionGroup var options: CommonOptions

  func validate() throws {
    if operations, note != nil { throw ValidationError("--operations does not go with a note.") }
    if oneline || format != nil, graph || patch {
      throw ValidationError("--oneline and --format cannot be combined with --graph or -p.")
    }
    if let limit, limit < 1 { throw ValidationError("-n takes a number from 1 on.") }
  }

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    if operations { return try showOperations(in: notebook) }
    let item = try note.map { try NotebookLocator.itemOrTop($0, in: notebook, among: .former) }
    if item?.isFolder == true, graph {
      throw Failure.usage("--graph goes with a note, not with a folder")
    }
    let path = item.flatMap { $0.isFolder ? nil : $0.path }
    let nearest = try graph ? path.map { try notebook.history.parents(inHistoryOf: $0) } : nil
    var walk = try notebook.history.versions(of: path, includingDerived: true, in: period())
    if let folder = item, folder.isFolder, !folder.path.isEmpty {
      walk = VersionWalk(walk, below: folder.path)
    }
    // The next command then finds the note's versions at once.
    defer { if walk.lacksTable { BackgroundGC.start(inFolder: notebook.folder) } }
    let proofs = VersionProofs(in: notebook)
    defer { proofs.remember() }
    var entries = LogEntries(
      walk: walk, proofs, author: by, showsAll: all || graph,
      folds: !(all || graph || options.json),
      oneNoteIn: path == nil ? nil : notebook.repository, limit: limit ?? .max)
    if options.json {
      return try entries.forEach {
        let report = try VersionReport($0, in: notebook, proofs)
        Output.standard.lines([try patch ? report.json(patchIn: notebook) : report.json])
      }
    }
    if let format = try chosenFormat() {
      return try paging.page {
        try entries.forEach {
          Output.standard.write(
            try VersionReport(
              $0, in: notebook, lineCounts: 0, proofs, showsAuthor: format.showsAuthor
            ).text(as: format))
        }
      }
    }
    try paging.page {
      let isEmpty = try Self.tell(
        &entries, in: notebook, isLong: long, showsPatch: patch, showsGraph: graph,
        parents: nearest,
        proofs)
      if isEmpty {
        Output.standard.line(try nothing(of: path, in: notebook, besides: entries.otherAuthors))
      }
    }
  }

  /// Shows the versions of the whole notebook.
  static func show() throws {
    let notebook = try NotebookLocator.notebook()
    let walk = try notebook.history.versions(includingDerived: true)
    let proofs = VersionProofs(in: notebook)
    defer { proofs.remember() }
    var entries = LogEntries(walk: walk, proofs, showsAll: false, folds: true)
    try OutputForm().page {
      if try tell(&entries, in: notebook, proofs) { Output.standard.line(noVersions) }
    }
  }

  /// Writes the entries for people, and returns whether there are none.
  private static func tell(
    _ entries: inout LogEntries, in notebook: Notebook, isLong: Bool = false,
    showsPatch: Bool = false, showsGraph: Bool = false, parents: [ObjectID: [ObjectID]]? = nil,
    _ proofs: VersionProofs
  ) throws -> Bool {
    let style = VersionReport.Style(
      terminal: Console.output, now: TimeText.now, isLong: isLong,
      isOfOneNote: entries.oneNoteIn != nil, own: try notebook.history.versionsMadeHere(),
      sharedNames: OwnMembership(of: notebook).sharedNames)
    var text = LogText(
      notebook: notebook, style: style, showsPatch: showsPatch,
      graph: showsGraph ? GraphLines(terminal: style.terminal) : nil, parents: parents,
      proofs: proofs)
    var isEmpty = true
    try entries.forEach {
      Output.standard.write(try text.entry($0))
      // The first page appears at once, however long the history is.
      if isEmpty { Output.standard.flush() }
      isEmpty = false
    }
    return isEmpty
  }

  private func chosenFormat() throws -> LogFormat? {
    guard let format else { return oneline ? .oneLine : nil }
    guard let chosen = LogFormat(format) else {
      throw Failure.usage(
        "the format has an unknown placeholder", hint: "notes-log(1) lists them; %% is a %")
    }
    return chosen
  }

  private func period() throws -> Range<Int64>? {
    if since == nil, until == nil { return nil }
    let start = try since.map(NamedTime.named)?.first ?? .min
    let end = try until.map(NamedTime.named).map { $0.last + 1 } ?? .max
    return start..<max(start, end)
  }

  private static let noVersions = "No versions yet."

  /// The message for an empty log. It names other authors, if there are any, because the user may mean one of
  /// them.
  private func nothing(
    of path: TreePath?, in notebook: Notebook, besides others: Set<String>
  ) throws -> String {
    if since == nil, until == nil, by == nil {
      guard let path, try notebook.isThere(path) else { return Self.noVersions }
      return "\(Visible.name(path)) is not saved yet: 'notes save' makes its first version."
    }
    let guess = by.flatMap { Failure.guess($0, among: others.sorted()) }
    return "No versions match" + (guess.map { ": " + $0 } ?? ".")
  }
}
