public import Git
internal import Glibc
internal import System
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
  /// The path of the note that `name` means: notes(1), "Names of notes". Throws `noSuchNote` and
  /// `ambiguousNote`.
  public func note(named name: String, among reach: NoteReach = .present) throws -> TreePath {
    guard let found = try search(name, among: reach, takesParts: true) else {
      throw WorkTreeError.noSuchNote(name)
    }
    return found
  }

  /// The path of the note that has all of this as its path, title or ID; nil where there is none.
  /// Throws `ambiguousNote`.
  public func note(exactly name: String, among reach: NoteReach) throws -> TreePath? {
    try search(name, among: reach, takesParts: false)
  }

  private func search(_ name: String, among reach: NoteReach, takesParts: Bool) throws -> TreePath?
  {
    if let found = try note(spelled: name) { return found }
    // An empty name, as of a variable that is not set, is part of every other.
    if name.isEmpty { return nil }
    let isID = name.utf8.count == NoteSummary.idLength && name.allSatisfy(\.isHexDigit)
    let rules = NameRules(name)
    let present = try presentPaths()
    if let found = try rules.match(present, rules.exact) { return found }
    if isID, let found = try files().first(where: { $0.id == name.lowercased() }) {
      return found.path
    }
    var gone: [TreePath] = []
    if reach != .present {
      let deleted = try deletedFiles()
      gone = deleted.map(\.path).sorted()
      if let found = try rules.match(gone, rules.exact) { return found }
      if isID, let found = deleted.first(where: { $0.id == name.lowercased() }) {
        return found.path
      }
    }
    guard takesParts else { return nil }
    if let found = try rules.match(present, rules.parts) ?? rules.match(gone, rules.parts) {
      return found
    }
    // The table has every name that a file ever had.
    guard reach == .former, let table = try historyTable()?.table else { return nil }
    return try rules.match(table.paths.indices.map(table.path).sorted(), rules.exact + rules.parts)
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
      note == saved[0] || Counted.access(workTree.folder + "/" + note.description, F_OK) != 0
    }
    return isAlone ? saved[0] : nil
  }
}

extension History {
  /// The files that a pattern of the shell's matches: notes(1), "Names of notes". None where the text is no
  /// pattern, or nothing is like it.
  ///
  /// - Parameter folder: the one that a pattern with a slash is seen from, and else from the notebook's.
  public func files(like pattern: String, in folder: TreePath) throws -> [TreePath] {
    guard NamePattern.isOne(pattern) else { return [] }
    let present = try presentPaths()
    let patterns =
      pattern.contains("/") && !folder.isEmpty ? ["\(folder)/\(pattern)", pattern] : [pattern]
    for pattern in patterns.map(NamePattern.init) {
      for isExact in [true, false] {
        let found = present.filter { pattern.matches($0, isExact: isExact) }
        if !found.isEmpty { return found }
      }
    }
    return []
  }

  /// Whether the tip has a folder of this path.
  public func isFolderInTip(_ path: TreePath) throws -> Bool {
    guard let tree = try tipTree() else { return false }
    return try repository.entry(at: path, in: tree)?.mode == .tree
  }

  /// All files that the folder or the last version has, by path.
  private func presentPaths() throws -> [TreePath] {
    let index = try workTree.indexFile()
    let known = (0..<index.count).filter { index.mode(at: $0).isFile }.map(index.path(at:))
    return (known + (try workTree.newFiles(besides: index))).sorted()
  }
}

/// A pattern of the shell's: fnmatch(3).
public struct NamePattern {
  private let text: String

  /// A pattern, which is a text with `*`, `?` or `[`.
  public init(_ text: String) { self.text = text }

  /// Whether a text is a pattern.
  public static func isOne(_ text: String) -> Bool { text.contains { "*?[".contains($0) } }

  /// Whether a file is like it: with a slash in it by its path, else by its name; with or without the
  /// suffix. `isExact` tells capital letters from small ones.
  public func matches(_ path: TreePath, isExact: Bool = false) -> Bool {
    let place = text.contains("/") ? path : path.name
    let names = [place, place.withoutNoteSuffix].map(\.description)
    return names.contains { name in
      let (pattern, name) = isExact ? (text, name) : (text.lowercased(), name.lowercased())
      return fnmatch(pattern, name, FNM_PATHNAME | FNM_PERIOD) == 0
    }
  }
}

/// The ways in which a path answers to a name, the closest first.
private struct NameRules {
  typealias Rule = (TreePath) -> Bool

  let name: String
  let exact: [Rule]
  let parts: [Rule]

  init(_ name: String) {
    self.name = name
    let path = TreePath(name)
    let folded = name.lowercased()
    exact = [
      { $0 == path },
      { $0.isNote && $0.withoutNoteSuffix == path },
      { $0.noteTitle == name },
      { $0.noteTitle.lowercased() == folded },
    ]
    let part = Array(folded.utf8)
    parts = [{ Array($0.description.lowercased().utf8).firstRange(of: part) != nil }]
  }

  /// The only path that the first rule lets through which lets any through.
  func match(_ paths: [TreePath], _ rules: [Rule]) throws -> TreePath? {
    for rule in rules {
      let found = paths.filter(rule)
      if found.count == 1 { return found.first }
      if found.count > 1 { throw HistoryError.ambiguousNote(name, candidates: found) }
    }
    return nil
  }
}
