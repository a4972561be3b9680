internal import Glibc
internal import Notebook
internal import System
internal import Watch
internal import WorkTree

typealias Disk = FileSystem<SystemCallError>

/// The folders of this user's files, by the XDG Base Directory Specification. These folders define a
/// device: another $XDG_DATA_HOME is another device.
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

  /// The folder of sockets; nil if the system has no such folder for the user.
  var runtime: String? { absolute("XDG_RUNTIME_DIR").map { $0 + "/notes" } }

  private func folder(_ variable: String, below home: String) throws(Failure) -> String {
    if let folder = absolute(variable) { return folder + "/notes" }
    guard let path = absolute("HOME") else {
      throw Failure(
        .failed, "no_home", "there is no home folder: HOME is not set",
        hint: "set HOME, or \(variable), to an absolute path")
    }
    return path + "/" + home + "/notes"
  }

  /// The specification says to ignore empty and relative values.
  private func absolute(_ variable: String) -> String? {
    guard let path = environment[variable], path.hasPrefix("/") else { return nil }
    return path
  }
}

struct Environment: Sendable {
  /// The variables; nil for this process's environment.
  let fixed: [String: String]?

  /// This process's environment, read on demand, so that the start copies nothing.
  static let process = Environment(fixed: nil)

  subscript(name: String) -> String? {
    if let fixed { return fixed[name] }
    return getenv(name).map { String(cString: $0) }
  }
}

extension KnownNotebooks {
  /// The notebooks that can be opened, each once. Writes a warning about the others.
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

  /// The notebooks that can be opened; throws if there are none.
  func notebooks() throws -> [Notebook] {
    let notebooks = openable()
    guard notebooks.isEmpty else { return notebooks }
    throw Failure(
      .failed, "no_notebooks", "this device knows no notebook",
      hint: "make one with 'notes init', join one with 'notes join', or give its folder")
  }

  /// Warns that a notebook is skipped.
  static func leaveOut(_ folder: String, _ error: any Error) {
    let reason = Failure(describing: error).message
    Output.errors.write("notes: warning: \(Visible.name(folder)) is skipped: \(reason)\n")
    Output.errors.flush()
  }

  /// Calls `changed` on a thread of its own, once at first; never if the list cannot be watched.
  func watch(_ changed: @escaping @Sendable () -> Void) -> FileWatch? {
    // Nil means that the list cannot be watched.
    try? FileWatch(Self.name, in: dataFolder, changed: changed)
  }
}
