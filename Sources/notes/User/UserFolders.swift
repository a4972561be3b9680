internal import System

/// Calls on the user's own files.
typealias Disk = FileSystem<SystemCallError>

/// Where this user's own files of `notes` are, by the XDG Base Directory Specification.
///
/// A device is told apart by these folders: another $XDG_DATA_HOME is another device.
struct UserFolders {
  private let environment: Environment

  init(environment: Environment = .process) { self.environment = environment }

  var data: String {
    get throws(Failure) { try folder("XDG_DATA_HOME", below: ".local/share") }
  }

  var config: String {
    get throws(Failure) { try folder("XDG_CONFIG_HOME", below: ".config") }
  }

  var units: String {
    get throws(Failure) {
      let settings = try config
      return settings.dropLast("notes".count) + "systemd/user"
    }
  }

  /// Where sockets are, or nil where the system keeps no such folder for the user.
  var runtime: String? {
    absolute("XDG_RUNTIME_DIR").map { $0 + "/notes" }
  }

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
