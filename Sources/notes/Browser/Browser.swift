internal import Git
internal import WorkTree

/// The state of the browser and the user's position in it: a value that keys change, and that can be drawn
/// at any size. It reads no files; `wantedSubject` names what it needs.
struct Browser {
  struct Note: Equatable, Sendable {
    let path: TreePath
    let modified: Int64
    var isInConflict = false
    /// Whether another device changed the note since somebody last read it here.
    var isNew = false

    var label: String { path.label }
  }

  struct Revision: Equatable, Sendable {
    let id: ObjectID
    let path: TreePath
    let kind: ChangeKind
    /// The note's blob before; nil if there was none.
    let former: ObjectID?
    let time: Int64
    let author: String
    let subject: String
  }

  enum Focus { case notes, versions, text }

  struct Subject: Equatable, Sendable {
    let path: TreePath
    /// A version; nil for the text in the folder.
    var version: ObjectID?
    var showsChange = false
  }

  enum Request: Equatable {
    case restore(Revision)
    case copy(Revision)
    case recover(TreePath)
    case settle(TreePath)
    case edit(TreePath)
    case new
    case delete(TreePath)
    case suspend
    case reload
    case quit
  }

  let title: String
  private(set) var notes: [Note] = []
  private(set) var listed: [Note] = []
  var filter = "" { didSet { if filter != oldValue { applyFilter() } } }
  /// The notes whose texts contain the words of `filter`.
  private var inText: (filter: String, paths: Set<TreePath>)?
  var isFiltering = false
  /// The note that is deleted if the key is pressed again.
  var doomed: TreePath?
  var showsDeleted = false
  var focus = Focus.notes
  var noteList = ListPlace()
  private(set) var versions: [Revision] = []
  private(set) var versionsOf: TreePath?
  private(set) var hasMoreVersions = false
  var versionList = ListPlace()
  var showsChange = true
  private(set) var text: [Styled] = []
  private(set) var textSubject: Subject?
  var textTop = 0
  var showsHelp = false
  var isTouched = false
  /// The last message, until the next key.
  var message: Styled?
  private(set) var wrapped: (width: Int, lines: [Styled]) = (0, [])

  init(title: String) { self.title = title }

  var note: Note? { listed.indices.contains(noteList.selected) ? listed[noteList.selected] : nil }

  var list: ListPlace {
    get { focus == .notes ? noteList : versionList }
    set { if focus == .notes { noteList = newValue } else { versionList = newValue } }
  }

  var listCount: Int { focus == .notes ? listed.count : versions.count }

  var version: Revision? {
    let place = versionList.selected
    return versionsOf == note?.path && versions.indices.contains(place) ? versions[place] : nil
  }

  var wantedSubject: Subject? {
    guard let note else { return nil }
    if focus == .notes { return Subject(path: note.path) }
    return version.map { Subject(path: $0.path, version: $0.id, showsChange: showsChange) }
  }

  func wantsVersions(rows: Int) -> Bool {
    guard focus != .notes, let note else { return false }
    return versionsOf != note.path
      || (hasMoreVersions && versionList.selected + 2 * rows >= versions.count)
  }

  /// Shows other notes in the list. The selected note stays selected.
  mutating func show(notes: [Note]) {
    let chosen = isTouched ? note?.path : nil
    self.notes = notes
    applyFilter()
    if let place = listed.firstIndex(where: { $0.path == chosen }) {
      noteList.selected = place
    } else {
      focus = .notes
    }
  }

  /// The text to search for in the notes; nil if there is none, or if the search is done.
  var wantedText: String? {
    filter.isEmpty || showsDeleted || inText?.filter == filter ? nil : filter
  }

  /// Sets the notes whose texts contain the words of a filter.
  mutating func show(notesWithText paths: Set<TreePath>, for filter: String) {
    let chosen = note?.path
    inText = (filter, paths)
    applyFilter()
    if let place = listed.firstIndex(where: { $0.path == chosen }) { noteList.selected = place }
  }

  mutating func show(versions: [Revision], of path: TreePath, hasMore: Bool) {
    if versionsOf != path { versionList = ListPlace() }
    self.versions = versions
    versionsOf = path
    hasMoreVersions = hasMore
    versionList.clamp(to: versions.count)
  }

  mutating func show(text: [Styled], of subject: Subject) {
    if textSubject != subject { textTop = 0 }
    self.text = text
    textSubject = subject
    wrapped = (0, [])
  }

  mutating func forget() {
    versionsOf = nil
    textSubject = nil
  }

  mutating func wrap(to width: Int) {
    guard wrapped.width != width else { return }
    wrapped = (width, text.flatMap { $0.wrapped(to: width) })
  }

  private mutating func applyFilter() {
    let words = filter.lowercased().split(separator: " ")
    let found = inText.flatMap { $0.filter == filter ? $0.paths : nil } ?? []
    listed = notes.filter { note in
      if words.isEmpty || found.contains(note.path) { return true }
      let label = Array(note.label.lowercased().utf8)
      return words.allSatisfy { word in
        label.indices.contains { label[$0...].starts(with: word.utf8) }
      }
    }
    noteList = ListPlace()
  }
}

/// The user's position in a list: the selected row, and the first one on the screen.
struct ListPlace: Equatable {
  var selected = 0
  var top = 0

  mutating func move(by steps: Int, in count: Int) {
    selected += steps
    clamp(to: count)
  }

  mutating func clamp(to count: Int) { selected = max(0, min(selected, count - 1)) }

  /// Scrolls just far enough to show the selected row.
  mutating func reveal(rows: Int, of count: Int) {
    top = min(max(top, selected - rows + 1), selected)
    top = max(0, min(top, count - rows))
  }
}
