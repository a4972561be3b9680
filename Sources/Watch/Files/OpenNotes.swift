internal import Git

/// The notes of a notebook that people edit on this device.
struct OpenNotes {
  /// The notes with an editor's lock file beside them.
  private var locked: Set<TreePath> = []
  /// How many commands report that they edit a note; never 0.
  private var edited: [TreePath: Int] = [:]

  var paths: [TreePath] { locked.union(edited.keys).sorted() }

  mutating func setLock(on path: TreePath, _ isThere: Bool) {
    if isThere { locked.insert(path) } else { locked.remove(path) }
  }

  mutating func setEdited(_ paths: [TreePath], _ isOpen: Bool) {
    for path in paths { edited[path, default: 0] += isOpen ? 1 : -1 }
    edited = edited.filter { $0.value > 0 }
  }
}
