public import Git

extension Notebook {
  /// The path of the note that `name` means, among the files of the folder and of the tip.
  ///
  /// In this order: a path, a path without the suffix, a title, a title in another case, the
  /// ID of a note that is there, a part of one path only.
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
