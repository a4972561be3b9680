internal import Glibc
internal import State
internal import System
internal import WorkTree

/// The notebooks that were made or joined on this device: `$XDG_DATA_HOME/notes/notebooks`, a line `ID
/// FOLDER` for each. `notes watch --all` and `notes web --all` use it; people may delete lines.
package struct KnownNotebooks: Sendable {
  /// The folder of the user's data: the list, and the device keys.
  package let dataFolder: String
  /// The list's file name in that folder.
  package static let name = "notebooks"
  private var path: String { dataFolder + "/" + Self.name }

  /// The list in this data folder.
  package init(dataFolder: String) { self.dataFolder = dataFolder }

  /// The folders, in the order in which they were added. A notebook may have several, for example because it
  /// was moved; then it is the last one that exists.
  package func folders() -> [String] {
    func isThere(_ folder: String) -> Bool { Counted.access(folder + "/.git", F_OK) == 0 }
    var found: [(id: String, folder: String)] = []
    for (id, folder) in lines.map({ ($0.key, $0.value) }) where folder.hasPrefix("/") {
      // If the membership was started over, or another notebook was made in the folder, the same
      // folder has another ID now.
      found.removeAll { $0.folder == folder && $0.id != id }
      if let place = found.firstIndex(where: { $0.id == id }) {
        if isThere(folder) || !isThere(found[place].folder) { found[place].folder = folder }
      } else {
        found.append((id, folder))
      }
    }
    return found.map(\.folder)
  }

  /// Adds a notebook, unless it is already the last folder of its ID. The list is a convenience: a
  /// failure to write it is ignored.
  package func add(_ notebook: Notebook) {
    guard let folder = realPath(of: notebook.folder) else { return }
    let id = notebook.identity.id
    guard lines.last(where: { $0.key == id })?.value != folder, !folder.contains(where: \.isNewline)
    else { return }
    let file = Counted.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    defer { close(file) }
    // Writes with one system call, so that two commands at once write two whole lines.
    let bytes = StateLines([id: folder]).bytes
    _ = write(file, bytes, bytes.count)
  }

  private var lines: [StateLine] {
    StateLines(parsing: Disk.contentIfAny(path) ?? []).lines
  }
}
