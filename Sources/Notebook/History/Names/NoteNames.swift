public import Git
internal import Glibc

extension Notebook {
  /// The path of the note that `name` means, among the files of the folder and of the tip.
  ///
  /// In this order: a path, a path without the suffix, a title, a title in another case, the
  /// ID of a note that is there, a part of one path only.
  ///
  /// - Parameter deleted: look also among notes that only history has.
  public func note(named name: String, includingDeleted deleted: Bool = false) throws -> TreePath {
    if let found = try note(spelled: name) { return found }
    var paths = Set(try indexFile().entries.filter { $0.mode.isFile }.map(\.path))
    for candidate in try scan().candidates { paths.insert(candidate.path) }
    if let found = try match(name, in: paths.sorted()) { return found }
    if deleted {
      // What a note was called last counts before the names that it had earlier.
      if let found = try match(name, in: deletedFiles().map(\.path).sorted()) { return found }
      let table = try historyTable()?.table
      let former =
        table.map { table in
          Set(
            table.changePaths.map { table.path($0) }
              + table.changeFormers.compactMap {
                $0 == HistoryTable.none ? nil : table.path($0)
              })
        } ?? []
      if let found = try match(name, in: former.sorted()) { return found }
    }
    throw NotebookError.noSuchNote(name)
  }

  /// The note whose path this is, with or without the suffix, if no other comes near it: found
  /// without a look at the whole folder.
  public func note(spelled name: String) throws -> TreePath? {
    let index = try indexFile()
    func isFile(_ path: TreePath) -> Bool {
      index.position(of: path).map { index.mode(at: $0).isFile } ?? false
    }
    let path = TreePath(name)
    if isFile(path) { return path }
    let notes = TreePath.noteSuffixes.map { TreePath(name + $0) }
    let saved = notes.filter(isFile)
    guard saved.count == 1, !name.isEmpty else { return nil }
    let isAlone = notes.allSatisfy { note in
      note == saved[0] || access(folder + "/" + note.description, F_OK) != 0
    }
    return isAlone ? saved[0] : nil
  }

  private func match(_ name: String, in paths: [TreePath]) throws -> TreePath? {
    // An empty name, as of a variable that is not set, is part of every other.
    if name.isEmpty { return nil }
    let wanted = TreePath(name)
    if paths.contains(wanted) { return wanted }
    let folded = name.lowercased()
    // Asked for only where the name can be an ID.
    let canBeID = name.utf8.count == NoteSummary.idLength && name.allSatisfy(\.isHexDigit)
    let identified = canBeID ? try files().first { $0.id == folded }?.path : nil
    let rules: [(TreePath) -> Bool] = [
      { path in path.isNote && path.withoutNoteSuffix == wanted },
      { $0.noteTitle == name },
      { $0.noteTitle.lowercased() == folded },
      { $0 == identified },
      { $0.description.lowercased().containsText(folded) },
    ]
    for rule in rules {
      let found = paths.filter(rule)
      if found.count == 1 { return found.first }
      if found.count > 1 { throw NotebookError.ambiguousNote(name, candidates: found) }
    }
    return nil
  }
}

extension String {
  fileprivate func containsText(_ part: String) -> Bool {
    let text = Array(utf8)
    let wanted = Array(part.utf8)
    guard !wanted.isEmpty, text.count >= wanted.count else { return wanted.isEmpty }
    return (0...(text.count - wanted.count)).contains { start in
      text[start..<(start + wanted.count)].elementsEqual(wanted)
    }
  }
}
