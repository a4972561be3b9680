package import Git
internal import Glibc
internal import System

/// The largest file that is versioned: `notes.maxFileSize` in `.git/config`, as git writes numbers
/// (`500k`, `50m`, `1g`).
enum SizeLimit {
  static let setting = "notes.maxFileSize"

  /// The limit of a repository in bytes. Its configuration is only searched for the name of the setting,
  /// which is next to nothing; libgit2 reads it where it is there.
  static func configured(in repository: Repository, configuration: ConfigurationLines) -> Int {
    guard configuration.mayHold("maxfilesize"), let value = try? repository.setting(setting),
      let limit = parse(value)
    else { return SkipRules.defaultSizeLimit }
    // What no device takes from another would keep everything else from them, too.
    return min(limit, PackLimits.standard.objectBytes)
  }

  static func parse(_ text: String) -> Int? {
    let text = text.lowercased()
    let units: [Character: Int] = ["k": 1 << 10, "m": 1 << 20, "g": 1 << 30]
    let unit = text.last.flatMap { units[$0] }
    guard let number = Int(text.dropLast(unit == nil ? 0 : 1)), number > 0 else { return nil }
    let (limit, overflows) = number.multipliedReportingOverflow(by: unit ?? 1)
    return overflows ? nil : limit
  }
}

extension WorkTree {
  /// Whether a text names a number of bytes, as git writes numbers.
  public static func isSizeLimit(_ text: String) -> Bool { SizeLimit.parse(text) != nil }

  /// The largest file that is versioned as the user set it; nil where nothing is set.
  public func sizeLimitSetting() throws -> String? { try repository.setting(SizeLimit.setting) }

  package func set(sizeLimit text: String?) throws {
    try repository.set(SizeLimit.setting, to: text)
    sizeLimit = SizeLimit.configured(in: repository, configuration: readConfiguration())
  }

  private static let hiddenFiles = "notes.hiddenFiles"

  /// Whether hidden files are versioned, as the user set it; nil where nothing is set.
  public func hiddenFilesSetting() throws -> String? { try repository.setting(Self.hiddenFiles) }

  package func set(hiddenFiles text: String?) throws {
    try repository.set(Self.hiddenFiles, to: text)
    takesHiddenFiles = takesHiddenFiles(by: readConfiguration())
  }

  func takesHiddenFiles(by configuration: ConfigurationLines) -> Bool {
    guard configuration.mayHold("hiddenfiles"), let text = try? hiddenFilesSetting()
    else { return false }
    return ConfigurationLines.isTrue(text)
  }

  /// Whether a path that is not versioned yet is left out because it is hidden.
  package func isHidden(_ path: TreePath) -> Bool {
    !takesHiddenFiles && SkipRules.isHidden(path)
  }

  func readConfiguration() -> ConfigurationLines {
    ConfigurationLines((try? Disk.readIfThere(repository.gitFolder + "/config")) ?? [])
  }
}

/// The lines of `.git/config`, in lower case and without blanks.
struct ConfigurationLines {
  private let lines: [[UInt8]]

  init(_ content: [UInt8]) {
    lines = content.split(separator: UInt8(ascii: "\n")).map { line in
      line.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }.map { $0 | 0x20 }
    }
  }

  /// The lines that begin so.
  func lines(beginningWith name: String) -> [[UInt8]] {
    lines.filter { $0.starts(with: name.utf8) }
  }

  /// Whether a value means yes: git-config(1), "boolean".
  static func isTrue(_ value: String) -> Bool {
    !["false", "no", "off", "0", ""].contains(value.lowercased())
  }

  /// Whether a setting of this name may be there; it may stand behind its section's name.
  func mayHold(_ name: String) -> Bool {
    lines.contains { line in
      line.split(separator: UInt8(ascii: "]") | 0x20).contains { $0.starts(with: name.utf8) }
    }
  }
}

/// Whether the executable bit of a file says anything: `core.fileMode` in `.git/config`
/// (git-config(1)). Where it does not, as on file systems of other systems, a note keeps the mode that
/// its last version has, and a new one is not executable.
package struct FileModeTrust {
  private let isTrusted: Bool

  init(_ repository: Repository, configuration: ConfigurationLines) {
    // The line as git writes it into every new repository: nothing else has to be read then.
    let usual = Array("filemode=true".utf8).map { $0 | 0x20 }
    isTrusted =
      configuration.lines(beginningWith: "filemode") == [usual]
      || ConfigurationLines.isTrue((try? repository.setting("core.fileMode")) ?? "true")
  }

  /// The mode that a file gets in a version; `known` is that of the last one, nil for a new file.
  package func mode(of seen: FileMode, known: FileMode?) -> FileMode {
    isTrusted ? seen : known ?? .regular
  }
}

/// The mode bits that new files of this process do not get.
enum FileModeMask {
  /// Read once from the process's status (proc(5), "Umask"): umask(2) can only tell the mask by
  /// setting another, which files that other threads make in that moment would get.
  static let ofProcess: mode_t = {
    let status = (try? Disk.readIfThere("/proc/self/status")) ?? nil
    let line = (status ?? []).split(separator: UInt8(ascii: "\n"))
      .first { $0.starts(with: "Umask:".utf8) }
    let digits = (line ?? []).filter { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "7") }
    return mode_t(String(decoding: digits, as: UTF8.self), radix: 8) ?? 0o022
  }()
}
