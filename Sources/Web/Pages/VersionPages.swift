internal import Exchange
internal import Git
internal import History
internal import Notebook
internal import WorkTree

/// A note's versions: who made them, when, and which words they changed.
extension Visit {
  private static let versionsAtOnce = 20

  func versionsPage(of subject: Subject, in notebook: Notebook) throws -> HTML {
    let skipped = max(0, Int(request.query["from"] ?? "") ?? 0)
    let walk = try notebook.history.versions(of: subject.path)
    for _ in 0..<skipped { guard try walk.next() != nil else { break } }
    var versions: [Version] = []
    while versions.count < Self.versionsAtOnce, let version = try walk.next() {
      versions.append(version)
    }
    let hasMore = try walk.next() != nil
    let next = skipped + versions.count
    let more: HTML =
      "<p><a href=\"\(address(subject, "/versions"))?from=\(next)\">Older versions</a></p>"
    let proofs = VersionProofs(in: notebook)
    defer { proofs.remember() }
    let items = try versions.enumerated().map { place, version in
      try item(version, proofs, of: subject, isOpen: place == 0, notebook)
    }
    return layout("Versions of \(subject.title)", name: notebook.identity.name) {
      """
      <div id="versions" data-live>
      \(heading(of: subject, "versions"))
      <ol class="versions">
      \(items)
      </ol>
      \(more, if: hasMore)
      </div>
      """
    }
  }

  private func item(
    _ version: Version, _ proofs: VersionProofs, of subject: Subject, isOpen: Bool,
    _ notebook: Notebook
  ) throws -> HTML {
    let id = version.commit.id
    let author = name(try proofs.author(of: version.commit), isBold: true)
    // What an altered merge changed is against what its versions merge to.
    let changed: [VersionChange]
    if case .altered(let merge)? = try proofs.merges.verdict(on: version.commit) {
      changed = merge.changes.filter { $0.path == subject.path }
    } else {
      changed = version.changes
    }
    let changes = try changed.prefix(1).map { try changedWords($0, in: notebook) }
    return """
      <li><details id="v-\(id)"\(" open", if: isOpen)>
      <summary>\(time(version.commit.author.time)) \(author)
      \(version.subject)</summary>
      \(changes)
      <p><a href="\(address(subject, "/v/"))\(id)">Whole text\(", restore, copy", if: visitor.mayWrite)</a></p>
      </details></li>

      """
  }

  func versionPage(of subject: Subject, in notebook: Notebook) throws -> HTML {
    let commit = try version(request.path[3], in: notebook)
    let then: NoteVersion?
    do {
      then = try notebook.history.noteVersion(named: commit.id.hex, of: subject.path)
    } catch NotebookError.notInVersion {
      then = nil
    }
    let text = try then.map { try whole(notebook.history.text(of: $0)) }
    let author = name(try VersionProofs(in: notebook).author(of: commit), isBold: true)
    let forms = try then.map { _ in try deeds(on: commit, of: subject, in: notebook) }
    return layout("\(subject.title), a version", name: notebook.identity.name) {
      """
      \(heading(of: subject, "a version"))
      <p>\(time(commit.author.time)) \(author), version <code>\(commit.id)</code></p>
      \(forms ?? "<p>The note is not in this version.</p>")
      \(text)
      """
    }
  }

  /// Who made a version, with what is lacking to prove it.
  func name(_ author: VersionAuthor, isBold: Bool = false) -> HTML {
    let mark: HTML? = author.mark.map { " <span class=\"mark\">\($0)</span>" }
    let name: HTML = isBold ? "<b>\(author.name)</b>" : "\(author.name)"
    return "\(name)\(mark)"
  }

  private func deeds(
    on version: Commit, of subject: Subject, in notebook: Notebook
  ) throws -> HTML {
    guard visitor.mayWrite else { return .nothing }
    // A restored text takes the place of the one that the note has now.
    let shown = try subject.isDeleted ? nil : shownNote(subject, in: notebook).path
    return """
      <form method="post" action="\(address(subject, "/restore/\(version.id.hex)"))\(shown)" class="deed">
      <button>Restore this text</button>
      </form>
      <form method="post" action="\(address(subject, "/copy/\(version.id.hex)"))" class="deed">
      <button>Copy to a new note</button>
      </form>
      """
  }

  // MARK: Words

  /// Which words of a note a version changed.
  private func changedWords(_ change: VersionChange, in notebook: Notebook) throws -> HTML {
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
    if words.isBinary { return "\(name)<p>This is no text.</p>" }
    return "\(name)<div class=\"words\">\(words.groups.map(group))</div>"
  }

  private func group(_ group: WordDiff.Group) -> HTML {
    "<p class=\"place\">line \(group.firstLine)</p>\n\(group.rows.map(row))"
  }

  private func row(_ row: WordDiff.Row) -> HTML {
    "<div class=\"row\">\(row.pieces.map(piece))</div>\n"
  }

  func piece(_ piece: WordDiff.Piece) -> HTML {
    switch piece.kind {
    case .same: "\(text: piece.bytes)"
    case .removed: "<del>\(text: piece.bytes)</del>"
    case .added: "<ins>\(text: piece.bytes)</ins>"
    }
  }
}
