internal import Glibc
internal import Notebook
internal import System
internal import Watch
internal import WorkTree

typealias Disk = FileSystem<SystemCallError>

/// The folders of this user's files, by the XDG Base Directory Specification. A device is told apart by
/// these folders: another $XDG_DATA_HOME is another device.
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

  /// The folder of sockets, or nil if the system keeps no such folder for the user.
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

extension KnownNotebooks {
  /// Those that can be opened, once each. Of the others a warning is written.
  func openable() -> [Notebook] {
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
    return notebooks
  }

  /// Those that can be opened, where there are any.
  func notebooks() throws -> [Notebook] {
    let notebooks = openable()
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

  /// Calls `changed` on a thread of its own, once at first; never where it cannot be watched.
  func watch(_ changed: @escaping @Sendable () -> Void) -> FileWatch? {
    // Nil says that it cannot be watched.
    try? FileWatch(Self.name, in: dataFolder, changed: changed)
  }
}
