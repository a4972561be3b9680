internal import Git

/// The notes of a notebook that somebody edits on this device.
struct OpenNotes {
  /// Those that an editor has a lock file beside.
  private var locked: Set<TreePath> = []
  /// How many commands say that they edit a note; never 0.
  private var edited: [TreePath: Int] = [:]

  /// The notes, sorted.
  var paths: [TreePath] { locked.union(edited.keys).sorted() }

  /// An editor's lock file has come or gone.
  mutating func setLock(on path: TreePath, _ isThere: Bool) {
    if isThere { locked.insert(path) } else { locked.remove(path) }
  }

  /// A command begins or ends to edit these notes.
  mutating func setEdited(_ paths: [TreePath], _ isOpen: Bool) {
    for path in paths { edited[path, default: 0] += isOpen ? 1 : -1 }
    edited = edited.filter { $0.value > 0 }
  }
}
