internal import CLibgit2

extension Repository {
  /// The value of a setting in `.git/config` (for instance `notes.name`), or nil. No other
  /// configuration file is read.
  public func setting(_ name: String) throws -> String? {
    let git = try handles()
    var snapshot: OpaquePointer?
    try git.library.check(
      "git_repository_config_snapshot",
      git.library.api.git_repository_config_snapshot(&snapshot, git.repository))
    defer { git.library.api.git_config_free(snapshot) }
    var value: UnsafePointer<CChar>?
    let status = git.library.api.git_config_get_string(&value, snapshot, name)
    if status == GIT_ENOTFOUND.rawValue { return nil }
    try git.library.check("git_config_get_string", status)
    return value.map { String(cString: $0) }
  }

  /// Writes a setting to `.git/config`; nil removes it.
  public func set(_ name: String, to value: String?) throws {
    let git = try handles()
    var configuration: OpaquePointer?
    try git.library.check(
      "git_repository_config",
      git.library.api.git_repository_config(&configuration, git.repository))
    defer { git.library.api.git_config_free(configuration) }
    if let value {
      try git.library.check(
        "git_config_set_string",
        git.library.api.git_config_set_string(configuration, name, value))
    } else {
      let status = git.library.api.git_config_delete_entry(configuration, name)
      if status != GIT_ENOTFOUND.rawValue {
        try git.library.check("git_config_delete_entry", status)
      }
    }
  }
}
