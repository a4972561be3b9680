package import Git

/// The largest file that is versioned: `notes.maxFileSize` in `.git/config`, as git writes numbers
/// (`500k`, `50m`, `1g`).
enum SizeLimit {
  static let setting = "notes.maxFileSize"

  /// The configured limit, in bytes.
  static func configured(by settings: Settings) -> Int {
    // A setting that cannot be read is ignored.
    guard let value = (try? settings[setting]) ?? nil, let limit = parse(value)
    else { return SkipRules.defaultSizeLimit }
    // Other devices would refuse a larger file, and with it everything else in the version.
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
  /// Whether a text is a number of bytes as git writes it.
  public static func isSizeLimit(_ text: String) -> Bool { SizeLimit.parse(text) != nil }

  /// The number of bytes that a text gives in git's form, such as `25m` for 25 MiB; nil if it is not a number.
  public static func bytes(named text: String) -> Int? { SizeLimit.parse(text) }

  /// Whether a size limit with this value takes effect. Devices refuse files over their own limit.
  public static func isHonoured(sizeLimit text: String) -> Bool {
    SizeLimit.parse(text).map { $0 <= PackLimits.standard.objectBytes } ?? false
  }

  /// The user's limit for versioned files; nil if it is not set.
  public func sizeLimitSetting() throws -> String? { try repository.setting(SizeLimit.setting) }

  package func set(sizeLimit text: String?) throws {
    try repository.set(SizeLimit.setting, to: text)
    forgetSettings()
  }

  /// Whether hidden files are versioned, by the user's setting; nil if it is not set.
  public func hiddenFilesSetting() throws -> String? {
    try repository.setting(FolderSettings.hiddenFiles)
  }

  package func set(hiddenFiles text: String?) throws {
    try repository.set(FolderSettings.hiddenFiles, to: text)
    forgetSettings()
  }

  /// Whether a path that no version has stays unversioned because it is hidden.
  package func isHidden(_ path: TreePath) -> Bool {
    !settings.takesHiddenFiles && SkipRules.isHidden(path)
  }
}

/// The settings in `.git/config` for the files of the folder.
struct FolderSettings {
  static let hiddenFiles = "notes.hiddenFiles"

  /// The largest file that is versioned, in bytes: `notes.maxFileSize`, by default 50 MiB.
  let sizeLimit: Int
  /// Whether the executable bits of files in the folder count.
  let fileModes: FileModeTrust
  /// Whether hidden files are versioned like others: `notes.hiddenFiles`.
  let takesHiddenFiles: Bool

  init(by settings: Settings) {
    sizeLimit = SizeLimit.configured(by: settings)
    fileModes = FileModeTrust(by: settings)
    takesHiddenFiles = settings.isTrue(Self.hiddenFiles)
  }
}
