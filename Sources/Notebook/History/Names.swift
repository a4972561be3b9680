public import Git
internal import Glibc

extension Notebook {
  /// The path of the note that `name` means, among the files of the folder and of the tip.
  ///
  /// In this order: a path, a path without the suffix, a title, a title in another case, a part of
  /// one path only.
  ///
  /// - Parameter deleted: look also among notes that only history has.
  public func note(named name: String, includingDeleted deleted: Bool = false) throws -> TreePath {
    var paths = Set(try indexFile().entries.filter { $0.mode.isFile }.map(\.path))
    for candidate in try scan().candidates { paths.insert(candidate.file.path) }
    if let found = try match(name, in: paths.sorted()) { return found }
    if deleted {
      var former: Set<TreePath> = []
      try forEachVersion { version in
        for change in version.changes { former.insert(change.path) }
        return true
      }
      if let found = try match(name, in: former.sorted()) { return found }
    }
    throw NotebookError.noSuchNote(name)
  }

  private func match(_ name: String, in paths: [TreePath]) throws -> TreePath? {
    let wanted = TreePath(name)
    if paths.contains(wanted) { return wanted }
    let folded = name.lowercased()
    let rules: [(TreePath) -> Bool] = [
      { path in path.isNote && path.withoutNoteSuffix == wanted },
      { $0.noteTitle == name },
      { $0.noteTitle.lowercased() == folded },
      { $0.description.lowercased().containsText(folded) },
    ]
    for rule in rules {
      let found = paths.filter(rule)
      if found.count == 1 { return found.first }
      if found.count > 1 { throw NotebookError.ambiguousNote(name, candidates: found) }
    }
    return nil
  }

  /// The version that `name` means: an ID prefix of four digits or more, `~N` (N versions of that
  /// note, or of the notebook, back), `YYYY-MM-DD` or `YYYY-MM-DD HH:MM` (the last version by then,
  /// local time; a day means its end).
  public func version(named name: String, of path: TreePath? = nil) throws -> Commit {
    if name.hasPrefix("~") {
      guard let back = Int(name.dropFirst()), back >= 0 else {
        throw NotebookError.noSuchVersion(name)
      }
      return try version(name, of: path, skipping: back) { _ in true }
    }
    if let time = LocalTime.parse(name) {
      return try version(name, of: path, skipping: 0) { $0.author.time <= time }
    }
    do {
      if let id = try repository.object(withPrefix: name) { return try repository.commit(id) }
    } catch GitError.ambiguousPrefix {
      throw NotebookError.ambiguousVersion(name)
    } catch GitError.wrongKind {
      throw NotebookError.noSuchVersion(name)
    }
    throw NotebookError.noSuchVersion(name)
  }

  private func version(
    _ name: String, of path: TreePath?, skipping count: Int, where condition: (Commit) -> Bool
  ) throws -> Commit {
    var left = count
    var found: Commit?
    try forEachVersion(of: path) { version in
      guard condition(version.commit) else { return true }
      if left == 0 { found = version.commit }
      left -= 1
      return found == nil
    }
    guard let found else { throw NotebookError.noSuchVersion(name) }
    return found
  }
}

extension TreePath {
  /// The path without the suffix that makes it a note.
  var withoutNoteSuffix: TreePath {
    let suffix = name.bytes.count - Array(noteTitle.utf8).count
    return isNote ? TreePath(bytes: bytes.dropLast(suffix)) : self
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

/// Dates as people type them, in the local zone.
enum LocalTime {
  /// Seconds since 1970 of `YYYY-MM-DD HH:MM` (its last second), or of the end of `YYYY-MM-DD`; nil
  /// for any other text.
  static func parse(_ text: String) -> Int64? {
    let numbers = text.split(whereSeparator: { "- :".contains($0) }).map { Int32($0) }
    let separators = text.filter { !$0.isNumber }
    guard separators == "--" || separators == "-- :", text.utf8.count <= 16,
      numbers.count == (separators == "--" ? 3 : 5), !numbers.contains(nil)
    else { return nil }
    let fields = numbers.compactMap { $0 }
    guard (1970...9999).contains(fields[0]), (1...12).contains(fields[1]),
      (1...31).contains(fields[2])
    else { return nil }
    var local = tm()
    (local.tm_year, local.tm_mon, local.tm_mday) = (fields[0] - 1900, fields[1] - 1, fields[2])
    (local.tm_hour, local.tm_min) = fields.count == 5 ? (fields[3], fields[4]) : (23, 59)
    guard (0...23).contains(local.tm_hour), (0...59).contains(local.tm_min) else { return nil }
    local.tm_sec = 59
    local.tm_isdst = -1
    return Int64(mktime(&local))
  }
}
