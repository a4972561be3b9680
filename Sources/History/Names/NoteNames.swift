public import Git
internal import Glibc
internal import WorkTree

/// Among which notes a name is looked for.
public enum NoteReach: Sendable {
  /// Those of the folder and of the last version.
  case present
  /// Also those that were deleted and did not come back.
  case deleted
  /// Also the names that notes had earlier.
  case former
}

extension History {
  /// The path of the note that `name` means: notes(1), "Names of notes".
  ///
  /// - Throws: `noSuchNote`, `ambiguousNote`.
  public func note(named name: String, among reach: NoteReach = .present) throws -> TreePath {
    guard let found = try search(name, among: reach, takesParts: true) else {
      throw NotebookError.noSuchNote(name)
    }
    return found
  }

  /// The path of the note that has all of this as its path, title or ID; nil where there is none.
  ///
  /// - Throws: `ambiguousNote`.
  public func note(exactly name: String, among reach: NoteReach) throws -> TreePath? {
    try search(name, among: reach, takesParts: false)
  }

  private func search(_ name: String, among reach: NoteReach, takesParts: Bool) throws -> TreePath?
  {
    if let found = try note(spelled: name) { return found }
    // An empty name, as of a variable that is not set, is part of every other.
    if name.isEmpty { return nil }
    let isID = name.utf8.count == NoteSummary.idLength && name.allSatisfy(\.isHexDigit)
    let present = try namesOfFiles()
    if let found = try match(name, in: present, NameRule.exact) { return found }
    if isID, let found = try files().first(where: { $0.id == name.lowercased() }) {
      return found.path
    }
    var gone: [TreePath] = []
    if reach != .present {
      let deleted = try deletedFiles()
      gone = deleted.map(\.path).sorted()
      if let found = try match(name, in: gone, NameRule.exact) { return found }
      if isID, let found = deleted.first(where: { $0.id == name.lowercased() }) {
        return found.path
      }
    }
    guard takesParts else { return nil }
    for paths in [present, gone] {
      if let found = try match(name, in: paths, NameRule.parts) { return found }
    }
    return reach == .former ? try match(name, in: formerPaths(), NameRule.all) : nil
  }

  /// The note whose path this is, with or without the suffix, if no other comes near it: found
  /// without a look at the whole folder.
  public func note(spelled name: String) throws -> TreePath? {
    let index = try workTree.indexFile()
    func isFile(_ path: TreePath) -> Bool {
      index.position(of: path).map { index.mode(at: $0).isFile } ?? false
    }
    let path = TreePath(name)
    if isFile(path) { return path }
    let notes = TreePath.noteSuffixes.map { TreePath(name + $0) }
    let saved = notes.filter(isFile)
    guard saved.count == 1, !name.isEmpty else { return nil }
    let isAlone = notes.allSatisfy { note in
      note == saved[0] || access(workTree.folder + "/" + note.description, F_OK) != 0
    }
    return isAlone ? saved[0] : nil
  }

  private func namesOfFiles() throws -> [TreePath] {
    var paths = Set(try workTree.indexFile().entries.filter { $0.mode.isFile }.map(\.path))
    for candidate in try workTree.scan().candidates { paths.insert(candidate.path) }
    return paths.sorted()
  }

  /// Every name that a file ever had.
  private func formerPaths() throws -> [TreePath] {
    guard let (table, _) = try historyTable() else { return [] }
    let formers = table.changeFormers.filter { $0 != HistoryTable.none }
    return Set(table.changePaths + formers).map { table.path($0) }.sorted()
  }

  /// The only path that the first rule lets through which lets any through.
  private func match(
    _ name: String, in paths: [TreePath], _ rules: [NameRule]
  ) throws -> TreePath? {
    let folded = name.lowercased()
    for rule in rules {
      let found = paths.filter { rule.accepts($0, name, folded) }
      if found.count == 1 { return found.first }
      if found.count > 1 { throw NotebookError.ambiguousNote(name, candidates: found) }
    }
    return nil
  }
}

/// A way in which a path answers to a name.
private struct NameRule {
  /// The path, the name, and the name in lower case.
  let accepts: (TreePath, String, String) -> Bool

  static var exact: [NameRule] {
    [
      NameRule { path, name, _ in path == TreePath(name) },
      NameRule { path, name, _ in path.isNote && path.withoutNoteSuffix == TreePath(name) },
      NameRule { path, name, _ in path.noteTitle == name },
      NameRule { path, _, folded in path.noteTitle.lowercased() == folded },
    ]
  }

  static var parts: [NameRule] {
    [NameRule { path, _, folded in path.description.lowercased().containsText(folded) }]
  }

  static var all: [NameRule] { exact + parts }
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
