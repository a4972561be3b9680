internal import Git
internal import Glibc
internal import History
internal import Notebook
internal import System
internal import WorkTree

/// Finds the notebook and the notes that a command line speaks of.
enum NotebookLocator {
  static func notebook() throws -> Notebook {
    let notebook = try Notebook.open(at: folderOfNotebook())
    let line = ProgressLine()
    notebook.history.progress = { done, count in
      if done == count { line.clear() }
      guard done < count, done.isMultiple(of: 100) else { return }
      line.show("Reading the history: \(Phrase.number(done)) of \(Phrase.number(count))")
    }
    return notebook
  }

  private static func folderOfNotebook() throws -> String {
    do {
      return try Notebook.find(from: ".")
    } catch NotebookError.file {
      // A folder that was deleted, or whose disk is gone, below whoever works in it.
      return try Notebook.find(from: current())
    }
  }

  /// A folder as the user gave it, or the current one, as an absolute path. It need not exist yet.
  static func folder(_ given: String?) throws(Failure) -> String {
    guard let given, given != "." else { return try current() }
    guard !given.isEmpty else { throw .usage("the folder's name is empty") }
    var path = given
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return resolved(path.hasPrefix("/") ? path : try current() + "/" + path)
  }

  /// A path without `.` and `..`, as far as it is there: what is shown and remembered is plain.
  private static func resolved(_ path: String) -> String {
    let names = path.split(separator: "/")
    guard names.contains(where: { $0 == "." || $0 == ".." }) else { return path }
    if let whole = realPath(of: path) { return whole }
    guard let last = names.last, last != ".", last != "..", names.count > 1 else { return path }
    let parent = resolved("/" + names.dropLast().joined(separator: "/"))
    return (parent == "/" ? "" : parent) + "/" + last
  }

  private static func current() throws(Failure) -> String {
    guard let path = getcwd(nil, 0) else {
      throw Failure(
        .failed, "no_current_folder",
        "the current folder cannot be named: \(String(errorNumber: errno))",
        hint: "it may have been deleted: go to another one, or name one with -C DIR")
    }
    defer { free(path) }
    return String(cString: path)
  }

  /// The note a user means: a file seen from the current folder, or whatever the notebook finds by
  /// that name.
  static func note(
    _ name: String, in notebook: Notebook, among reach: NoteReach = .present
  ) throws -> TreePath {
    if let path = path(ofFile: name, in: notebook) { return path }
    return try notebook.history.note(named: name, among: reach)
  }

  /// A note, and the version of it that `NOTE@VERSION` names, with what it was called then. A
  /// note whose path holds the `@` is found first. Of a deleted note it is the last version that has
  /// it, where none is named.
  static func noteVersion(_ text: String, in notebook: Notebook) throws -> (
    path: TreePath, version: NoteVersion?
  ) {
    guard let at = text.lastIndex(of: "@"), at != text.startIndex else {
      let path = try note(text, in: notebook, among: .deleted)
      return (path, try lastVersion(ofDeleted: path, in: notebook))
    }
    if let path = try path(ofFile: text, in: notebook) ?? notebook.history.note(spelled: text) {
      return (path, nil)
    }
    do {
      let path = try note(String(text[..<at]), in: notebook, among: .former)
      let version = String(text[text.index(after: at)...])
      return (path, try notebook.history.noteVersion(named: version, of: path))
    } catch let error as NotebookError {
      // The @ may be a part of the note's own name.
      if let path = try? note(text, in: notebook) { return (path, nil) }
      throw error
    }
  }

  private static func lastVersion(
    ofDeleted path: TreePath, in notebook: Notebook
  ) throws -> NoteVersion? {
    guard try !notebook.isThere(path), try !notebook.workTree.sparseFiles().contains(path),
      let last = try notebook.history.lastVersion(with: path)
    else { return nil }
    Output.errors.line(
      "notes: warning: \(Visible.name(path)) is deleted; this is its text in \(last.id.short)")
    return try notebook.history.noteVersion(named: last.id.hex, of: path)
  }

  /// The path inside the notebook of an existing file or folder, seen from the current folder.
  static func path(ofFile name: String, in notebook: Notebook) -> TreePath? {
    var status = stat()
    guard !name.isEmpty, lstat(name, &status) == 0 else { return nil }
    // The folder's links are resolved, the name itself is kept: it may be a link.
    let slash = name.lastIndex(of: "/")
    let parent = slash.map { $0 == name.startIndex ? "/" : String(name[..<$0]) } ?? "."
    let last = slash.map { String(name[name.index(after: $0)...]) } ?? name
    guard !last.isEmpty, last != ".", last != "..",
      let folder = self.path(ofFolder: parent, in: notebook)
    else { return nil }
    return folder.isEmpty ? TreePath(last) : folder.appending(TreePath(last))
  }

  /// The path in the notebook of a folder seen from here, empty for its top; nil outside of it.
  static func path(ofFolder name: String, in notebook: Notebook) -> TreePath? {
    guard let there = realPath(of: name), let top = realPath(of: notebook.folder) else {
      return nil
    }
    if there == top { return TreePath("") }
    return there.hasPrefix(top + "/") ? TreePath(String(there.dropFirst(top.count + 1))) : nil
  }
}

extension ObjectID {
  /// Enough digits to name a version in a notebook of any size that people have.
  var short: String { String(hex.prefix(10)) }
}

extension TreePath {
  /// How lists name a note: its folder and title.
  var label: String { Visible.name(TreePath(bytes: bytes.dropLast(noteSuffix.utf8.count))) }
}
