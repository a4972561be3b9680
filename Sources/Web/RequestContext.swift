internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Merge
internal import Notebook
internal import System
internal import Watch
internal import WorkTree

/// One request and its answer. Each request opens the notebook separately.
struct RequestContext {
  let site: Site
  let request: Request
  /// The notes that this request has listed, so that a page shows one state of the folder.
  private let listed = Listed()

  private final class Listed { var notes: [NoteSummary]? }

  init(site: Site, request: Request) { (self.site, self.request) = (site, request) }

  var visitor: Visitor { request.visitor }
  var root: String { visitor.root }

  func response() -> Response {
    do {
      if case .invited(let link, let token) = visitor { return try introduce(link, token) }
      if case .away = visitor { throw site.isThere ? Refusal.bookUnreadable : .away }
      guard visitor.mayWrite || !isForChanges else { throw Refusal.readOnly }
      guard visitor.isOwner || request.path.first != "devices" else { throw Refusal.ownerOnly }
      let notebook = try site.notebook(for: visitor.guest)
      return try request.method == .get ? page(of: notebook) : act(in: notebook)
    } catch {
      return failed(error)
    }
  }

  /// Whether the request requires the right to change the notebook: all forms do, and the pages
  /// with forms.
  private var isForChanges: Bool {
    let path = request.path
    if request.method == .post { return path != Self.leaving }
    switch path.first {
    case "new", "undo": return true
    case "kept": return path.count == 2
    case "n": return path.count > 2 && !["versions", "v"].contains(path[2])
    default: return false
    }
  }

  private func page(of notebook: Notebook) throws -> Response {
    let path = request.path
    switch (path.first, path.count) {
    case (nil, 0): return try list(of: notebook)
    case ("events", 1): return Response(status: 200, body: .events(try editing(in: notebook)))
    case ("new", 1): return .page(newPage(of: notebook))
    case ("deleted", 1): return .page(try deletedPage(of: notebook))
    case ("files", 1): return .page(try filesPage(of: notebook))
    case ("files", 2): return .page(try filePage(in: notebook))
    case ("files", 3) where path[2] == "bytes": return try fileBytes(in: notebook)
    case ("undo", 1): return .page(try undoPage(of: notebook))
    case ("texts", 1): return try keptMarks(in: notebook)
    case ("texts", 2): return try keptPart(path[1], in: notebook)
    case ("kept", 1...2): return .page(pageForKept(isEditor: path.count == 2, in: notebook))
    case ("devices", _): return .page(try devicesPage(in: notebook))
    case ("n", 2...): return try notePage(try subject(in: notebook), notebook)
    case ("browser", 1) where visitor.guest != nil: return .page(browserPage(of: notebook))
    case (let name?, 1):
      let file = Self.file(name) ?? appFile(name, of: notebook.identity.name)
      guard let file else { throw Refusal.noSuchPage }
      return file
    default: throw Refusal.noSuchPage
    }
  }

  private func devicesPage(in notebook: Notebook) throws -> HTML {
    let path = request.path
    switch (path.dropFirst().first, path.count) {
    case (nil, _): return try devicesPage(of: notebook)
    case ("invitation", 3): return try invitationPage(path[2], in: notebook)
    case ("guest", 3): return try guestPage(of: notebook)
    case ("member", 3): return try memberPage(in: notebook)
    default: throw Refusal.noSuchPage
    }
  }

  private func notePage(_ subject: Subject, _ notebook: Notebook) throws -> Response {
    let rest = request.path.dropFirst(2)
    switch (rest.first, rest.count) {
    case (nil, 0): return .page(try notePage(of: subject, in: notebook))
    case ("edit", 1):
      return .see(address(subject, "/edit" + (try shownNote(subject, in: notebook)).path))
    case ("edit", 3): return .page(try editPage(of: subject, in: notebook))
    case ("text", 1): return try textNow(of: subject, in: notebook)
    case ("versions", 1): return .page(try versionsPage(of: subject, in: notebook))
    case ("rename", 1): return .page(try renamePage(of: subject, in: notebook))
    case ("delete", 1): return .page(try deletePage(of: subject, in: notebook))
    case ("settle", 1):
      guard let tip = try notebook.state().tip else { throw Refusal.noSuchNote }
      return .see(address(subject, "/settle/\(tip.hex)"))
    case ("settle", 2): return .page(try settlePage(of: subject, in: notebook))
    case ("v", 2): return .page(try versionPage(of: subject, in: notebook))
    default: throw Refusal.noSuchPage
    }
  }

  /// Carries out a form's action.
  private func act(in notebook: Notebook) throws -> Response {
    let path = request.path
    switch (path.first, path.count) {
    case ("new", 1): return try make(in: notebook)
    case ("undo", 2): return try undo(in: notebook)
    case ("save", 1): return try saveFolder(in: notebook)
    case ("leave", 1): return try leave()
    case ("files", 2) where path == Self.adding: return try addFile(in: notebook)
    case ("devices", 2...): return try changeDevices(in: notebook)
    case ("n", 3...): break
    default: throw Refusal.noSuchPage
    }
    let subject = try subject(in: notebook)
    switch (path[2], path.count) {
    case ("edit", 5): return try edit(subject, in: notebook)
    case ("tick", 5): return try tick(subject, in: notebook)
    case ("rename", 4): return try rename(subject, in: notebook)
    case ("delete", 5): return try delete(subject, in: notebook)
    case ("pin", 3), ("unpin", 3): return try pin(subject, in: notebook)
    case ("restore", 3) where subject.isDeleted: return try bringBack(subject, in: notebook)
    case ("restore", 4), ("restore", 6): return try restore(subject, in: notebook)
    case ("copy", 4): return try copy(subject, in: notebook)
    case ("settle", 4): return try settle(subject, in: notebook)
    default: throw Refusal.noSuchPage
    }
  }

  private func changeDevices(in notebook: Notebook) throws -> Response {
    let path = request.path
    switch (path[1], path.count, path.last) {
    case ("invite", 2, _): return try invite(in: notebook)
    case ("invitation", 4, "cancel"): return try cancelInvitation(path[2], in: notebook)
    case ("guests", 2, _): return try inviteGuest(to: notebook)
    case ("guest", 4, "role"): return try changeGuestRole()
    case ("guest", 4, "remove"): return try removeGuest()
    case ("member", 4, "role"): return try changeRole(in: notebook)
    case ("member", 4, "remove"): return try removeMember(in: notebook)
    default: throw Refusal.noSuchPage
    }
  }

  // MARK: Notes and versions of a request

  /// The note whose ID is in the path: one in the folder, otherwise a deleted one.
  private func subject(in notebook: Notebook) throws -> Subject {
    let id = try noteID(request.path[1])
    if let note = try note(id, in: notebook) {
      return Subject(id: id, path: note.path, isDeleted: false, isInConflict: note.isInConflict)
    }
    let deleted = try notebook.history.deletedFiles().first { $0.id == id && $0.path.isNote }
    guard let deleted else { throw Refusal.noSuchNote }
    return Subject(id: id, path: deleted.path, isDeleted: true, isInConflict: false)
  }

  /// The notes in the folder, by path. They are cached for pages, which need them more than once,
  /// and not for forms, which change them.
  func notes(of notebook: Notebook) throws -> [NoteSummary] {
    if request.method == .get, let notes = listed.notes { return notes }
    let notes = try notebook.history.notes()
    listed.notes = notes
    return notes
  }

  /// The note with this ID; nil if the folder has none.
  func note(_ id: String, in notebook: Notebook) throws -> NoteSummary? {
    try notes(of: notebook).first { $0.id == id }
  }

  /// The note of this path; nil if the folder has none.
  func note(at path: TreePath, in notebook: Notebook) throws -> NoteSummary? {
    try notes(of: notebook).first { $0.path == path }
  }

  /// The ID of a note or an attachment in an address.
  func noteID(_ text: String) throws -> String {
    let isID =
      text.utf8.count == 12 && text.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    guard isID else { throw Refusal.noSuchPage }
    return text
  }

  /// A version of this history, given by its full ID in a field or an address.
  func version(_ hex: String?, in notebook: Notebook) throws -> Commit {
    guard let hex, let id = ObjectID(hex: hex), let tip = try notebook.state().tip,
      // An unknown version is refused like one that is not in this history.
      let version = try? notebook.repository.commit(id),
      try notebook.isOfHistory(id, of: tip)
    else { throw Refusal.noSuchVersion }
    return version
  }

  func address(_ subject: Subject, _ more: String = "") -> String {
    "\(root)/n/\(subject.id)\(more)"
  }

  /// How many bytes of a text are shown.
  var limit: Int { site.limits.textBytes }

  // MARK: Errors

  private func failed(_ error: any Error) -> Response {
    let error = site.isThere ? error : Refusal.away
    return switch error {
    case let refusal as Refusal: trouble(refusal.text, status: refusal.status)
    case is NotebookError, is WorkTreeError, is HistoryError, is MembershipError, is SyncError,
      is WatchError, is GuestError,
      is NameDefect:
      trouble("\(error)", status: 409)
    case MergeError.noConflict: trouble("the note has no conflict any more", status: 409)
    default: trouble("\(error)", status: 500)
    }
  }

  /// A page about an error.
  func trouble(_ text: String, status: Int, with rest: HTML = .nothing) -> Response {
    let isOfDevices = visitor.isOwner && request.path.first == "devices"
    let page = layout("That did not work", name: nil) {
      """
      <h1>That did not work</h1>
      <p class="error" role="alert" tabindex="-1" autofocus>\(sentence(text))</p>
      \(rest)
      \("<p><a class=\"btn plain\" href=\"\(root)/devices\">All devices</a></p>", if: isOfDevices)
      <p><a class="btn plain" href="\(root)/">Back to the notes</a></p>
      """
    }
    return .page(page, status: status)
  }

  /// A message of notes as a sentence: it begins in lower case and has no full stop.
  func sentence(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() + "." }
}

/// A note that is named in an address.
struct Subject: Sendable {
  let id: String
  let path: TreePath
  let isDeleted: Bool
  let isInConflict: Bool

  var title: String { path.noteTitle }
}
