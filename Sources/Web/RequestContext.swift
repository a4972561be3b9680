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
  /// The notes that this request has listed. Listing them once makes a page show one state of the folder.
  private let listed = Listed()

  private final class Listed { var notes: [NoteSummary]? }

  init(site: Site, request: Request) { (self.site, self.request) = (site, request) }

  var visitor: Visitor { request.visitor }
  var root: String { visitor.root }

  func response() -> Response {
    do {
      if case .invited(let link, let token) = visitor { return try introduce(link, token) }
      if case .away = visitor { throw site.isThere ? Refusal.bookUnreadable : .away }
      guard visitor.isOwner || request.path.first != "devices" else { throw Refusal.ownerOnly }
      let isPost = request.method == .post
      let page = isPost ? nil : Self.answer(to: request.path, among: Self.pages)
      let form = Self.answer(to: request.path, among: isPost ? Self.forms : Self.formPages)
      let isReading = page != nil || !isPost && form == nil || request.path == Self.leaving
      guard visitor.mayWrite || isReading else { throw Refusal.readOnly }
      guard let answer = page ?? form else { throw Refusal.noSuchPage }
      return try answer(self, site.notebook(for: visitor.guest))
    } catch {
      return failed(error)
    }
  }

  // MARK: Notes and versions of a request

  /// The note whose ID is in the path: a note in the folder, or else a deleted one.
  func subject(in notebook: Notebook) throws -> Subject {
    let id = try noteID(request.path[1])
    if let note = try note(id, in: notebook) {
      return Subject(id: id, path: note.path, isDeleted: false, isInConflict: note.isInConflict)
    }
    let deleted = try notebook.history.deletedFiles().first { $0.id == id && $0.path.isNote }
    guard let deleted else { throw Refusal.noSuchNote }
    return Subject(id: id, path: deleted.path, isDeleted: true, isInConflict: false)
  }

  /// The notes in the folder, by path. They are cached for pages, which need them several times, but not for
  /// forms, which change them.
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
    case MergeError.noConflict: trouble("the note no longer has a conflict", status: 409)
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
