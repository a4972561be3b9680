internal import CLinux
internal import Files
internal import Git
internal import Glibc

/// A file's bytes with the status they were read under.
struct FileContent {
  let bytes: [UInt8]
  let status: FileStatus
  let mode: FileMode

  /// How often a file that changes under our hands is read again before it is left for later.
  static let attempts = 8

  enum Outcome {
    case read(FileContent)
    /// Gone, or no longer a plain file.
    case gone
    case skipped(SkipReason)
  }

  /// Reads a file such that its bytes belong to one state: a file that changed meanwhile is read
  /// again.
  static func read(_ path: TreePath, in folder: String, sizeLimit: Int) throws -> Outcome {
    let root = try Disk.open(folder, O_RDONLY | O_DIRECTORY)
    defer { close(root) }
    return try read(path, at: root, sizeLimit: sizeLimit)
  }

  /// The same, seen from an open folder.
  static func read(_ path: TreePath, at root: Int32, sizeLimit: Int) throws -> Outcome {
    let name = path.bytes.map { CChar(bitPattern: $0) } + [0]
    for _ in 0..<attempts {
      let descriptor = openat(root, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else {
        switch errno {
        case ENOENT, ENOTDIR, ELOOP: return .gone
        default: return .skipped(.unreadable(errno: errno))
        }
      }
      defer { close(descriptor) }
      var before = stat()
      guard fstat(descriptor, &before) == 0 else { return .skipped(.unreadable(errno: errno)) }
      guard before.st_mode & S_IFMT == S_IFREG else { return .gone }
      guard Int(before.st_size) <= sizeLimit else {
        return .skipped(.tooLarge(size: Int(before.st_size)))
      }
      let bytes: [UInt8]
      do {
        bytes = try FileSystem<FileError>.read(descriptor, path: path.description)
      } catch {
        return .skipped(.unreadable(errno: error.errno))
      }
      var after = stat()
      guard fstat(descriptor, &after) == 0 else { return .skipped(.unreadable(errno: errno)) }
      if FileStatus(before) == FileStatus(after), bytes.count == Int(after.st_size) {
        return .read(
          FileContent(
            bytes: bytes, status: FileStatus(after),
            mode: FileMode(after)))
      }
    }
    return .skipped(.changing)
  }
}
