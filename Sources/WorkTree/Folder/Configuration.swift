package import Git

/// The largest file that is versioned: `notes.maxFileSize` in `.git/config`, as git writes numbers
/// (`500k`, `50m`, `1g`).
enum SizeLimit {
  static let setting = "notes.maxFileSize"

  /// The limit by these settings, in bytes.
  static func configured(by settings: Settings) -> Int {
    // A setting that cannot be read counts as none.
    guard let value = (try? settings[setting]) ?? nil, let limit = parse(value)
    else { return SkipRules.defaultSizeLimit }
    // A file that no device takes from another would keep everything else from them, too.
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

  /// How many bytes a text names, as git writes numbers: `25m` for 25 MiB; nil for none.
  public static func bytes(named text: String) -> Int? { SizeLimit.parse(text) }

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
}

/// The settings in `.git/config` for the files of the folder.
struct FolderSettings {
  static let hiddenFiles = "notes.hiddenFiles"

  /// The largest file that is versioned, in bytes: 50 MiB, or what `notes.maxFileSize` says.
  let sizeLimit: Int
  /// Whether the executable bits of files in the folder count.
  let fileModes: FileModeTrust
  /// Whether hidden files are versioned as others are: `notes.hiddenFiles`.
  let takesHiddenFiles: Bool

  init(by settings: Settings) {
    sizeLimit = SizeLimit.configured(by: settings)
    fileModes = FileModeTrust(by: settings)
    takesHiddenFiles = settings.isTrue(Self.hiddenFiles)
  }
}
