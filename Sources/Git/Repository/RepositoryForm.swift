internal import Glibc
internal import System

extension Repository {
  /// Makes an empty repository, with an unborn branch, in `folder`, which exists. If there is already a
  /// repository, only opens it. A new repository is made beside its place and moved when it is on the disk, so
  /// no program ever finds an incomplete one.
  ///
  /// - Parameter fill: adds other files to the new `.git`, whose path is its argument. If it throws, no
  ///   repository is made.
  /// - Throws: `GitError.brokenReference` for an invalid name of the branch.
  public static func create(
    at folder: String, branch: String = "main", fill: (String) throws -> Void = { _ in }
  ) throws -> Repository {
    guard ReferenceFile.isName("refs/heads/" + branch) else {
      throw GitError.brokenReference(branch)
    }
    let place = folder + "/.git.new"
    Disk.removeTree(place)
    defer { Disk.removeTree(place) }
    var status = stat()
    if Counted.lstat(folder + "/.git", &status) == 0 { return try open(at: folder) }
    try RepositoryLayout(at: place).make(branch: branch)
    try fill(place)
    try Disk.syncFileSystem(of: place)
    try Disk.rename(place, to: folder + "/.git")
    try Disk.sync(folder: folder)
    return try open(at: folder)
  }

  /// Whether the name is valid for a branch in git.
  public static func isBranch(_ name: String) -> Bool { ReferenceFile.isName("refs/heads/" + name) }

  /// Whether the file system stores the executable bit of a file, tested with the configuration file's bit.
  package static func keepsModes(in gitFolder: String) -> Bool {
    let path = gitFolder + "/config"
    var status = stat()
    guard Counted.stat(path, &status) == 0, chmod(path, status.st_mode ^ S_IXUSR) == 0 else {
      return true
    }
    defer { chmod(path, status.st_mode) }
    var changed = stat()
    return Counted.stat(path, &changed) == 0 && changed.st_mode != status.st_mode
  }
}

private struct RepositoryLayout {
  private let gitFolder: String

  init(at gitFolder: String) { self.gitFolder = gitFolder }

  func make(branch: String) throws {
    let folders = [
      "", "/info", "/objects", "/objects/info", "/objects/pack", "/refs", "/refs/heads",
      "/refs/tags",
    ]
    for folder in folders { try Disk.makeFolder(gitFolder + folder, mode: 0o777) }
    try write("HEAD", "ref: refs/heads/\(branch)\n")
    try write("description", "A notebook; see notes(1).\n")
    try write("info/exclude", "# What is never versioned, in the form of gitignore(5).\n")
    try write("config", "")
    try write(
      "config",
      """
      [core]
      \trepositoryformatversion = 0
      \tfilemode = \(Repository.keepsModes(in: gitFolder))
      \tbare = false
      \tlogallrefupdates = true\(peculiarities)

      """)
  }

  private func write(_ name: String, _ text: String) throws {
    let path = gitFolder + "/" + name
    let descriptor = try Disk.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o666)
    defer { close(descriptor) }
    try Disk.write(Array(text.utf8), to: descriptor, path: path)
  }

  // The configuration records what the file system cannot store, as git init does (git-config(1)): otherwise git would
  // report changes where there are none.

  private var peculiarities: String {
    var lines = ""
    if Counted.access(gitFolder + "/CoNfIg", F_OK) == 0 { lines += "\n\tignorecase = true" }
    let link = gitFolder + "/link"
    if symlink("config", link) != 0, errno == EPERM || errno == EOPNOTSUPP {
      lines += "\n\tsymlinks = false"
    }
    unlink(link)
    return lines
  }
}
