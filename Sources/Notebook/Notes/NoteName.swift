public import Git
internal import Glibc
internal import History
internal import Merge
internal import System
internal import WorkTree

extension Notebook {
  /// The path of a note with that title: notes-new(1), "Titles".
  ///
  /// - Parameters:
  ///   - title: the title, after the folders it is in, separated by slashes; it may have a suffix.
  ///   - folder: the folder to which the title is relative.
  ///   - suffix: the suffix for a title without one; empty for an attachment.
  /// - Throws: `unfitTitle`.
  public func path(
    titled title: String, in folder: TreePath = "", suffix: String = ".txt"
  ) throws -> TreePath {
    let parts = Array(title.utf8).split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false
    ).map { TreePath(bytes: $0) }
    func refuse(_ problem: String?) throws {
      if let problem { throw NotebookError.unfitTitle(title, problem) }
    }
    guard let last = parts.last, !title.isEmpty else {
      throw NotebookError.unfitTitle(title, "it is empty")
    }
    if title.hasPrefix("/") { try refuse("it is an absolute path") }
    // The name is checked before the suffix hides the problem.
    try refuse(NameRules.problem(with: last))
    let name = last.isNote ? last : TreePath(bytes: last.bytes + Array(suffix.utf8))
    var path = folder
    for part in parts.dropLast() + [name] {
      if part == "." { continue }
      if part == ".." {
        if path.isEmpty { try refuse("it leads out of the notebook") }
        path = path.parent ?? ""
        continue
      }
      try refuse(NameRules.problem(with: part))
      if SkipRules.isDebris(part.bytes) {
        try refuse("a name of editors' own files, not versioned")
      }
      if workTree.isHidden(part) { try refuse("a hidden file, not versioned") }
      path = path.appending(part)
    }
    if self.folder.utf8.count + 2 + path.bytes.count >= Int(PATH_MAX) {
      try refuse("a path longer than the system allows")
    }
    let rules = try IgnoreRules(of: workTree, index: workTree.indexFile())
    if try rules.isIgnored(path, isFolder: false) { try refuse("left out by .gitignore") }
    return path
  }

  /// Throws if a file with this name would clash with another. `own` does not count; with
  /// `anySuffix`, a note with the same title and another suffix does.
  func checkIsFree(_ path: TreePath, except own: TreePath? = nil, anySuffix: Bool = false) throws {
    var parent = TreePath("")
    for name in path.components {
      let isLast = parent.appending(name) == path
      for present in try names(in: parent) {
        let other = parent.appending(present.name)
        // An existing folder on the path is used.
        if other == own || present.name == name && !isLast && present.isFolder { continue }
        let isTwin =
          isLast && anySuffix && !present.isFolder && present.name.isNote
          && NameKey(TreePath(present.name.noteTitle)) == NameKey(TreePath(name.noteTitle))
        if isTwin || NameKey(present.name) == NameKey(name) {
          try FolderAccess(folder: folder).checkIsPlain(other)
          throw NotebookError.nameTaken(path, by: other, isFolder: present.isFolder)
        }
      }
      parent = parent.appending(name)
    }
  }

  /// Throws if a file cannot be restored under its name: a folder has the name, or a file has that
  /// of a folder above.
  func checkCanStand(_ path: TreePath) throws {
    guard let tree = try history.tipTree() else { return }
    if try repository.entry(at: path, in: tree)?.mode == .tree {
      throw NotebookError.nameTaken(path, by: path, isFolder: true)
    }
    for folder in path.ancestors {
      if let entry = try repository.entry(at: folder, in: tree), entry.mode != .tree {
        throw NotebookError.nameTaken(path, by: folder, isFolder: false)
      }
    }
  }

  private func names(in folder: TreePath) throws -> [(name: TreePath, isFolder: Bool)] {
    var found: [(name: TreePath, isFolder: Bool)] = []
    try FolderAccess(folder: self.folder).list(folder) {
      found.append((TreePath(bytes: $0.name), $0.isFolder))
    }
    return found.sorted { $0.name < $1.name }
  }
}
