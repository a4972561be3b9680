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

  /// Whether files up to that size are versioned where it is set: devices take no larger ones.
  public static func isHonoured(sizeLimit text: String) -> Bool {
    SizeLimit.parse(text).map { $0 <= PackLimits.standard.objectBytes } ?? false
  }

  /// The largest file that is versioned as the user set it; nil where nothing is set.
  public func sizeLimitSetting() throws -> String? { try repository.setting(SizeLimit.setting) }

  package func set(sizeLimit text: String?) throws {
    try repository.set(SizeLimit.setting, to: text)
    forgetSettings()
  }

  /// Whether hidden files are versioned, as the user set it; nil where nothing is set.
  public func hiddenFilesSetting() throws -> String? {
    try repository.setting(FolderSettings.hiddenFiles)
  }

  package func set(hiddenFiles text: String?) throws {
    try repository.set(FolderSettings.hiddenFiles, to: text)
    forgetSettings()
  }

  /// Whether a path that is not versioned yet is left out because it is hidden.
  package func isHidden(_ path: TreePath) -> Bool {
    !settings.takesHiddenFiles && SkipRules.isHidden(path)
  }

  /// Whether a setting of this name, in lower case, may be in `.git/config`: which costs no library.
  package func mayHoldSetting(_ name: String) -> Bool {
    ConfigurationLines(of: repository).mayHold(name)
  }
}

/// What `.git/config` says about the files of the folder.
struct FolderSettings {
  static let hiddenFiles = "notes.hiddenFiles"

  /// The largest file that is versioned, in bytes: 50 MiB, or what `notes.maxFileSize` says.
  let sizeLimit: Int
  /// What the executable bits of files in the folder say.
  let fileModes: FileModeTrust
  /// Whether hidden files are versioned as others are: `notes.hiddenFiles`.
  let takesHiddenFiles: Bool

  init(of repository: Repository) {
    let lines = ConfigurationLines(of: repository)
    sizeLimit = SizeLimit.configured(in: repository, configuration: lines)
    fileModes = FileModeTrust(repository, configuration: lines)
    takesHiddenFiles = lines.isSet(Self.hiddenFiles, in: repository)
  }
}

/// The lines of `.git/config`, in lower case and without blanks.
struct ConfigurationLines {
  private let lines: [[UInt8]]

  init(of repository: Repository) {
    self.init((try? Disk.readIfThere(repository.gitFolder + "/config")) ?? [])
  }

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

  /// Whether the setting of ours, `notes.NAME`, is there and means yes.
  func isSet(_ setting: String, in repository: Repository) -> Bool {
    guard mayHold(setting.dropFirst("notes.".count).lowercased()) else { return false }
    return ((try? repository.setting(setting)) ?? nil).map(Self.isTrue) ?? false
  }

  /// Whether a setting of this name may be there; it may stand behind its section's name.
  func mayHold(_ name: String) -> Bool {
    lines.contains { line in
      line.split(separator: UInt8(ascii: "]") | 0x20).contains { $0.starts(with: name.utf8) }
    }
  }
}
