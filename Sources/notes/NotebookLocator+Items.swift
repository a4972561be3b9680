internal import Git
internal import Glibc
internal import History
internal import Notebook
internal import WorkTree

enum Item: Equatable {
  case note(TreePath)
  case folder(TreePath)

  var path: TreePath {
    switch self {
    case .note(let path), .folder(let path): path
    }
  }
}

extension NotebookLocator {
  /// What a name means where it may be a folder's: with a slash at its end the folder; else a note of
  /// that path or title, then a folder, then a note by a part of its name.
  static func item(
    _ name: String, in notebook: Notebook, among reach: NoteReach = .present
  ) throws -> Item {
    // Neither the notebook's folder nor one above it is in the notebook.
    if name.allSatisfy({ $0 == "." || $0 == "/" }) { throw NotebookError.noSuchNote(name) }
    if name.hasSuffix("/") {
      if let folder = folder(named: name, in: notebook) { return .folder(folder) }
      guard reach != .present else { throw NotebookError.noSuchNote(name) }
      return .folder(TreePath(bytes: trimmed(name).utf8))
    }
    let folder = folder(named: name, in: notebook)
    do {
      let reach = folder == nil ? reach : .present
      // A link or a pipe is no note; one of that title may be.
      let found =
        try isSpecial(name)
        ? notebook.history.note(named: name, among: reach) : note(name, in: notebook, among: reach)
      guard let folder else { return .note(found) }
      return found != folder && isExact(found, name) ? .note(found) : .folder(folder)
    } catch NotebookError.noSuchNote(let name) {
      guard let folder else { throw NotebookError.noSuchNote(name) }
      return .folder(folder)
    } catch NotebookError.ambiguousNote(let name, let candidates) {
      guard let folder, !candidates.allSatisfy({ isExact($0, name) }) else {
        throw NotebookError.ambiguousNote(name, candidates: candidates)
      }
      return .folder(folder)
    }
  }

  /// The note that is meant; a folder is no answer.
  static func noteOnly(_ name: String, in notebook: Notebook) throws -> TreePath {
    switch try item(name, in: notebook) {
    case .note(let path): return path
    case .folder(let path):
      throw Failure.folder(path)
    }
  }

  private static func isSpecial(_ name: String) -> Bool {
    var status = stat()
    let kinds = [S_IFREG, S_IFDIR]
    return lstat(name, &status) == 0 && !kinds.contains(status.st_mode & S_IFMT)
  }

  private static func isExact(_ path: TreePath, _ name: String) -> Bool {
    let folded = name.lowercased()
    let label = path.parent.map { "\($0)/\(path.noteTitle)" } ?? path.noteTitle
    return [path.description, path.noteTitle, label].contains { $0.lowercased() == folded }
  }

  /// The folder of that name, seen from the current one or from the notebook's.
  static func folder(named name: String, in notebook: Notebook) -> TreePath? {
    let name = trimmed(name)
    var status = stat()
    if let path = path(ofFile: name, in: notebook), lstat(name, &status) == 0,
      status.st_mode & S_IFMT == S_IFDIR
    {
      return path == ".git" || path.description.hasPrefix(".git/") ? nil : path
    }
    guard !name.isEmpty, !name.hasPrefix("/"),
      lstat(notebook.folder + "/" + name, &status) == 0, status.st_mode & S_IFMT == S_IFDIR
    else { return nil }
    let path = TreePath(bytes: name.utf8)
    let isPlain = path.components.allSatisfy { NameRules.problem(with: $0) == nil }
    return isPlain && path.components.count == name.split(separator: "/").count ? path : nil
  }

  /// As `folder(named:)`, or the notebook's own as an empty path.
  static func folderOrTop(named name: String, in notebook: Notebook) -> TreePath? {
    let last = trimmed(name).split(separator: "/").last
    guard last == "." || last == ".." else { return folder(named: name, in: notebook) }
    return path(ofFolder: name, in: notebook)
  }

  /// The current folder as a path in the notebook; empty at its top.
  static func currentFolder(in notebook: Notebook) -> TreePath {
    path(ofFolder: ".", in: notebook) ?? TreePath("")
  }

  private static func trimmed(_ name: String) -> String {
    var name = name
    while name.count > 1, name.hasSuffix("/") { name.removeLast() }
    return name
  }
}
