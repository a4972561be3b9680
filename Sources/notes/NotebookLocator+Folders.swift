internal import Git
internal import Glibc
internal import History
internal import Notebook
internal import WorkTree

/// Names that may also be a folder's.
extension NotebookLocator {
  /// The item that a name means if folders are allowed. With a slash at its end, it is the folder. Otherwise it
  /// is a note with that path or title, then a folder, then a note by a part of its name.
  static func item(
    _ name: String, in notebook: Notebook, among reach: NoteReach = .present
  ) throws -> Item {
    // The notebook's folder and those above it are not items.
    if name.allSatisfy({ $0 == "." || $0 == "/" }) { throw WorkTreeError.noSuchNote(name) }
    let folder = folder(named: name, in: notebook)
    if name.hasSuffix("/") {
      if let folder { return Item(path: folder, isFolder: true) }
      guard reach != .present else { throw WorkTreeError.noSuchNote(name) }
      return Item(path: TreePath(bytes: trimmed(name).utf8), isFolder: true)
    }
    let noteReach = folder == nil ? reach : .present
    do {
      // A link or a pipe is not a note; a note may have that title.
      let isPlain = [S_IFREG, S_IFDIR, nil].contains(kind(of: name))
      let found =
        try isPlain
        ? note(name, in: notebook, among: noteReach)
        : notebook.history.note(named: name, among: noteReach)
      guard let folder, found == folder || !isExact(found, name)
      else { return Item(path: found, isFolder: false) }
      return Item(path: folder, isFolder: true)
    } catch {
      guard let folder else { throw error }
      switch error {
      case WorkTreeError.noSuchNote: break
      case HistoryError.ambiguousNote(let name, let found)
      where !found.allSatisfy({ isExact($0, name) }): break
      default: throw error
      }
      return Item(path: folder, isFolder: true)
    }
  }

  /// The item that each of some names means: a note, a folder, or the matches of a pattern, as in notes(1),
  /// "Names of notes". `.` is the current folder, which may be the notebook's own: an empty path.
  static func items(_ names: [String], in notebook: Notebook) throws -> [Item] {
    try names.flatMap { name -> [Item] in
      if let folder = folderOfDots(name, in: notebook) { return [folder] }
      do {
        return [try tellingLinks(named: name, in: notebook) { try item(name, in: notebook) }]
      } catch WorkTreeError.noSuchNote(let missing) {
        if let folder = savedFolder(named: name, in: notebook) { return [folder] }
        let found = try notebook.history.files(like: name, in: currentFolder(in: notebook))
        if found.isEmpty { throw WorkTreeError.noSuchNote(missing) }
        return found.map { Item(path: $0, isFolder: false) }
      }
    }
  }

  /// A note or a folder, or the folder that `.` or `..` means.
  static func itemOrTop(
    _ name: String, in notebook: Notebook, among reach: NoteReach = .present
  ) throws -> Item {
    try folderOfDots(name, in: notebook) ?? item(name, in: notebook, among: reach)
  }

  /// The folder that `.`, `./` and similar names mean, if it is in the notebook.
  private static func folderOfDots(_ name: String, in notebook: Notebook) -> Item? {
    let last = trimmed(name).split(separator: "/").last
    guard last == "." || last == ".." else { return nil }
    return path(ofFolder: name, in: notebook).map { Item(path: $0, isFolder: true) }
  }

  /// A folder that is in the last version and no longer exists.
  private static func savedFolder(named name: String, in notebook: Notebook) -> Item? {
    guard name.hasSuffix("/") else { return nil }
    let plain = TreePath(trimmed(name))
    let here = currentFolder(in: notebook)
    let places = here.isEmpty ? [plain] : [here.appending(plain), plain]
    // If the version cannot be read, it has no such folder; the search continues and reports the
    // error.
    return places.first { (try? notebook.history.isFolderInTip($0)) == true }
      .map { Item(path: $0, isFolder: true) }
  }

  static func noteOnly(_ name: String, in notebook: Notebook) throws -> TreePath {
    let item: Item = try tellingLinks(named: name, in: notebook) {
      try self.item(name, in: notebook)
    }
    if item.isFolder { throw Failure.folder(item.path) }
    return item.path
  }

  private static func isExact(_ path: TreePath, _ name: String) -> Bool {
    let folded = name.lowercased()
    let label = path.parent.map { "\($0)/\(path.noteTitle)" } ?? path.noteTitle
    return [path.description, path.noteTitle, label].contains { $0.lowercased() == folded }
  }

  /// The folder with that name, relative to the current one or to the notebook's.
  static func folder(named name: String, in notebook: Notebook) -> TreePath? {
    let name = trimmed(name)
    if let path = path(ofFile: name, in: notebook), kind(of: name) == S_IFDIR {
      return path == ".git" || path.description.hasPrefix(".git/") ? nil : path
    }
    guard !name.isEmpty, !name.hasPrefix("/"), kind(of: notebook.folder + "/" + name) == S_IFDIR
    else { return nil }
    let path = TreePath(bytes: name.utf8)
    let isPlain = path.components.allSatisfy { NameRules.problem(with: $0) == nil }
    return isPlain && path.components.count == name.split(separator: "/").count ? path : nil
  }

  /// Like `folder(named:)`, or the notebook's own folder as an empty path.
  static func folderOrTop(named name: String, in notebook: Notebook) -> TreePath? {
    let last = trimmed(name).split(separator: "/").last
    guard last == "." || last == ".." else { return folder(named: name, in: notebook) }
    return path(ofFolder: name, in: notebook)
  }

  /// Like `folderOrTop(named:)`, but throws if there is no folder.
  static func existingFolder(named name: String, in notebook: Notebook) throws(Failure) -> TreePath
  {
    if let folder = folderOrTop(named: name, in: notebook) { return folder }
    throw Failure(
      .failed, "no_such_folder", "there is no folder '\(Visible.name(name))'",
      hint: "write its path from the current folder or from the notebook's top", name: name)
  }

  static func currentFolder(in notebook: Notebook) -> TreePath {
    path(ofFolder: ".", in: notebook) ?? TreePath("")
  }
}

struct Item {
  let path: TreePath
  let isFolder: Bool
}
