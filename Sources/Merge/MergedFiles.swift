internal import Git

/// The files of a merged tree by path, and the content of each folder. Until names are settled, a path may be a
/// file's and a folder's at the same time.
struct MergedFiles {
  /// The files by path.
  private(set) var byPath: [TreePath: TermFile] = [:]
  /// The paths of the files and folders directly in each folder; the notebook's own folder has the
  /// empty path.
  private var contents: [TreePath: Set<TreePath>] = [:]

  /// The file at a path; nil if there is none.
  subscript(path: TreePath) -> TermFile? { byPath[path] }

  /// Whether there is a file below a path.
  func isFolder(_ path: TreePath) -> Bool { contents[path] != nil }

  /// The paths of the files and folders directly in a folder.
  func names(in folder: TreePath) -> Set<TreePath> { contents[folder] ?? [] }

  /// Puts a file at a path, or removes the file there if nil; returns the former file.
  @discardableResult
  mutating func put(_ file: TermFile?, at path: TreePath) -> TermFile? {
    let former = byPath[path]
    byPath[path] = file
    if former == nil, file != nil { add(path) }
    if former != nil, file == nil { remove(path) }
    return former
  }

  /// The paths of the files with a name, or in the folder with that name, sorted.
  func paths(below name: TreePath) -> [TreePath] {
    var (found, pending) = ([TreePath](), [name])
    while let path = pending.popLast() {
      if byPath[path] != nil { found.append(path) }
      pending += names(in: path)
    }
    return found.sorted()
  }

  /// If a folder already exists, so do the folders above it.
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
