internal import Git

/// The files of a merged tree by path, and what each of its folders has. A path may be a file's and a folder's until
/// names are settled.
struct MergedFiles {
  /// The files by path.
  private(set) var byPath: [TreePath: TermFile] = [:]
  /// The paths of the files and folders that are directly in each folder; that of the notebook itself is empty.
  private var contents: [TreePath: Set<TreePath>] = [:]

  /// The file at a path, or nil.
  subscript(path: TreePath) -> TermFile? { byPath[path] }

  /// Whether some file is below a path.
  func isFolder(_ path: TreePath) -> Bool { contents[path] != nil }

  /// The paths of the files and folders that are directly in a folder.
  func names(in folder: TreePath) -> Set<TreePath> { contents[folder] ?? [] }

  /// Puts a file at a path, or takes away the one that is there; returns that one.
  @discardableResult
  mutating func put(_ file: TermFile?, at path: TreePath) -> TermFile? {
    let former = byPath[path]
    byPath[path] = file
    if former == nil, file != nil { add(path) }
    if former != nil, file == nil { remove(path) }
    return former
  }

  /// The paths of the files that have a name or are in the folder of that name, sorted.
  func paths(below name: TreePath) -> [TreePath] {
    var (found, pending) = ([TreePath](), [name])
    while let path = pending.popLast() {
      if byPath[path] != nil { found.append(path) }
      pending += names(in: path)
    }
    return found.sorted()
  }

  /// Each folder is in the one above it: what is above one that was there before is there as well.
  private mutating func add(_ path: TreePath) {
    var name = path
    while !name.isEmpty {
      let folder = name.parent ?? ""
      let isKnown = contents[folder] != nil
      contents[folder, default: []].insert(name)
      if isKnown { return }
      name = folder
    }
  }

  private mutating func remove(_ path: TreePath) {
    var name = path
    while !name.isEmpty, byPath[name] == nil, contents[name] == nil {
      let folder = name.parent ?? ""
      contents[folder]?.remove(name)
      if contents[folder]?.isEmpty == true { contents[folder] = nil }
      name = folder
    }
  }
}
