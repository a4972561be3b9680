internal import Glibc
internal import Notebook

/// The user's settings: lines `key = value` in `$XDG_CONFIG_HOME/notes/config`; lines that start
/// with `#` are comments.
struct Settings {
  private let content: SettingsText

  /// The settings of that folder; none where there is no file.
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
    var path = ""
    for name in folder.split(separator: "/") {
      path += "/" + name
      mkdir(path, 0o700)
    }
    path += "/config"
    // A file that the user keeps elsewhere stays a link.
    if let target = realpath(path, nil) {
      path = String(cString: target)
      free(target)
    }
    guard let file = fopen(path + ".new", "we") else { throw unwritable(path, errno) }
    fputs(text, file)
    guard fflush(file) == 0, fsync(fileno(file)) == 0 else {
      let code = errno
      fclose(file)
      unlink(path + ".new")
      throw unwritable(path, code)
    }
    guard fclose(file) == 0, rename(path + ".new", path) == 0 else { throw unwritable(path, errno) }
  }

  private static func unwritable(_ path: String, _ code: Int32) -> Failure {
    Failure(
      .failed, "settings_not_written",
      "the settings in \(Visible.name(path)) cannot be written: \(Failure.reason(code))",
      hint: Failure.remedy(code) ?? Failure.examine)
  }

  private static func text(in folder: String) throws(Failure) -> String {
    let path = folder + "/config"
    guard let file = fopen(path, "re") else {
      if errno == ENOENT || errno == ENOTDIR { return "" }
      throw Failure(
        .failed, "settings_unreadable",
        "the settings in \(Visible.name(path)) cannot be read: \(Failure.reason(errno))",
        hint: Failure.remedy(errno) ?? Failure.examine)
    }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      if count == 0 { break }
      bytes.append(contentsOf: buffer[..<count])
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  init(text: String) { content = SettingsText(text) }

  /// The value of a setting, or nil when it is not set.
  subscript(key: String) -> String? { content[key] }
}
