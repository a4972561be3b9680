internal import CLibgit2

extension Repository {
  /// Whether the repository's `.gitignore` files or `.git/info/exclude` leave out this path. The
  /// user's global ignore file is not read.
  ///
  /// - Parameter isFolder: whether the path is a folder's; rules that end in `/` match only those.
  public func isIgnored(_ path: TreePath, isFolder: Bool) throws -> Bool {
    let git = try handles()
    var bytes = path.bytes.map { CChar(bitPattern: $0) }
    if isFolder { bytes.append(CChar(bitPattern: UInt8(ascii: "/"))) }
    bytes.append(0)
    var ignored: Int32 = 0
    try git.library.check(
      "git_ignore_path_is_ignored",
      git.library.api.git_ignore_path_is_ignored(&ignored, git.repository, bytes))
    return ignored == 1
  }
}
