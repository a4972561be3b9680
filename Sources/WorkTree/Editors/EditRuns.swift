package import Git
internal import Glibc
package import State
package import System

/// The texts that running `notes edit` commands gave to their editors: a file for each command in
/// `.git/notes/editing/`, locked while the command runs.
package enum EditRuns {
  /// A note that an editor was given.
  package struct Item: Hashable {
    package let path: TreePath
    /// The text that the editor was given.
    package let text: ObjectID
    /// When the editor was given the text, in nanoseconds since 1970.
    package let time: Int64

    package init(path: TreePath, text: ObjectID, time: Int64) {
      (self.path, self.text, self.time) = (path, text, time)
    }
  }

  /// Records the texts that an editor is given, until the returned lock is released; `end` removes
  /// the file.
  package static func begin(_ items: [Item], stateFolder: StateFolder) throws -> FileLock? {
    let folder = stateFolder[.editing]
    try Disk.makeFolder(folder, mode: 0o700)
    let path = "\(folder)/\(getpid())"
    Disk.removeLeftover(path)
    guard let lock = try Disk.lock(path) else { return nil }
    let text = items.map { "\($0.text) \($0.time) \($0.path.hexadecimal)\n" }.joined()
    try Disk.write(Array(text.utf8), to: lock.descriptor, path: path)
    return lock
  }

  package static func end(_ lock: FileLock, stateFolder: StateFolder) {
    withExtendedLifetime(lock) {
      Disk.removeLeftover("\(stateFolder[.editing])/\(getpid())")
    }
  }

  /// The texts of a note that running editors were given. Also removes the files of killed
  /// commands.
  static func all(of path: TreePath, stateFolder: StateFolder) -> [Item] {
    let folder = stateFolder[.editing]
    var found: [Item] = []
    for name in Disk.namesIfAny(in: folder) {
      let file = folder + "/" + name
      guard Disk.isLocked(file) else {
        Disk.removeLeftover(file)
        continue
      }
      for line in Disk.contentIfAny(file).map({ StateLines(parsing: $0).lines }) ?? [] {
        let words = line.words
        guard words.count == 3, let text = words.id(0), let time = Int64(words[1]),
          words.path(2) == path
        else { continue }
        found.append(Item(path: path, text: text, time: time))
      }
    }
    return found
  }
}
