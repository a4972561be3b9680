internal import Glibc
internal import Notebook
internal import System
internal import Watch
internal import WorkTree

/// The notebooks that were made or joined on this device: `$XDG_DATA_HOME/notes/notebooks`, a line
/// `ID FOLDER` each. It is what `notes watch --all` goes by; lines may be taken out by hand.
struct KnownNotebooks {
  private let dataFolder: String
  private static let name = "notebooks"
  private var path: String { dataFolder + "/" + Self.name }

  init(dataFolder: String) { self.dataFolder = dataFolder }

  /// Their folders, in the order in which they were made. Where one notebook has several, for
  /// instance because it was moved, the last of those that are there.
  func folders() -> [String] {
    var found: [(id: String, folder: String)] = []
    for (id, folder) in lines where folder.hasPrefix("/") {
      if let place = found.firstIndex(where: { $0.id == id }) {
        let isThere = access(folder + "/.git", F_OK) == 0
        if isThere || access(found[place].folder + "/.git", F_OK) != 0 {
          found[place].folder = folder
        }
      } else {
        found.append((id, folder))
      }
    }
    return found.map(\.folder)
  }

  /// Adds a notebook, if it is not the last one noted under its ID. The list is a convenience: where
  /// it cannot be written, all else goes on.
  func add(_ notebook: Notebook) {
    guard let folder = realPath(of: notebook.folder) else { return }
    let id = notebook.identity.id
    guard lines.last(where: { $0.key == id })?.value != folder,
      !folder.contains(where: \.isNewline)
    else { return }
    let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    defer { close(file) }
    // One call, so that two commands at once make two lines.
    let bytes = StateLines([id: folder]).bytes
    _ = write(file, bytes, bytes.count)
  }

  /// Calls `changed` when the list may have changed, on a thread of its own, and once at first. Where it
  /// cannot be watched, nobody is called.
  func watch(_ changed: @escaping @Sendable () -> Void) -> FileWatch? {
    try? FileWatch(Self.name, in: dataFolder, changed: changed)
  }

  private var lines: [(key: String, value: String)] {
    StateLines(parsing: (try? Disk.read(path)) ?? []).lines
  }
}
