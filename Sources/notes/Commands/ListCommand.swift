internal import ArgumentParser
internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook

struct ListCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the notes, last changed first.",
    discussion: """
      Lists the text notes of the folder, also those that are not saved yet; '!' marks a conflict, \
      '*' a note that another device changed since you last looked at it here. \
      With TEXT it lists only notes with TEXT in their titles, in any case. TEXT may also be a \
      pattern, or a folder with a slash at its end.

      Examples:
        notes list
        notes list plan --folder trips
        notes list trips/
        notes list 'Trip*'
        notes list --sort size --long
        notes list --since 2026-11-01
        notes list --attachments
        notes list --deleted
        notes list --new
        notes list --mark-seen
      """)

  enum Order: String, ExpressibleByArgument, CaseIterable { case modified, created, title, size }

  @Argument(help: .named("text", "Only notes whose title contains this, or in this folder."))
  var text: String?

  @Option(
    name: [.customShort("n", allowingJoined: true), .long], help: .named("n", "At most N notes."))
  var limit: Int?

  @Flag(name: .shortAndLong, help: "Also show IDs, sizes and exact times.") var long = false

  @Option(help: .named("order", "modified, created, title or size.")) var sort: Order = .modified

  @Flag(name: .shortAndLong, help: "List in the opposite order.") var reverse = false

  @Option(help: .named("dir", "Only notes in this folder."), completion: .directory)
  var folder: String?

  @Option(help: .named("date", "Only notes changed since this date."), completion: .times)
  var since: String?

  @Flag(help: "List the attachments instead.") var attachments = false

  @Flag(help: "Only notes that others changed since you last looked at them here.")
  var new = false

  @Flag(help: "Mark the listed notes as seen.") var markSeen = false

  @Flag(help: "List deleted notes instead, last deleted first.") var deleted = false

  @OptionGroup var paging: PagerOption
  @OptionGroup var options: CommonOptions

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("-n takes a number from 1 on.") }
    if deleted, ![.modified, .title].contains(sort) {
      throw ValidationError("With --deleted, --sort takes modified or title.")
    }
    if new || markSeen, deleted || attachments {
      throw ValidationError("--new and --mark-seen cannot be used with --deleted or --attachments.")
    }
  }

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let isWanted = try filter(in: notebook)
    var style = ListStyle(isLong: long, order: sort, isReversed: reverse)
    style.kind = attachments ? "attachment" : "note"
    style.limit = limit ?? .max
    style.showsNewOnly = new
    let form = paging.form(json: options.json)
    if deleted {
      let files = try notebook.history.deletedFiles().filter { $0.path.isNote != attachments }
      style.isFiltered = !files.isEmpty
      let listed = files.filter { isWanted($0.path, $0.time) }
      style.names = try Self.authors(of: listed.lazy.compactMap(\.version), in: notebook)
      let report = DeletedReport(files: listed, style)
      form.report(report.json) { report.text(on: $0, now: TimeText.now) }
    } else {
      let report = try Self.list(in: notebook, style, as: form, where: isWanted)
      if markSeen { try ReadMarks(in: notebook.history).markRead(report.notes.map(\.path)) }
    }
  }

  /// Lists the folder's items of the style's kind, and returns the report.
  @discardableResult static func list(
    in notebook: Notebook, _ given: ListStyle = ListStyle(), as form: OutputForm = OutputForm(),
    where isWanted: (TreePath, Int64?) -> Bool = { _, _ in true }
  ) throws -> ListReport {
    var style = given
    let isOfNotes = style.kind == "note"
    let notes = try notebook.history.files().filter { $0.path.isNote == isOfNotes }
    style.isFiltered = !notes.isEmpty
    style.newNotes = try ReadMarks(in: notebook.history).newNotes()
    let listed = notes.filter {
      isWanted($0.path, $0.modified) && (!style.showsNewOnly || style.newNotes.contains($0.path))
    }
    style.names = try authors(of: listed.lazy.compactMap(\.lastVersion), in: notebook)
    let report = ListReport(notes: listed, style)
    form.report(report.json) { report.text(on: $0, now: TimeText.now) }
    return report
  }

  /// The authors of versions, for people and for programs.
  static func authors(
    of versions: some Sequence<ObjectID>, in notebook: Notebook
  ) throws -> [ObjectID: ListStyle.Author] {
    let shared = OwnMembership(of: notebook).sharedNames
    let proofs = VersionProofs(in: notebook)
    defer { proofs.remember() }
    var names: [ObjectID: ListStyle.Author] = [:]
    for version in versions where names[version] == nil {
      let author = try proofs.author(of: version)
      names[version] = ListStyle.Author(
        shown: shared.shown(author), name: author.name, claim: author.claim,
        signature: author.proof.rawValue)
    }
    return names
  }

  /// Whether a text is a folder's name with a slash at its end, or the current folder.
  private func namesFolder(_ text: String, in notebook: Notebook) -> Bool {
    guard text.hasSuffix("/") || text == "." || text == ".." else { return false }
    return NotebookLocator.folderOrTop(named: text, in: notebook) != nil || deleted
  }

  /// A filter by path and by time of the last change. Unsaved changes count as the newest.
  private func filter(in notebook: Notebook) throws -> (TreePath, Int64?) -> Bool {
    var part = text?.lowercased()
    let pattern = text.flatMap { NamePattern.isOne($0) ? NamePattern($0) : nil }
    var start: [UInt8] = []
    let isFolder = folder == nil && text.map { namesFolder($0, in: notebook) } ?? false
    if isFolder || pattern != nil { part = nil }
    if let folder = isFolder ? text : folder {
      // The deleted notes of a deleted folder can still be listed.
      let isGone = deleted && NotebookLocator.folderOrTop(named: folder, in: notebook) == nil
      let path =
        isGone
        ? TreePath(NotebookLocator.trimmed(folder))
        : try NotebookLocator.existingFolder(named: folder, in: notebook)
      start = path.isEmpty ? [] : path.bytes + [UInt8(ascii: "/")]
    }
    let first = try since.map(NamedTime.named)?.first
    return { path, time in
      if let part, !path.noteTitle.lowercased().contains(part) { return false }
      if let pattern, !isFolder, !pattern.matches(path) { return false }
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
        hint: "write a time such as yesterday, '2 hours ago', 2026-11-20 or '2026-11-20 10:00'")
    }
    return time
  }
}
