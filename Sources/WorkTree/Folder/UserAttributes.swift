internal import Git
internal import Glibc
internal import System

/// The attributes that the user and the system give to files of every repository: gitattributes(5). Notes
/// converts nothing by them; but what git would encrypt by them is to stay on this device.
struct UserAttributes {
  /// The content of the files; nil if there are none.
  let content: [UInt8]?

  /// Reads them.
  ///
  /// - Parameter settings: the repository's, which may name a file in place of the user's.
  init(_ settings: Settings) {
    // A setting that cannot be read counts as none.
    let isReplaced = ((try? settings["core.attributesFile"]) ?? nil) != nil
    let texts = (["/etc/gitattributes"] + (isReplaced ? [] : [Self.usersFile])).compactMap {
      Disk.contentIfAny($0)
    }
    let content = Array(texts.joined(separator: [UInt8(ascii: "\n")]))
    self.content = content.isEmpty ? nil : content
  }

  /// The path of the user's file: by the last of git's configuration files that names one. Files that these
  /// include are not read.
  private static var usersFile: String {
    let folder =
      variable("XDG_CONFIG_HOME").map { $0 + "/git" } ?? expanded("~/.config/git")
    let named = ["/etc/gitconfig", folder + "/config", expanded("~/.gitconfig")].compactMap {
      Self.name(in: Disk.contentIfAny($0) ?? [])
    }
    return named.last.map(expanded) ?? folder + "/attributes"
  }

  private static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The value of `attributesFile`, which only the section `core` has.
  private static func name(in configuration: [UInt8]) -> String? {
    let lines = String(decoding: configuration, as: UTF8.self).split(separator: "\n")
    return lines.compactMap { line -> String? in
      let parts = line.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, words(parts[0]).last?.lowercased() == "attributesfile" else {
        return nil
      }
      return words(parts[1]).joined(separator: " ")
    }.last
  }

  private static func words(_ text: Substring) -> [Substring] {
    text.split { " \t\r\"]".contains($0) }
  }

  /// A path of the configuration, which may begin with the user's home.
  static func expanded(_ path: String) -> String {
    guard path.hasPrefix("~/"), let home = variable("HOME") else { return path }
    return home + path.dropFirst()
  }

  /// A repository with these attributes in place of those in its folder; nil where there are none.
  func inPlaceOfFolder(of repository: Repository) throws -> RepositoryOfAttributes? {
    try content.map { try RepositoryOfAttributes(repository, $0) }
  }
}

/// A repository whose folder has nothing but one file of attributes, for as long as this lives.
final class RepositoryOfAttributes {
  let repository: Repository
  private let folder: String

  fileprivate init(_ repository: Repository, _ content: [UInt8]) throws {
    var template = Array("/tmp/notes-attributes-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else {
      throw NotebookError.file(call: "mkdtemp", path: "/tmp", errno: errno)
    }
    folder = String(cString: made)
    self.repository = repository.readingIgnoreFiles(in: folder)
    try Disk.create(folder + "/.gitattributes", content, mode: 0o600)
  }

  deinit { Disk.removeTree(folder) }
}
