internal import Exchange
internal import Git
internal import Glibc
internal import History
internal import Membership
internal import Notebook
internal import System
internal import WorkTree

enum NotebookLocator {
  static func notebook() throws -> Notebook {
    let notebook = try Notebook.open(at: folderOfNotebook())
    notebook.signer = .ofUser
    notebook.saveNotice = { Output.errors.write($0.warning) }
    notebook.pruneNotice = { lost, version in
      Output.errors.write(
        "notes: warning: git removed version \(lost.short) while it was being saved\nnotes: hint: "
          + "version \(version.short) replaces it; stop watchers before 'git prune'\n"
      )
    }
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
    } catch NotebookError.notANotebook(let folder) {
      if let chosen = try Setting.defaultNotebook.value() { return try Notebook.find(from: chosen) }
      throw outside(folder)
    } catch WorkTreeError.file {
      // The current folder was deleted, or its disk is gone.
      return try Notebook.find(from: current())
    }
  }

  /// The error that the folder is not in a notebook, with a list of this device's notebooks.
  private static func outside(_ folder: String) -> any Error {
    let error = NotebookError.notANotebook(folder: folder)
    // The list only adds to the error.
    guard let data = try? UserFolders().data else { return error }
    let known = KnownNotebooks(dataFolder: data).folders().filter { Counted.access($0, F_OK) == 0 }
    guard let first = known.first else { return error }
    var failure = Failure(describing: error)
    failure.hint =
      known.count == 1
      ? "your notebook is \(Visible.name(first)); 'notes config default \(Visible.word(first))' "
        + "makes it the default"
      : "'notes notebooks' lists yours; go to one, or make one the default with 'notes config "
        + "default FOLDER'"
    return failure
  }

  /// The absolute path of the given folder, or of the current one. It need not exist yet.
  static func folder(_ given: String?) throws(Failure) -> String {
    guard let given, given != "." else { return try current() }
    guard !given.isEmpty else { throw .usage("the folder's name is empty") }
    return resolved(trimmed(given.hasPrefix("/") ? given : try current() + "/" + given))
  }

  /// A path without `.` and `..`, as far as it exists: for messages and records.
  private static func resolved(_ path: String) -> String {
    let names = path.split(separator: "/")
    guard names.contains(where: { $0 == "." || $0 == ".." }) else { return path }
    if let whole = realPath(of: path) { return whole }
    guard let last = names.last, last != ".", last != "..", names.count > 1 else { return path }
    let parent = resolved("/" + names.dropLast().joined(separator: "/"))
    return (parent == "/" ? "" : parent) + "/" + last
  }

  static func trimmed(_ name: String) -> String {
    var name = name
    while name.count > 1, name.hasSuffix("/") { name.removeLast() }
    return name
  }

  private static func current() throws(Failure) -> String {
    guard let path = getcwd(nil, 0) else {
      throw .system(
        "the current folder has no path", errno: errno, kind: "no_current_folder",
        hint: "it may have been deleted: go to another one, or name one with -C DIR")
    }
    defer { free(path) }
    return String(cString: path)
  }

  /// The note for a path relative to the current folder, or for any other name.
  static func note(
    _ name: String, in notebook: Notebook, among reach: NoteReach = .present
  ) throws -> TreePath {
    try tellingLinks(named: name, in: notebook) {
      try plainNote(name, in: notebook, among: reach)
    }
  }

  private static func plainNote(
    _ name: String, in notebook: Notebook, among reach: NoteReach
  ) throws -> TreePath {
    if let path = path(ofFile: name, in: notebook) { return path }
    // A relative path without the suffix.
    if name.hasPrefix("./") || name.hasPrefix("../"), let slash = name.lastIndex(of: "/"),
      let folder = path(ofFolder: String(name[..<slash]), in: notebook)
    {
      let path = folder.appending(TreePath(String(name[slash...].dropFirst())))
      return try notebook.history.note(named: path.description, among: reach)
    }
    return try notebook.history.note(named: name, among: reach)
  }

  /// Throws `notPlain` instead of `noSuchNote` if a link, a pipe or a device has the name.
  static func tellingLinks<Found>(
    named name: String, in notebook: Notebook, _ find: () throws -> Found
  ) throws -> Found {
    do {
      return try find()
    } catch WorkTreeError.noSuchNote(let missing) {
      for place in [name, name + ".txt", name + ".md"] {
        let path =
          path(ofFile: place, in: notebook)
          ?? (place.hasPrefix("/") || place.hasPrefix(".") ? nil : TreePath(place))
        if let path { try FolderAccess(folder: notebook.folder).checkIsPlain(path) }
      }
      throw WorkTreeError.noSuchNote(missing)
    }
  }

  /// A note, and its version that `NOTE@VERSION` names. A note with the `@` in its path has
  /// priority. For a deleted note, the default is its last version.
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
    } catch {
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

  /// The path in the notebook of an existing file or folder, given relative to the current folder.
  static func path(ofFile name: String, in notebook: Notebook) -> TreePath? {
    guard kind(of: name) != nil else { return nil }
    // The folder's links are resolved, but the name itself is kept: it may be a link.
    let last = name.lastIndex(of: "/").map { name[name.index(after: $0)...] } ?? name[...]
    guard !last.isEmpty, last != ".", last != "..",
      let folder = path(ofFolder: Disk.parent(of: name), in: notebook)
    else { return nil }
    return folder.appending(TreePath(String(last)))
  }

  /// The file type at a path, without following a link: the S_IFMT bits of stat(2); nil if nothing
  /// is there.
  static func kind(of path: String) -> mode_t? {
    var status = stat()
    return Counted.lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
  }

  /// The path in the notebook of a folder given relative to the current one, empty for the
  /// notebook's own; nil outside of it.
  static func path(ofFolder name: String, in notebook: Notebook) -> TreePath? {
    guard let there = realPath(of: name), let top = realPath(of: notebook.folder)
    else { return nil }
    if there == top { return TreePath("") }
    return there.hasPrefix(top + "/") ? TreePath(String(there.dropFirst(top.count + 1))) : nil
  }
}

extension ObjectID {
  /// The first digits of the ID: enough to be unique in a notebook of any realistic size.
  var short: String { String(hex.prefix(10)) }
}

extension TreePath {
  var label: String { Visible.name(TreePath(bytes: bytes.dropLast(noteSuffix.utf8.count))) }
}

extension Notebook {
  func sessionContext() throws -> SessionContext {
    let folder = try UserFolders().data
    guard let context = try SessionContext(of: self, keysIn: folder) else {
      throw Failure(
        .failed, "other_device", "this notebook was made or joined with another device key",
        hint: "the key belongs in \(Visible.name(folder)); XDG_DATA_HOME and HOME set this folder"
      )
    }
    return context
  }

  /// If this device is a member, stores the data that it needs to fetch the notebook again.
  func keepMembership() throws {
    try KeptMembership.update(of: self, for: sessionContext(), in: UserFolders().data)
  }

  func membership() throws -> MembershipStore {
    try MembershipStore.open(in: MembershipStore.folder(ofNotebookAt: stateFolder))
  }
}
