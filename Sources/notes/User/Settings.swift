internal import Glibc

/// The user's settings: lines `key = value` in `$XDG_CONFIG_HOME/notes/config`; lines that start
/// with `#` are comments.
struct Settings {
  private let values: [String: String]

  /// The settings of that folder; none where there is no file.
  static func read(in folder: String) throws(Failure) -> Settings {
    let path = folder + "/config"
    guard let file = fopen(path, "re") else {
      if errno == ENOENT || errno == ENOTDIR { return Settings(text: "") }
      throw Failure(
        .failed, "settings_unreadable",
        "the settings in \(Visible.name(path)) cannot be read: \(Failure.reason(errno))")
    }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      if count == 0 { break }
      bytes.append(contentsOf: buffer[..<count])
    }
    return Settings(text: String(decoding: bytes, as: UTF8.self))
  }

  init(text: String) {
    var values: [String: String] = [:]
    for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
      guard let equals = line.firstIndex(of: "=") else { continue }
      let key = Self.trimmed(line[..<equals])
      values[key] = Self.trimmed(line[line.index(after: equals)...])
    }
    self.values = values
  }

  /// The value of a setting, or nil when it is not set.
  subscript(key: String) -> String? { values[key] }

  private static func trimmed(_ text: Substring) -> String {
    let head = text.drop(while: \.isWhitespace)
    guard let last = head.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(head[...last])
  }
}
