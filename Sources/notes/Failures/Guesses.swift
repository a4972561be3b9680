internal import Git
internal import History
internal import Notebook

extension Failure {
  static func guess(_ name: String, among names: [String]) -> String? {
    Similarity.nearest(to: name, among: names).map { "did you mean '\(Visible.name($0))'?" }
  }

  static func folder(_ path: TreePath) -> Failure {
    Failure(
      .failed, "is_a_folder", "\(Visible.name(path)) is a folder, not a note",
      hint: "'notes list --folder \(Visible.word(path.description))' lists the notes in it")
  }

  /// If there is no note or folder with a name, the same failure with a suggestion: a deleted note, or
  /// similar names.
  func withNearNames() -> Failure {
    let isNote = kind == "no_such_note"
    guard isNote || ["no_such_folder", "ambiguous_note"].contains(kind), let name, !name.isEmpty,
      // If the notebook cannot be opened, only the suggestion is missing.
      let notebook = try? NotebookLocator.notebook()
    else { return self }
    if kind != "no_such_folder", let folder = NotebookLocator.folder(named: name, in: notebook) {
      return isNote || name.hasSuffix("/") ? .folder(folder) : self
    }
    if kind == "ambiguous_note" { return self }
    var failure = self
    // If the history cannot be read, only the suggestion is missing.
    if isNote, let gone = try? notebook.history.note(exactly: name, among: .deleted),
      // If the folder cannot be read, only the suggestion is missing.
      (try? notebook.isThere(gone)) == false
    {
      failure.hint = "it was deleted; 'notes restore \(Visible.word(name))' brings it back"
    } else if let near = NearNames.of(name, in: notebook, foldersAlone: !isNote) {
      failure.hint = "did you mean \(near)?"
    }
    return failure
  }
}

extension Failure {
  /// If only an admin can help against a failure, the same failure with the names of the notebook's
  /// admins.
  func withAdmins() -> Failure {
    let kinds = ["not_an_admin", "not_a_member", "certificate_refused", "refused_by_peer"]
    guard kinds.contains(kind), hint?.contains("an admin") == true,
      // Without a readable notebook, the hint names nobody.
      let notebook = try? NotebookLocator.notebook()
    else { return self }
    let own = OwnMembership(of: notebook)
    var failure = self
    // This device has already responded to an invitation, so it needs no other.
    if kind == "not_a_member", own.hasAsked { failure.hint = own.guestAdvice }
    return failure.naming(admins: own.adminNames)
  }

  func naming(admins: [String]) -> Failure {
    guard let hint, let words = hint.firstRange(of: "an admin"), !admins.isEmpty else {
      return self
    }
    var failure = self
    failure.hint =
      hint[..<words.upperBound] + " (\(Phrase.list(admins, "or")))" + hint[words.upperBound...]
    return failure
  }
}

/// Names in a notebook that are similar to a mistyped one, as a phrase; nil if there are none.
enum NearNames {
  /// Deleted notes count if no present one is similar.
  static func of(_ name: String, in notebook: Notebook, foldersAlone: Bool) -> String? {
    let notes = present(in: notebook)
    let isFolder = foldersAlone || name.hasSuffix("/")
    if !isFolder, let titles = titles(of: notes, near: name) { return titles }
    let folders = TreePath.folders(of: notes).map(\.description)
    let typed = NotebookLocator.trimmed(name)
    if let near = list(Similarity.titles(near: typed, among: folders).map { $0 + "/" }) {
      return near
    }
    // If the history cannot be read, only the suggestion is missing.
    guard !isFolder, let gone = try? notebook.history.deletedFiles().map(\.path).filter(\.isNote)
    else { return nil }
    return titles(of: gone, near: name).map { $0 + ", which was deleted" }
  }

  static func titles(near name: String, in notebook: Notebook) -> String? {
    titles(of: present(in: notebook), near: name)
  }

  private static func present(in notebook: Notebook) -> [TreePath] {
    // If the folder cannot be read, only the suggestion is missing.
    (try? notebook.history.presentNotes().map(\.path)) ?? []
  }

  private static func titles(of notes: [TreePath], near name: String) -> String? {
    // A name with a folder may be wrong in either part.
    let hasFolder = name.contains("/")
    let titles = notes.map { note in
      hasFolder ? String(note.description.dropLast(note.noteSuffix.count)) : note.noteTitle
    }
    return list(Similarity.titles(near: name, among: titles))
  }

  private static func list(_ names: [String]) -> String? {
    names.isEmpty ? nil : Phrase.list(names.map { "'\(Visible.name($0))'" }, "or")
  }
}

extension TreePath {
  static func folders(of notes: [TreePath]) -> [TreePath] {
    var folders: Set<TreePath> = []
    for note in notes {
      var folder = note.parent
      while let path = folder, folders.insert(path).inserted { folder = path.parent }
    }
    return folders.sorted()
  }
}

enum Similarity {
  /// The word with the fewest typing errors relative to `typed`; nil if none is similar.
  static func nearest(to typed: String, among words: [String]) -> String? {
    let typed = typed.lowercased()
    // The beginning of a word counts as no error; otherwise a third of the letters may be wrong.
    if typed.count > 1, let completed = words.first(where: { $0.lowercased().hasPrefix(typed) }) {
      return completed
    }
    let near = words.map { (slips: slips(from: typed, to: $0.lowercased()), word: $0) }
    let best = near.min { $0 < $1 }
    return best.flatMap { $0.slips <= max(1, typed.count / 3) ? $0.word : nil }
  }

  /// At most three titles with few typing errors, in the title or in one of its words.
  static func titles(near typed: String, among titles: [String]) -> [String] {
    let typed = typed.lowercased()
    let limit = max(1, typed.count / 4)
    let near = titles.compactMap { title -> (slips: Int, title: String)? in
      let folded = title.lowercased()
      let words = [folded] + folded.split(separator: " ").map(String.init)
      // A difference in length requires at least as many changes.
      let close = words.filter { abs($0.count - typed.count) <= limit }
      let best = close.map { slips(from: typed, to: $0) }.min() ?? .max
      return best <= limit ? (best, title) : nil
    }
    return near.sorted { $0 < $1 }.prefix(3).map(\.title)
  }

  /// The number of letters to insert, drop, change or swap with their neighbour (optimal string
  /// alignment).
  private static func slips(from left: String, to right: String) -> Int {
    let (left, right) = (Array(left), Array(right))
    var rows = [Array(0...right.count)]
    for (row, letter) in left.enumerated() {
      var current = [row + 1]
      for (column, other) in right.enumerated() {
        var cost = min(
          rows[row][column + 1] + 1, current[column] + 1,
          rows[row][column] + (letter == other ? 0 : 1))
        if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
          cost = min(cost, rows[row - 1][column - 1] + 1)
        }
        current.append(cost)
      }
      rows.append(current)
    }
    return rows[left.count][right.count]
  }
}
