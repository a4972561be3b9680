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
  ///   - title: the title, after its folders, separated by slashes; it may have a suffix.
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
    // Check the name before a suffix is added, which would hide the problem.
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
      path = path.appending(part)
    }
    if self.folder.utf8.count + 2 + path.bytes.count >= Int(PATH_MAX) {
      try refuse("a path longer than the system allows")
    }
    try refuse(newFiles().reasonKeptBack(path))
    return path
  }

  /// The rules that decide whether a new file is versioned.
  func newFiles() throws -> NewFiles {
    NewFiles(
      workTree: workTree, rules: try IgnoreRules(of: workTree, index: workTree.indexFile()))
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

/// The rules for files that a command makes: each file is versioned, or the command refuses to make it.
struct NewFiles {
  let workTree: WorkTree
  let rules: IgnoreRules

  /// The reason, in words for people, why a file at this path would not be versioned; nil if it would be.
  func reasonKeptBack(_ path: TreePath) throws -> String? {
    for name in path.components {
      if SkipRules.isDebris(name.bytes) { return "a name of editors' own files, not versioned" }
      if workTree.isHidden(name) { return "a hidden file, not versioned" }
    }
    return try rules.isIgnored(path, isFolder: false) ? "ignored by .gitignore" : nil
  }
}
