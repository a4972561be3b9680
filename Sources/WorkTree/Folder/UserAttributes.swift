internal import Git
internal import Glibc
internal import System

/// The files of attributes and ignore rules outside the notebook's folder that git uses: gitattributes(5),
/// gitignore(5). notes never converts a file, but does not version a file that git would encrypt.
struct UserAttributes {
  /// The settings with which libgit2 answers questions about the repository.
  let questions: QuestionSettings
  /// The settings with each attributes file that git's configuration names under a condition.
  let conditional: [QuestionSettings]
  /// The content of the user's or the repository's attributes file; empty if there is none.
  let content: [UInt8]
  /// The content of the system's attributes file, which git reads first.
  let systemContent: [UInt8]

  /// Reads the files.
  ///
  /// - Parameter settings: the repository's.
  /// - Throws: `GitError.unreadableConfiguration`, or an error if a file cannot be read: git would use it, or
  ///   fail.
  init(of workTree: WorkTree, _ settings: Settings) throws {
    let ignoring = try QuestionSettings(ofIgnoreRules: workTree, settings)
    func questions(by file: String) -> QuestionSettings {
      var questions = ignoring
      questions.attributesFile = workTree.absolute(file)
      return questions
    }
    var others = try settings.conditionalValues(of: "core.attributesFile")
    if let named = try settings["core.attributesFile"] {
      self.questions = questions(by: named)
    } else {
      let user = try Self.usersFile()
      self.questions = questions(by: user.path)
      others += user.others
    }
    conditional = others.map(questions)
    content = try self.questions.attributesFile.flatMap { try Disk.readIfThere($0) } ?? []
    systemContent =
      Self.isOn("GIT_ATTR_NOSYSTEM") ? [] : try Disk.readIfThere("/etc/gitattributes") ?? []
  }

  /// The path of the user's file, from the last of git's configuration files that names one; and the paths that
  /// are named under a condition.
  private static func usersFile() throws -> (path: String, others: [String]) {
    let folder =
      variable("XDG_CONFIG_HOME").map { $0 + "/git" } ?? ConfigurationFile.expanded("~/.config/git")
    let system =
      isOn("GIT_CONFIG_NOSYSTEM") ? [] : [variable("GIT_CONFIG_SYSTEM") ?? "/etc/gitconfig"]
    let users =
      getenv("GIT_CONFIG_GLOBAL").map { [String(cString: $0)] }
      ?? [folder + "/config", ConfigurationFile.expanded("~/.gitconfig")]
    let name = "core.attributesfile"
    let files = try (system + users).filter { !$0.isEmpty }.map(ConfigurationFile.init)
    return (
      files.compactMap { $0[name] }.last ?? folder + "/attributes",
      try files.flatMap { try $0.conditionalValues(of: name) }
    )
  }

  private static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Whether a variable is true, as git reads it.
  private static func isOn(_ name: String) -> Bool {
    variable(name).map(ConfigurationFile.isTrue) ?? false
  }

  /// Repositories that have attributes from outside instead of the folder's: one for each attributes file that
  /// may apply. None if only the repository's own file applies.
  func inPlaceOfFolder(of repository: Repository) throws -> [RepositoryOfAttributes] {
    let isEmpty = content.isEmpty && systemContent.isEmpty
    return try ((isEmpty ? [] : [questions]) + conditional).map {
      try RepositoryOfAttributes(repository, systemContent, by: $0)
    }
  }
}

extension QuestionSettings {
  /// The settings for ignore rules: only those of `.git/config`.
  init(ofIgnoreRules workTree: WorkTree, _ settings: Settings) throws {
    self.init()
    excludesFile = try settings["core.excludesFile"].map(workTree.absolute)
    ignoresCase = settings.isTrue("core.ignoreCase")
  }

  /// The settings for ignore rules. A copy of them follows for each file of ignore rules that is named under a
  /// condition, as if the condition were true.
  static func all(
    ofIgnoreRules workTree: WorkTree, _ settings: Settings
  ) throws -> [QuestionSettings] {
    let usual = try QuestionSettings(ofIgnoreRules: workTree, settings)
    return try [usual]
      + settings.conditionalValues(of: "core.excludesFile").map {
        var questions = usual
        questions.excludesFile = workTree.absolute($0)
        return questions
      }
  }
}

extension WorkTree {
  /// The absolute path of a setting's value; git resolves a relative path from the top of the work tree.
  fileprivate func absolute(_ path: String) -> String {
    let path = ConfigurationFile.expanded(path)
    return path.hasPrefix("/") ? path : folder + "/" + path
  }
}

/// A temporary repository whose folder has only one attributes file; deleted with this object.
final class RepositoryOfAttributes {
  let repository: Repository
  private let folder: String

  fileprivate init(
    _ repository: Repository, _ content: [UInt8], by questions: QuestionSettings
  ) throws {
    folder = try Disk.makeTemporaryFolder(named: "attributes")
    self.repository = repository.readingIgnoreFiles(in: folder, by: questions)
    try Disk.create(folder + "/.gitattributes", content, mode: 0o600)
  }

  deinit { Disk.removeTree(folder) }
}
