internal import Git
internal import System

/// The largest file that is versioned: `notes.maxFileSize` in `.git/config`, as git writes numbers
/// (`500k`, `50m`, `1g`).
enum SizeLimit {
  static let setting = "notes.maxFileSize"

  /// The limit of a repository in bytes. The text of its configuration is only searched for the name of
  /// the setting, which is next to nothing; libgit2 reads it where it is there.
  static func configured(in repository: Repository, configuration: [UInt8]) -> Int {
    let name = Array("maxfilesize".utf8)
    guard configuration.map({ $0 | 0x20 }).containsSequence(name),
      let value = try? repository.setting(setting), let limit = parse(value)
    else { return SkipRules.defaultSizeLimit }
    // What no device takes from another would keep everything else from them, too.
    return min(limit, PackLimits.standard.objectBytes)
  }

  /// A number of bytes above 0, or nil.
  static func parse(_ text: String) -> Int? {
    var digits = text.lowercased()[...]
    var unit = 1
    switch digits.last {
    case "k": unit = 1 << 10
    case "m": unit = 1 << 20
    case "g": unit = 1 << 30
    default: break
    }
    if unit > 1 { digits.removeLast() }
    guard let number = Int(digits), number > 0 else { return nil }
    let (limit, overflows) = number.multipliedReportingOverflow(by: unit)
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

  /// The text of `.git/config`, empty where it cannot be read.
  func readConfiguration() -> [UInt8] {
    (try? Disk.readIfThere(repository.gitFolder + "/config")) ?? []
  }
}

extension [UInt8] {
  fileprivate func containsSequence(_ other: [UInt8]) -> Bool {
    guard let first = other.first, count >= other.count else { return false }
    return indices.dropLast(other.count - 1).contains { start in
      self[start] == first && self[start..<(start + other.count)].elementsEqual(other)
    }
  }
}
