internal import ArgumentParser
internal import Exchange
internal import Git
internal import Glibc
internal import History
internal import Membership
internal import Notebook
internal import Watch
internal import WorkTree

struct ForgetCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "forget", abstract: "Permanently remove a note or a text from all versions.",
    discussion: """
      Removes a note with all its versions and former names; with NOTE@VERSION, only the lines \
      that this version added. --text removes a text from every version of every note, and leaves \
      '[forgotten]' in its place: the command asks for it, or reads standard input. --deleted \
      removes all notes and attachments that are now deleted, --attachments-over those larger than \
      SIZE. The command first shows what it would remove. Everything else keeps its authors, dates \
      and places. This cannot be undone. The command replaces the branches of the hubs, and other \
      devices follow when they sync; --status shows which have.

      Examples:
        notes forget Diary
        notes forget 'Wifi@~1' --dry-run
        notes forget --text
        pass show wifi | notes forget --text --yes
        notes forget --deleted
        notes forget --attachments-over 25m
        notes forget --status
      """)

  @Argument(
    help: .named("note[@version]", "The note, or the version whose lines to remove."),
    completion: LiveCompletion.restorable)
  var note: String?

  @Flag(help: "Remove a text from all notes; type it when asked, or give it on standard input.")
  var text = false

  @Flag(help: "Remove all deleted notes and attachments.") var deleted = false

  @Option(
    help: .named(
      "size", "Remove attachments larger than this, such as 25m, and their later versions."))
  var attachmentsOver: String?

  @Flag(help: "Show what was forgotten, and which devices have followed.") var status = false

  @Flag(name: .customLong("yes"), help: "Continue without asking.") var isConfirmed = false

  @OptionGroup var trial: DryRunOption
  @OptionGroup var options: CommonOptions

  func validate() throws {
    let others = [
      ("--text", text), ("--deleted", deleted), ("--attachments-over", attachmentsOver != nil),
      ("--status", status),
    ].filter(\.1).map(\.0)
    if note == nil, others.isEmpty {
      throw ValidationError("Missing expected argument '<note[@version]>'.")
    }
    if note != nil, let other = others.first {
      throw ValidationError("\(other) cannot be combined with a note.")
    }
    if others.count > 1 { throw ValidationError("\(Phrase.list(others)) exclude each other.") }
    if let size = attachmentsOver, WorkTree.bytes(named: size) == nil {
      throw ValidationError("'\(size)' is not a size: write it as 300k, 25m or 1g.")
    }
  }

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    if status { return try ForgettingReport(of: notebook).show(options) }
    try Self.checkMay(notebook)
    let target = try target(in: notebook)
    // No program that serves the notebook may still have the forgotten versions.
    let lock =
      try trial.isOn ? nil : WatchLock(stateFolder: notebook.stateFolder, folder: notebook.folder)
    defer { withExtendedLifetime(lock) {} }
    let line = ProgressLine()
    defer { line.clear() }
    let plan = try notebook.forgetPlan(target) { line.show("reading", $0, of: $1, "version") }
    line.clear()
    if plan.versions == 0 { throw Self.cannotBeTaken(out: plan.remaining) }
    if trial.isOn {
      return options.tell(
        Self.json(plan, rewritten: nil, version: nil), Self.question(plan, target, "would"))
    }
    try confirm(plan, target, in: notebook)
    let known = try Hub.knownTips(in: notebook)
    let done = try notebook.forget(
      target, lastCheck: { try Self.checkMay(notebook) },
      progress: { line.show("forgetting", $0, of: $1, "object") })
    line.clear()
    let following = try ForgettingReport.following(in: notebook)
    options.tell(
      Self.json(done.plan, rewritten: done.rewritten, version: done.version),
      Self.sentence(done) + following)
    try replaceBranches(known)
  }

  /// Visits the hubs, which still have the old versions.
  private func replaceBranches(_ known: [String: ObjectID]) throws {
    let notebook = try NotebookLocator.notebook()
    var visit = HubRun(context: try notebook.sessionContext(), hubs: try notebook.hubs())
    visit.replaced = known
    visit.program.mayAsk = Console.canAsk
    if visit.hubs.isEmpty { return }
    let report = EventReport(json: options.json, concludes: true)
    defer { report.finish() }
    var outcome = SyncOutcome()
    try visit.run(addingTo: &outcome, cancellation: Interruption.token()) { report.write($0) }
    guard let place = outcome.failures.first else { return }
    report.tellFailures(besides: place)
    var failure = Failure(describing: place.error)
    failure.message = "\(Visible.name(place.peer?.name ?? "")) still has it: \(failure.message)"
    throw failure
  }

  private func target(in notebook: Notebook) throws -> ForgetTarget {
    if let size = attachmentsOver.flatMap(WorkTree.bytes) { return .attachments(over: size) }
    if deleted { return .deleted }
    guard let note else { return .text(try readText()) }
    do {
      return .note(try NotebookLocator.note(note, in: notebook, among: .deleted))
    } catch {
      guard let at = note.lastIndex(of: "@"), at != note.startIndex else { throw error }
      let path = try NotebookLocator.note(String(note[..<at]), in: notebook, among: .deleted)
      let name = String(note[note.index(after: at)...])
      // A merge added nothing of its own.
      let version = try notebook.history.version(named: name, of: path, isByPerson: true)
      return .version(path, version.id)
    }
  }

  private static let longestText = 1 << 20

  /// The text, without a newline at its end.
  private func readText() throws -> [UInt8] {
    guard isatty(STDIN_FILENO) == 1 else {
      var input = try NewCommand.input(limit: Self.longestText)
      if input.last == UInt8(ascii: "\n") { input.removeLast() }
      return input
    }
    guard let answer = Console.askSecret("The text to forget: ") else { throw Failure.interrupted }
    return Array(answer.utf8)
  }

  private func confirm(_ plan: ForgetPlan, _ target: ForgetTarget, in notebook: Notebook) throws {
    if isConfirmed { return }
    guard Console.canAsk else {
      throw Failure.usage(
        "there is no terminal to confirm the forgetting", hint: "add --yes to confirm")
    }
    let name = notebook.identity.name
    Output.errors.write(Self.question(plan, target, "will") + "\n")
    guard
      let answer = Console.ask(
        "This cannot be undone. Type the notebook's name, \(Visible.name(name)), to continue: "),
      answer == name
    else {
      throw Failure(
        .failed, "declined", "nothing was forgotten",
        hint: "type '\(Visible.name(name))' to confirm, or add --yes")
    }
  }

  // MARK: Refusals

  /// Throws if this device may not forget.
  private static func checkMay(_ notebook: Notebook) throws {
    try notebook.membership().demandAdmin(notebook.identity.device.deviceID)
  }

  private static func cannotBeTaken(out files: [TreePath]) -> Failure {
    Failure(
      .failed, "cannot_be_taken_out",
      "only attachments or file names contain this text: "
        + "\(Phrase.list(files.map { Visible.name($0) }))",
      hint: "'notes forget FILE' removes the whole file")
  }

  // MARK: Report

  private static func question(
    _ plan: ForgetPlan, _ target: ForgetTarget, _ verb: String
  ) -> String {
    let what =
      switch target {
      case .text(let text): "the text (\(Phrase.bytes(text.count)))"
      case .note(let path): Visible.name(path)
      case .deleted: "what is deleted"
      case .attachments(let bytes): "attachments over \(Phrase.bytes(bytes))"
      case .version(let path, let version): "what \(version.short) added to \(Visible.name(path))"
      }
    let notes = Phrase.list(plan.paths.map { Visible.name($0) })
    var text = "This \(verb) remove \(what) from \(Phrase.count(plan.versions, "version"))"
    if !notes.isEmpty { text += ": \(notes)" }
    return text + ".\(rest(plan))"
  }

  private static func sentence(_ done: Forgotten) -> String {
    "Forgotten in \(Phrase.count(done.plan.versions, "version")) on this device; "
      + "\(Phrase.count(done.rewritten, "version")) rewritten.\(rest(done.plan))"
  }

  private static func rest(_ plan: ForgetPlan) -> String {
    var text = ""
    if !plan.remaining.isEmpty {
      text +=
        "\nThese files have it in their name, or are not text, and stay as they are: "
        + "\(Phrase.list(plan.remaining.map { Visible.name($0) }))."
    }
    if !plan.beside.isEmpty {
      text +=
        "\nThese unversioned files also contain it; remove it there yourself: "
        + "\(Phrase.list(plan.beside.map { Visible.name($0) }))."
    }
    return text
  }

  private static func json(
    _ plan: ForgetPlan, rewritten: Int?, version: ObjectID?
  ) -> JSON {
    [
      "type": "forgotten", "versions": plan.versions, "paths": plan.paths,
      "remaining": plan.remaining, "beside": plan.beside, "rewritten": rewritten,
      "version": version, "dry_run": rewritten == nil,
    ]
  }
}
