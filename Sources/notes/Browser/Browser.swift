internal import Git
internal import Notebook
internal import WorkTree

/// What the browser shows and where the user is in it: a value that keys change, and that can be
/// drawn at any size. It reads nothing itself; `wanted` says what it needs.
struct Browser {
  struct Note: Equatable, Sendable {
    let path: TreePath
    var modified: Int64
    var isInConflict = false
    /// The label in small letters, which the filter looks in.
    let folded: String
    let label: String

    init(path: TreePath, modified: Int64, isInConflict: Bool = false) {
      self.path = path
      self.modified = modified
      self.isInConflict = isInConflict
      label = path.label
      folded = label.lowercased()
    }
  }

  struct Revision: Equatable, Sendable {
    let id: ObjectID
    let path: TreePath
    let kind: ChangeKind
    /// The note's blob before it; nil where there was no note.
    let former: ObjectID?
    let time: Int64
    let author: String
    let subject: String
  }

  enum Focus { case notes, versions, text }

  struct Subject: Equatable, Sendable {
    let path: TreePath
    /// A version, or nil for the text in the folder.
    var version: ObjectID?
    var showsChange = false
  }

  enum Request: Equatable {
    case restore(Revision)
    case copy(Revision)
    /// A deleted note is to come back as it was last.
    case recover(TreePath)
    case suspend
    case reload
    case quit
  }

  let title: String
  private(set) var notes: [Note] = []
  /// The notes that pass the filter, as places in `notes`.
  private(set) var listed: [Int] = []
  var filter = "" { didSet { if filter != oldValue { applyFilter() } } }
  var isFiltering = false
  var showsDeleted = false
  var focus = Focus.notes
  var noteList = ListPlace()
  private(set) var versions: [Revision] = []
  private(set) var versionsOf: TreePath?
  /// Whether there may be more versions than were fetched.
  private(set) var hasMoreVersions = false
  var versionList = ListPlace()
  var showsChange = true
  private(set) var text: [Styled] = []
  private(set) var textSubject: Subject?
  var textTop = 0
  var showsHelp = false
  var isTouched = false
  /// What happened last, until the next key.
  var message: Styled?
  /// The text broken into lines of a width.
  private(set) var wrapped: (width: Int, lines: [Styled]) = (0, [])

  init(title: String) { self.title = title }

  var note: Note? {
    listed.indices.contains(noteList.selected) ? notes[listed[noteList.selected]] : nil
  }

  var version: Revision? {
    guard versionsOf == note?.path, versions.indices.contains(versionList.selected) else {
      return nil
    }
    return versions[versionList.selected]
  }

  /// What the pane at the right should show; nil where it has nothing to show.
  var wantedSubject: Subject? {
    guard let note else { return nil }
    if focus == .notes { return Subject(path: note.path) }
    return version.map { Subject(path: $0.path, version: $0.id, showsChange: showsChange) }
  }

  /// Whether versions of `note` should be fetched, and from which on.
  func wantsVersions(rows: Int) -> Bool {
    guard focus != .notes, let note else { return false }
    return versionsOf != note.path
      || (hasMoreVersions && versionList.selected + 2 * rows >= versions.count)
  }
}

// What the browser is told.
extension Browser {
  /// The notes there are, in the order they are listed. The one that the user chose stays chosen.
  mutating func show(notes: [Note]) {
    let chosen = isTouched ? note?.path : nil
    self.notes = notes
    applyFilter()
    if let place = listed.firstIndex(where: { notes[$0].path == chosen }) {
      noteList.selected = place
    } else {
      focus = .notes
    }
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

  /// Forgets what was read, after something changed.
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
    listed = notes.indices.filter { place in
      words.allSatisfy { notes[place].folded.holds($0) }
    }
    noteList = ListPlace()
  }
}

/// Where the user is in a list: what is chosen, and what stands in the first row.
struct ListPlace: Equatable {
  var selected = 0
  var top = 0

  mutating func move(by steps: Int, in count: Int) {
    selected += steps
    clamp(to: count)
  }

  mutating func clamp(to count: Int) {
    selected = max(0, min(selected, count - 1))
  }

  /// Scrolls as little as brings what is chosen into sight.
  mutating func reveal(rows: Int, of count: Int) {
    top = min(max(top, selected - rows + 1), selected)
    top = max(0, min(top, count - rows))
  }
}

extension String {
  /// Whether the bytes of a word stand in the text.
  fileprivate func holds(_ word: Substring) -> Bool {
    var text = self
    var word = String(word)
    return text.withUTF8 { text in
      word.withUTF8 { word in
        guard text.count >= word.count else { return false }
        return (0...(text.count - word.count)).contains { start in
          UnsafeBufferPointer(rebasing: text[start..<(start + word.count)]).elementsEqual(word)
        }
      }
    }
  }
}
