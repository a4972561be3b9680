internal import Glibc

/// A folder in memory where the machine has a file system of that kind, else in $TMPDIR or /tmp: for
/// thousands of repositories, each with its syncs.
///
/// What fails stays to be looked at: only what is removed by name goes.
public final class MemoryFolder: Sendable {
  /// The folder's absolute path.
  public let path: String

  /// Makes the folder.
  public init() throws {
    let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    var template = Array("\(parent)/notes-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemError("mkdtemp", template.string) }
    path = template.string
  }

  /// Removes these things in it, and the folder itself when nothing else is left.
  public func remove(_ names: [String]) {
    for name in names { removeTree(path + "/" + name) }
    rmdir(path)
  }
}
