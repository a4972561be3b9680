public import Git
internal import Glibc
internal import System
internal import WorkTree

/// The notes among which a name is searched.
public enum NoteReach: Sendable {
  /// The notes in the folder and in the last version.
  case present
  /// The present notes, and deleted ones.
  case deleted
  /// The present and deleted notes, also by their earlier names.
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

  /// The path of the note whose path, title or ID is exactly `name`; nil if there is none. Throws
  /// `ambiguousNote`.
  public func note(exactly name: String, among reach: NoteReach) throws -> TreePath? {
    try search(name, among: reach, takesParts: false)
  }

  private func search(_ name: String, among reach: NoteReach, takesParts: Bool) throws -> TreePath?
  {
    if let found = try note(spelled: name) { return found }
    // An empty name, such as from an unset variable, would be a part of every path.
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

  /// The note with this path, with or without the suffix, found without a scan of the folder. Nil if another
  /// path is similar.
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
  /// The files that a shell pattern matches: notes(1), "Names of notes". Empty if the text is not a
  /// pattern, or if nothing matches.
  ///
  /// - Parameter folder: a pattern with a slash is relative to this folder first, then to the notebook's.
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

  /// Whether the tip has a folder at this path.
  public func isFolderInTip(_ path: TreePath) throws -> Bool {
    guard let tree = try tipTree() else { return false }
    return try repository.entry(at: path, in: tree)?.mode == .tree
  }

  /// All files in the folder or in the last version, by path.
  private func presentPaths() throws -> [TreePath] {
    let index = try workTree.indexFile()
    let known = (0..<index.count).filter { index.mode(at: $0).isFile }.map(index.path(at:))
    return (known + (try workTree.newFiles(besides: index))).sorted()
  }
}

/// A shell pattern: fnmatch(3).
public struct NamePattern {
  private let text: String

  /// A pattern: a text with `*`, `?` or `[`.
  public init(_ text: String) { self.text = text }

  /// Whether a text is a pattern.
  public static func isOne(_ text: String) -> Bool { text.contains { "*?[".contains($0) } }

  /// Whether a file matches. A pattern with a slash is compared with the file's path, any other with its name,
  /// with and without the suffix. `isExact` distinguishes upper and lower case.
  public func matches(_ path: TreePath, isExact: Bool = false) -> Bool {
    let place = text.contains("/") ? path : path.name
    let names = [place, place.withoutNoteSuffix].map(\.description)
    return names.contains { name in
      let (pattern, name) = isExact ? (text, name) : (text.lowercased(), name.lowercased())
      return fnmatch(pattern, name, FNM_PATHNAME | FNM_PERIOD) == 0
    }
  }
}

/// The ways in which a path can match a name, the closest first.
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

  /// The path that matches by the first rule by which any path matches. Throws `ambiguousNote` if several match by that
  /// rule.
  func match(_ paths: [TreePath], _ rules: [Rule]) throws -> TreePath? {
    for rule in rules {
      let found = paths.filter(rule)
      if found.count == 1 { return found.first }
      if found.count > 1 { throw HistoryError.ambiguousNote(name, candidates: found) }
    }
    return nil
  }
}
