internal import CLibgit2

extension Repository {
  /// The settings in `.git/config` and its included files. No other configuration file is read.
  public func settings() -> Settings {
    Settings(of: self, plain: PlainConfiguration(of: gitFolder))
  }

  /// The value of one setting (for example `notes.name`); nil if it is not set.
  public func setting(_ name: String) throws -> String? { try settings()[name] }

  fileprivate func settingByLibrary(_ name: String) throws -> String? {
    let git = try handles()
    var snapshot: OpaquePointer?
    try git.check(
      "git_repository_config_snapshot",
      git.api.git_repository_config_snapshot(&snapshot, git.repository))
    defer { git.api.git_config_free(snapshot) }
    var value: UnsafePointer<CChar>?
    let status = git.api.git_config_get_string(&value, snapshot, name)
    if status == GIT_ENOTFOUND.rawValue { return nil }
    try git.check("git_config_get_string", status)
    return value.map { String(cString: $0) }
  }

  /// The remotes with an address, in order: git-config(1), `remote.NAME.url`.
  public func remoteNames() throws -> [String] {
    var names: [String] = []
    for (setting, _) in try ConfigurationFile(at: gitFolder + "/config").entries {
      guard setting.hasPrefix("remote."), setting.hasSuffix(".url") else { continue }
      let name = String(setting.dropFirst("remote.".count).dropLast(".url".count))
      if !names.contains(name) { names.append(name) }
    }
    return names
  }

  /// Writes a setting to `.git/config`; nil removes it.
  public func set(_ name: String, to value: String?) throws {
    let git = try handles()
    var configuration: OpaquePointer?
    try git.check(
      "git_repository_config", git.api.git_repository_config(&configuration, git.repository))
    defer { git.api.git_config_free(configuration) }
    if let value {
      try git.check(
        "git_config_set_string", git.api.git_config_set_string(configuration, name, value))
    } else {
      let status = git.api.git_config_delete_entry(configuration, name)
      if status != GIT_ENOTFOUND.rawValue { try git.check("git_config_delete_entry", status) }
    }
  }

  /// Whether `.gitignore` files or `.git/info/exclude` exclude this path. The user's global ignore
  /// file is not read.
  public func isIgnored(_ path: TreePath, isFolder: Bool) throws -> Bool {
    let git = try handles()
    var bytes = path.bytes.map { CChar(bitPattern: $0) }
    if isFolder { bytes.append(CChar(bitPattern: UInt8(ascii: "/"))) }
    bytes.append(0)
    var ignored: Int32 = 0
    try git.check(
      "git_ignore_path_is_ignored",
      git.api.git_ignore_path_is_ignored(&ignored, git.repository, bytes))
    return ignored == 1
  }
}

/// The settings of a repository. If its configuration has a simple form, it is read once; otherwise libgit2
/// is asked for each setting.
public struct Settings {
  private let repository: Repository
  private let plain: PlainConfiguration?

  fileprivate init(of repository: Repository, plain: PlainConfiguration?) {
    (self.repository, self.plain) = (repository, plain)
  }

  /// The value of a setting; nil if it is not set.
  public subscript(name: String) -> String? {
    get throws {
      if let plain { return plain[name] ?? nil }
      return try repository.settingByLibrary(name)
    }
  }

  /// The possible values of a setting from conditionally included files: `includeIf` of
  /// git-config(1).
  public func conditionalValues(of name: String) throws -> [String] {
    if plain != nil { return [] }
    return try ConfigurationFile(at: repository.gitFolder + "/config")
      .conditionalValues(of: name.lowercased())
  }

  /// Whether a setting is true: git-config(1), "boolean". The default for a missing or unreadable
  /// setting is `usual`.
  public func isTrue(_ name: String, usual: Bool = false) -> Bool {
    // A name without a value is true in git.
    if case .some(.none) = plain?[name] { return true }
    // An unreadable setting has its default.
    guard let value = (try? self[name]) ?? nil else { return usual }
    return ConfigurationFile.isTrue(value)
  }
}
