internal import Exchange
internal import Git
internal import Notebook
internal import WorkTree

/// The output of `watch` and `serve`, for people on a terminal and for the log of a service.
struct ServiceText {
  /// The names of the notebooks by ID; shown if there are several.
  private let names: [String: String]
  private var exchange: EventText { EventText(occasion: .exchange) }

  init(_ notebooks: [Notebook]) {
    names = Dictionary(notebooks.map { ($0.identity.id, $0.identity.name) }) { first, _ in first }
  }

  /// A line for each served or watched notebook, and one that says how to stop.
  static func start(_ verb: String, _ notebooks: [Notebook]) -> String {
    notebooks.map {
      "\(verb) \(Visible.name($0.identity.name)) in \(Visible.name($0.folder)).\n"
    }.joined() + "Ctrl-C stops it.\n"
  }

  func words(for event: Event) -> String? {
    switch event {
    case .version(let id, let saved): line(id, saved.summary)
    case .connected(let id, let peer): line(id, "\(name(peer)) is connected")
    case .disconnected(let id, let peer): line(id, "\(name(peer)) is no longer connected")
    case .received(let peer, let merge, let id):
      merge.changes.isEmpty
        ? nil
        : line(id, "\(name(peer)) sent \(merge.changes.summary)")
          + conflicts(merge.conflicts)
    case .editing(let id, let peer, let paths):
      paths.first.map { line(id, "\(name(peer)) edits \($0.label)") }
    case .folder(let id, let isThere):
      line(id, isThere ? "the folder is available again" : "the folder is unavailable")
    case .failed(let failure) where failure.peer == nil: nil
    case .finished, .invitation: nil
    default: exchange.words(for: event)
    }
  }

  /// The warning about an event for standard error.
  func warning(of event: Event) -> String? {
    let message: (id: String, text: String)? =
      switch event {
      case .held(let id, let deleted, let total):
        (
          id,
          "a version that would delete \(deleted) of \(total) notes is held back; 'notes save "
            + "--allow-deletes' makes it"
        )
      case .notebookFailed(let id, let cause): (id, Failure(describing: cause.error).message)
      case .keyShared(let id, let witness):
        (id, "\(OwnMembership.keyMessage(witness)); \(OwnMembership.keyRemedy)")
      case .saveNews(let id, let news): (id, "\(news.sentence); \(news.hint)")
      case .watchLimit(let id, let interval):
        (
          id,
          "cannot watch more folders (fs.inotify.max_user_watches); the folder is scanned every "
            + "\(Int(interval)) s instead"
        )
      default: nil
      }
    guard let message else { return exchange.warning(of: event) }
    return Console.errors.wrapped("notes: warning: " + line(message.id, message.text))
  }

  private func line(_ notebook: String?, _ text: String) -> String {
    let name = names.count > 1 ? notebook.flatMap { names[$0] } : nil
    return (name.map { Visible.name($0) + ": " } ?? "") + text + "\n"
  }

  private func name(_ peer: PeerIdentity) -> String {
    Console.output.paint(Visible.name(peer.name), .bold)
  }

  private func conflicts(_ paths: [TreePath]) -> String {
    paths.map { "  conflict in \($0.label): 'notes resolve' resolves it\n" }.joined()
  }
}

extension [Change] {
  /// `Shopping.txt`, `Shopping.txt and Plan.txt`, `12 files`.
  fileprivate var summary: String {
    count > 3 ? Phrase.count(count, "file") : Phrase.list(map { Visible.name($0.path) })
  }
}

extension SaveResult {
  /// `saved Shopping.txt`, `deleted Plan.txt`, `saved 12 files, renamed 2 files`.
  fileprivate var summary: String {
    let kinds: [(verb: String, changes: [Change])] = [
      ("saved", changes.filter { $0.kind == .added || $0.kind == .modified }),
      ("deleted", changes.filter { $0.kind == .deleted }),
      ("renamed", changes.filter { $0.kind == .renamed }),
    ]
    return kinds.filter { !$0.changes.isEmpty }.map { "\($0.verb) \($0.changes.summary)" }
      .joined(separator: ", ")
  }
}
