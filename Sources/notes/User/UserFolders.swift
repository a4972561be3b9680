internal import Glibc
internal import Notebook
internal import System
internal import Watch
internal import WorkTree

typealias Disk = FileSystem<SystemCallError>

/// Where this user's files of `notes` are, by the XDG Base Directory Specification. A device is told
/// apart by these folders: another $XDG_DATA_HOME is another device.
struct UserFolders {
  var environment = Environment.process

  var data: String { get throws(Failure) { try folder("XDG_DATA_HOME", below: ".local/share") } }

  var config: String { get throws(Failure) { try folder("XDG_CONFIG_HOME", below: ".config") } }

  var units: String {
    get throws(Failure) {
      let settings = try config
      return settings.dropLast("notes".count) + "systemd/user"
    }
  }

  /// Where sockets are, or nil where the system keeps no such folder for the user.
  var runtime: String? { absolute("XDG_RUNTIME_DIR").map { $0 + "/notes" } }

  private func folder(_ variable: String, below home: String) throws(Failure) -> String {
    if let folder = absolute(variable) { return folder + "/notes" }
    guard let path = absolute("HOME") else {
      throw Failure(
        .failed, "no_home", "the home folder is not known, because HOME is not set",
        hint: "set HOME, or \(variable), to an absolute path")
    }
    return path + "/" + home + "/notes"
  }

  /// The specification has empty and relative values ignored.
  private func absolute(_ variable: String) -> String? {
    guard let path = environment[variable], path.hasPrefix("/") else { return nil }
    return path
  }
}

struct Environment: Sendable {
  /// These variables alone, or nil for this process's.
  let fixed: [String: String]?

  /// This process's environment, read when asked so that nothing is copied at start-up.
  static let process = Environment(fixed: nil)

  subscript(name: String) -> String? {
    if let fixed { return fixed[name] }
    return getenv(name).map { String(cString: $0) }
  }
}

/// The notebooks that were made or joined on this device: `$XDG_DATA_HOME/notes/notebooks`, a line
/// `ID FOLDER` each. It is what `notes watch --all` goes by; lines may be taken out by hand.
struct KnownNotebooks {
  let dataFolder: String
  private static let name = "notebooks"
  private var path: String { dataFolder + "/" + Self.name }

  /// In the order in which they were made. Where one notebook has several, for instance because it was
  /// moved, the last of those that are there.
  func folders() -> [String] {
    func isThere(_ folder: String) -> Bool { Counted.access(folder + "/.git", F_OK) == 0 }
    var found: [(id: String, folder: String)] = []
    for (id, folder) in lines where folder.hasPrefix("/") {
      if let place = found.firstIndex(where: { $0.id == id }) {
        if isThere(folder) || !isThere(found[place].folder) { found[place].folder = folder }
      } else {
        found.append((id, folder))
      }
    }
    return found.map(\.folder)
  }

  /// Those that can be opened, once each. Of the others a warning is written.
  func notebooks() throws -> [Notebook] {
    var notebooks: [Notebook] = []
    for folder in folders() {
      do {
        let notebook = try Notebook.open(at: folder)
        let isKnown = notebooks.contains { $0.identity.id == notebook.identity.id }
        if !isKnown { notebooks.append(notebook) }
      } catch {
        Self.leaveOut(folder, error)
      }
    }
    guard notebooks.isEmpty else { return notebooks }
    throw Failure(
      .failed, "no_notebooks", "no notebook is known on this device",
      hint: "'notes init' makes one, 'notes join' brings one; or name its folder")
  }

  /// Says that all are meant, but for this one.
  static func leaveOut(_ folder: String, _ error: any Error) {
    let reason = Failure(describing: error).message
    Output.errors.write("notes: warning: \(Visible.name(folder)) is left out: \(reason)\n")
    Output.errors.flush()
  }

  /// Adds a notebook, if it is not the last one noted under its ID. The list is a convenience: where
  /// it cannot be written, all else goes on.
  func add(_ notebook: Notebook) {
    guard let folder = realPath(of: notebook.folder) else { return }
    let id = notebook.identity.id
    guard lines.last(where: { $0.key == id })?.value != folder, !folder.contains(where: \.isNewline)
    else { return }
    let file = Counted.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    defer { close(file) }
    // One call, so that two commands at once make two lines.
    let bytes = StateLines([id: folder]).bytes
    _ = write(file, bytes, bytes.count)
  }

  /// Calls `changed` on a thread of its own, once at first; never where it cannot be watched.
  func watch(_ changed: @escaping @Sendable () -> Void) -> FileWatch? {
    try? FileWatch(Self.name, in: dataFolder, changed: changed)
  }

  private var lines: [(key: String, value: String)] {
    StateLines(parsing: (try? Disk.read(path)) ?? []).lines
  }
}
