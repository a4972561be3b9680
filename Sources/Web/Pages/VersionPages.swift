internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook
internal import WorkTree

/// A note's versions: their authors, dates, and changed words.
extension RequestContext {
  private static let versionsAtOnce = 20

  func versionsPage(of subject: Subject, in notebook: Notebook) throws -> HTML {
    let walk = try notebook.history.versions(of: subject.path)
    for _ in 0..<skipped { guard try walk.next() != nil else { break } }
    var versions: [Version] = []
    while versions.count < Self.versionsAtOnce, let version = try walk.next() {
      versions.append(version)
    }
    let hasMore = try walk.next() != nil
    let next = skipped + versions.count
    let more: HTML = """
      <p><a class="btn" href="\(address(subject, "/versions"))?from=\(next)">Older versions</a></p>
      """
    let proofs = VersionProofs(in: notebook)
    defer { proofs.remember() }
    let shown = try subject.isDeleted || !visitor.mayWrite ? nil : shownNote(subject, in: notebook)
    let items = try versions.enumerated().map { place, version in
      let isNow = place == 0 && skipped == 0
      let item = try item(version, proofs, of: subject, isNow: isNow, shown, notebook)
      return (TimeStyle.day.text(version.commit.author.time), item)
    }
    let lists = HTML.grouped(items) { "<ol class=\"versions time-line\">\n\($0)</ol>\n" }
    let frame = try frame(of: subject, in: notebook)
    return layout("Versions of \(subject.title)", name: notebook.identity.name, frame) {
      """
      <h1>Versions</h1>
      <p class="soft">of <b dir="auto">\(subject.title)</b>. Nothing is ever lost.</p>
      <div id="versions" data-live>
      \(lists)
      \(more, if: hasMore)
      </div>
      """
    }
  }

  private func item(
    _ version: Version, _ proofs: VersionProofs, of subject: Subject, isNow: Bool,
    _ shown: ShownNote?, _ notebook: Notebook
  ) throws -> HTML {
    let commit = version.commit
    let author = try proofs.author(of: commit)
    // The differences from the merge that notes computes, if somebody altered it.
    let changed: [VersionChange]
    if case .altered(let merge)? = try proofs.merges.verdict(on: commit) {
      changed = merge.changes.filter { $0.path == subject.path }
    } else {
      changed = version.changes
    }
    let changes = try changed.prefix(1).map { try changedWords($0, in: notebook) }
    let restore = shown.map { shown in
      HTML.button("Restore", at: address(subject, "/restore/\(commit.id.hex)\(shown.path)"))
    }
    return """
      <li\(" class=\"now\"", if: isNow)><details class="sit" id="v-\(commit.id)"\(" open", if: isNow)>
      <summary>\(HTML.face(author.name))<span>\(name(author, in: notebook, isBold: true)) \(HTML.time(commit.author.time, .clock))\
      \(" <span class=\"chip live\">now</span>", if: isNow)
      <small>\(version.subject)</small></span>\(HTML.icon(.more, "i small"))</summary>
      \(changes)
      <div class="acts">\(isNow ? nil : restore)
      <a class="btn plain" href="\(address(subject, "/v/"))\(commit.id)">Whole text</a></div>
      </details></li>

      """
  }

  func versionPage(of subject: Subject, in notebook: Notebook) throws -> HTML {
    let commit = try version(request.path[3], in: notebook)
    let then: NoteVersion?
    do {
      then = try notebook.history.noteVersion(named: commit.id.hex, of: subject.path)
    } catch HistoryError.notInVersion {
      then = nil
    }
    let text = try then.map { version in
      try reading(
        notebook.history.text(of: version), of: subject.path, conflict: nil, in: notebook,
        ticking: nil)
    }
    let author = name(
      try VersionProofs(in: notebook).author(of: commit), in: notebook, isBold: true)
    let forms = try then.map { _ in try deeds(on: commit, of: subject, in: notebook) }
    var frame = try frame(of: subject, in: notebook)
    frame.back = (address(subject, "/versions"), "Versions")
    return layout("\(subject.title), a version", name: notebook.identity.name, frame) {
      """
      <h1 dir="auto">\(subject.title)</h1>
      <p class="about">as of \(time(commit.author.time)), by \(author)</p>
      \(forms ?? "<p>The note is not in this version.</p>")
      \(text)
      <p class="soft xs">Version <code>\(commit.id)</code></p>
      """
    }
  }

  /// The author of a version, with a mark if nothing proves the name; for the visitor's own, "You".
  func name(_ author: VersionAuthor, in notebook: Notebook, isBold: Bool = false) -> HTML {
    let device = notebook.identity.device
    let own = visitor.guest.map { device.authorName(of: $0.name) } ?? device.name
    let isOwn = author.mark == nil && author.deviceID == device.deviceID && author.name == own
    let mark: HTML? = author.mark.map { " <span class=\"chip warn\">\($0)</span>" }
    let name = isOwn ? "You" : author.name
    let shown: HTML = isBold ? "<b>\(name)</b>" : "\(name)"
    return "\(shown)\(mark)"
  }

  private func deeds(
    on version: Commit, of subject: Subject, in notebook: Notebook
  ) throws -> HTML {
    guard visitor.mayWrite else { return .nothing }
    // A restored text replaces the note's present one.
    let shown = try subject.isDeleted ? nil : shownNote(subject, in: notebook).path
    let id = version.id.hex
    return """
      <div class="acts">
      \(HTML.button("Restore this text", at: address(subject, "/restore/\(id)\(shown ?? "")")))
      \(HTML.button("Copy to a new note", at: address(subject, "/copy/\(id)"), "btn plain"))
      </div>
      """
  }

  // MARK: Words

  /// The words of a note that a version changed.
  func changedWords(_ change: VersionChange, in notebook: Notebook) throws -> HTML {
    func text(_ id: ObjectID?) throws -> [UInt8] { try id.map(notebook.repository.blob) ?? [] }
    let (old, new) = (try text(change.old), try text(change.new))
    let name: HTML? = change.formerPath.map {
      "<p>It was called <b>\("\($0)")</b> before.</p>"
    }
    if change.new == nil { return "\(name)<p>Deleted.</p>" }
    if old.count + new.count > limit {
      return "\(name)<p>The text is too long to be compared here.</p>"
    }
    let words = WordDiff(from: old, to: new)
    if words.isBinary { return "\(name)<p>This is not text.</p>" }
    return "\(name)<div class=\"diff\">\(words.groups.map(group))</div>"
  }

  private func group(_ group: WordDiff.Group) -> HTML {
    // Skip empty lines around the change.
    let isEmpty = { (row: WordDiff.Row) in
      row.kind == .context && row.pieces.allSatisfy(\.bytes.isEmpty)
    }
    let rows = group.rows.drop(while: isEmpty)
    let last = rows.lastIndex { !isEmpty($0) } ?? rows.endIndex - 1
    return
      "<p class=\"where\">line \(group.firstLine + rows.startIndex)</p>\n\(rows[...last].map(row))"
  }

  private func row(_ row: WordDiff.Row) -> HTML {
    "<div class=\"words\" dir=\"auto\">\(row.pieces.map(piece))</div>\n"
  }

  private func piece(_ piece: WordDiff.Piece) -> HTML {
    switch piece.kind {
    case .same: "\(text: piece.bytes)"
    case .removed: "<del>\(text: piece.bytes)</del>"
    case .added: "<ins>\(text: piece.bytes)</ins>"
    }
  }
}
