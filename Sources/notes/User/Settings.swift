internal import Glibc
internal import Notebook
internal import System
internal import WorkTree

/// The user's settings: lines `key = value` in `$XDG_CONFIG_HOME/notes/config`; lines that start
/// with `#` are comments.
struct Settings {
  private let content: SettingsText

  static func read(in folder: String) throws(Failure) -> Settings {
    Settings(text: try text(in: folder))
  }

  /// Sets a value, or takes it away; comments and all else in the file stay as they are.
  static func set(_ key: String, to value: String?, in folder: String) throws(Failure) {
    var settings = SettingsText(try text(in: folder))
    settings[key] = value
    try write(settings.text, in: folder)
  }

  private static func write(_ text: String, in folder: String) throws(Failure) {
    // A file that the user keeps elsewhere stays a link.
    let path = realPath(of: folder + "/config") ?? folder + "/config"
    do {
      try Disk.makeFolders(folder, mode: 0o700)
      try Disk.replace(path, with: Array(text.utf8), mode: 0o644, isShared: true)
    } catch {
      throw Failure(
        .failed, "settings_not_written",
        "the settings in \(Visible.name(path)) cannot be written: \(String(errorNumber: error.errno))",
        hint: Failure.remedy(error.errno) ?? Failure.examine)
    }
  }

  private static func text(in folder: String) throws(Failure) -> String {
    let path = folder + "/config"
    do {
      return String(decoding: try Disk.readIfThere(path) ?? [], as: UTF8.self)
    } catch {
      throw Failure(
        .failed, "settings_unreadable",
        "the settings in \(Visible.name(path)) cannot be read: \(String(errorNumber: error.errno))",
        hint: Failure.remedy(error.errno) ?? Failure.examine)
    }
  }

  init(text: String) { content = SettingsText(text) }

  subscript(key: String) -> String? { content[key] }
}
