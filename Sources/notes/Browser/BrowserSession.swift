internal import Exchange
internal import Git
internal import Glibc
internal import History
internal import Membership
internal import Notebook
internal import WorkTree

struct BrowserSession {
  let notebook: Notebook
  let terminal: FullScreen
  private let usesColour: Bool
  var browser: Browser
  private var keys = KeyDecoder()
  var shown: Screen?
  private var walk: VersionWalk?
  private var snapshot: Snapshot?
  /// The notes that others changed and that were not read yet.
  private var newNotes: Set<TreePath> = []
  private let sharedNames: SharedNames
  private let proofs: VersionProofs

  private static let versionsAtOnce = 100
  /// How long to wait after an escape for the rest of a key's sequence, in milliseconds.
  private static let patience: Int32 = 40
  /// How long after the last key or check the folder is checked again, in milliseconds.
  private static let pause: Int32 = 1_000

  init(notebook: Notebook, terminal: FullScreen, usesColour: Bool) {
    self.notebook = notebook
    self.terminal = terminal
    self.usesColour = usesColour
    browser = Browser(title: Visible.name(notebook.identity.name))
    sharedNames = OwnMembership(of: notebook).sharedNames
    proofs = VersionProofs(in: notebook)
  }

  mutating func run() throws -> Exit {
    let present = try notebook.history.presentNotes()
    terminal.enter()
    defer { terminal.leave() }
    defer { proofs.remember() }
    // The files in the folder are shown at once; facts from the history follow.
    browser.show(notes: Self.listed(present, times: present.map { _ in nil }, conflicts: []))
    draw()
    attempt { try $0.readNotes(present) }
    while true {
      refresh()
      switch terminal.next(within: keys.isWaiting ? Self.patience : Self.pause) {
      case .bytes(let bytes):
        if try press(keys.keys(from: bytes)) { return .done }
      case .quiet where !keys.isWaiting: attempt { try $0.follow() }
      case .quiet:
        if try press(keys.flush()) { return .done }
      case .resized: shown = nil
      case .stopRequested: suspend(group: false)
      case .ended: return .interrupted
      }
    }
  }

  private mutating func press(_ keys: [Key]) throws -> Bool {
    for key in keys {
      // Keys in quick succession act on the list that the keys before them have changed.
      fetchVersions()
      switch browser.press(key, in: Browser.Layout(size: terminal.size)) {
      case .quit: return true
      case .suspend: suspend(group: true)
      case .reload:
        shown = nil
        attempt { try $0.readNotes() }
      case .restore(let revision): attempt { try $0.restore(revision) }
      case .copy(let revision): attempt { try $0.copy(revision) }
      case .recover(let path): attempt { try $0.recover(path) }
      case .settle(let path): attempt { try $0.settle(path) }
      case .edit(let path): attempt { try $0.edit(EditedNote(path: path)) }
      case .new: attempt { try $0.make() }
      case .delete(let path): attempt { try $0.delete(path) }
      case nil: break
      }
    }
    return false
  }

  private mutating func suspend(group: Bool) {
    terminal.suspend(group: group)
    shown = nil
    attempt { try $0.readNotes() }
  }

  mutating func attempt(_ body: (inout Self) throws -> Void) {
    do {
      try body(&self)
    } catch {
      let failure = Failure(describing: error)
      let hint = failure.hint.map { "; \($0)" } ?? ""
      browser.message = Styled(failure.message + hint, .red)
    }
  }

  private mutating func draw() {
    let screen = browser.screen(terminal.size, now: TimeText.now)
    let update = screen.update(from: shown, usesColour: usesColour)
    if !update.isEmpty { terminal.write(update) }
    shown = screen
  }

  private mutating func refresh() {
    draw()
    findInTexts()
    fetchVersions()
    if let wanted = browser.wantedSubject, wanted != browser.textSubject {
      attempt { $0.browser.show(text: try $0.text(of: wanted), of: wanted) }
      // If a text cannot be read, it is not tried again with every key.
      if browser.textSubject != wanted { browser.show(text: [], of: wanted) }
    }
    draw()
    markRead()
  }

  /// Marks a note as read if the user selected it and its present text is on the screen. Its mark stays
  /// until the list is read again.
  private mutating func markRead() {
    let isTextShown = Browser.Layout(size: terminal.size).isWide || browser.focus == .text
    guard browser.isTouched, isTextShown, let subject = browser.textSubject,
      subject.version == nil, newNotes.remove(subject.path) != nil
    else { return }
    // If this cannot be recorded, the note is new again the next time.
    try? ReadMarks(in: notebook.history).markRead([subject.path])
    notebook.workTree.markRead(subject.path)
  }

  private mutating func fetchVersions() {
    let rows = Browser.Layout(size: terminal.size).rows
    guard browser.wantsVersions(rows: rows), let path = browser.note?.path else { return }
    attempt { session in
      let isNew = session.browser.versionsOf != path
      let walk = isNew ? try session.notebook.history.versions(of: path) : session.walk
      session.walk = walk
      var versions = isNew ? [] : session.browser.versions
      let wanted = versions.count + Self.versionsAtOnce
      var hasMore = true
      while hasMore, versions.count < wanted {
        guard let version = try walk?.next() else {
          hasMore = false
          break
        }
        let author = session.sharedNames.shown(try session.proofs.author(of: version.commit))
        versions += version.changes.prefix(1).map { Browser.Revision(version, $0, author) }
      }
      session.browser.show(versions: versions, of: path, hasMore: hasMore)
    }
    // If the history cannot be read, no versions are shown.
    if browser.versionsOf != path { browser.show(versions: [], of: path, hasMore: false) }
  }

  private func text(of subject: Browser.Subject) throws -> [Styled] {
    guard let id = subject.version else {
      let last = browser.showsDeleted ? try notebook.history.lastVersion(with: subject.path) : nil
      let text =
        try last.map { try notebook.history.text(of: subject.path, at: $0) }
        ?? notebook.workTree.text(of: subject.path)
      return Styled.lines(of: text)
    }
    let version = try notebook.repository.commit(id)
    let after = try notebook.repository.file(at: subject.path, in: version.tree)
    if subject.showsChange, let revision = browser.version {
      let before = try revision.former.map { try notebook.repository.blob($0) }
      return Styled.lines(from: before, to: after)
    }
    return after.map { Styled.lines(of: $0) } ?? [Styled("deleted in this version", .dim)]
  }

  /// The state that the list shows, for noticing changes.
  private struct Snapshot: Equatable {
    let tip: ObjectID?
    let files: [String]

    init(_ notebook: Notebook, _ present: [PresentFile]) throws {
      tip = try notebook.repository.head().commit
      files = present.map { "\($0.path) \($0.modified) \($0.isChanged)" }
    }
  }

  /// Shows changes that other programs and devices have made.
  private mutating func follow() throws {
    let present = try notebook.history.presentNotes()
    let snapshot = try Snapshot(notebook, present)
    if snapshot == self.snapshot { return }
    self.snapshot = snapshot
    let place = browser.textTop
    let message = browser.message
    browser.forget()
    try readNotes()
    refresh()
    (browser.textTop, browser.message) = (place, message)
  }

  /// Searches the notes' texts for the filter, in addition to the titles.
  private mutating func findInTexts() {
    guard let wanted = browser.wantedText else { return }
    attempt { session in
      let query = try SearchQuery(wanted.split(separator: " ").map(String.init))
      let hits = query.terms.isEmpty ? [] : try session.notebook.history.search(query)
      session.browser.show(notesWithText: Set(hits.map(\.path)), for: wanted)
    }
    if browser.wantedText != nil { browser.show(notesWithText: [], for: wanted) }
  }

  private mutating func readNotes() throws {
    guard browser.showsDeleted else { return try readNotes(notebook.history.presentNotes()) }
    let now = TimeText.now
    browser.show(
      notes: try notebook.history.deletedFiles().filter { $0.path.isNote }.map {
        Browser.Note(path: $0.path, modified: $0.time ?? now)
      })
  }

  private mutating func readNotes(_ present: [PresentFile]) throws {
    let times = try notebook.history.times(of: present.map(\.path))
    let conflicts = Set(try notebook.history.conflicts().map(\.path))
    newNotes = try ReadMarks(in: notebook.history).newNotes()
    snapshot = try Snapshot(notebook, present)
    browser.show(
      notes: Self.listed(present, times: times, conflicts: conflicts, newNotes: newNotes))
  }

  /// The notes for the list, those that changed last first. A note that is not in the history has its file's time.
  private static func listed(
    _ notes: [PresentFile], times: [NoteTimes?], conflicts: Set<TreePath>,
    newNotes: Set<TreePath> = []
  ) -> [Browser.Note] {
    zip(notes, times).map { note, times in
      Browser.Note(
        path: note.path,
        modified: (note.isChanged ? nil : times?.modified) ?? note.modified,
        isInConflict: conflicts.contains(note.path), isNew: newNotes.contains(note.path))
    }.sorted { ($1.modified, $0.path) < ($0.modified, $1.path) }
  }

  mutating func reread() throws {
    browser.forget()
    try readNotes()
  }
}

extension Browser.Revision {
  init(_ version: Version, _ change: VersionChange, _ author: String) {
    self.init(
      id: version.commit.id, path: change.path, kind: change.kind, former: change.old,
      time: version.commit.author.time,
      author: author,
      subject: Visible.name(version.subject))
  }
}
