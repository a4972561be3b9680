internal import CLibgit2
internal import System

/// The settings with which libgit2 finds ignored files and attributes. libgit2 gets no other settings: it would ignore
/// a path that it cannot follow, such as one with `~`, or fail.
public struct QuestionSettings: Sendable, Equatable {
  /// The absolute path of an attributes file with lower priority than the repository's own.
  public var attributesFile: String?
  /// The absolute path of a file of ignore rules with lower priority than the repository's own.
  public var excludesFile: String?
  /// Whether the file system ignores case.
  public var ignoresCase = false

  public init() {}

  fileprivate var text: String {
    func line(_ name: String, _ path: String?) -> String {
      guard let path else { return "" }
      let value = path.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        .replacing("\n", with: "\\n")
      return "\t\(name) = \"\(value)\"\n"
    }
    return "[core]\n\tignoreCase = \(ignoresCase)\n" + line("attributesFile", attributesFile)
      + line("excludesFile", excludesFile)
  }
}

/// A temporary file with these settings for libgit2, which is removed with this object.
final class QuestionConfiguration {
  private let folder: String

  init(_ settings: QuestionSettings) throws {
    folder = try Disk.makeTemporaryFolder(named: "questions")
    try Disk.create(folder + "/config", Array(settings.text.utf8), mode: 0o600)
  }

  deinit { Disk.removeTree(folder) }

  /// Replaces all settings of a repository by these.
  func apply(to repository: OpaquePointer, _ library: Libgit2) throws {
    var configuration: OpaquePointer?
    try library.check("git_config_new", library.api.git_config_new(&configuration))
    defer { library.api.git_config_free(configuration) }
    try library.check(
      "git_config_add_file_ondisk",
      library.api.git_config_add_file_ondisk(
        configuration, folder + "/config", GIT_CONFIG_LEVEL_LOCAL, nil, 1))
    try library.check(
      "git_repository_set_config",
      library.api.git_repository_set_config(repository, configuration))
  }
}
