public import Git
internal import Glibc
internal import System

/// A file's bytes with the status they were read under.
package struct FileContent {
  package let bytes: [UInt8]
  package let status: FileStatus
  package let mode: FileMode
  /// When the file was last written to, in seconds since 1970.
  package let written: Int64
  /// The file's status before it was read.
  let before: stat

  /// How often a file that changes during the read is read again before it is postponed.
  static let attempts = 8

  package enum Outcome {
    case read(FileContent)
    /// The file was deleted, or is no longer a plain file.
    case gone
    case skipped(SkipReason)
  }

  /// Reads a file so that its bytes belong to one state. If the file changes during the read, reads it again.
  /// Waits for a program that is still writing it.
  package static func read(_ path: TreePath, in folder: String, sizeLimit: Int) throws -> Outcome {
    let root = try Disk.open(folder, O_RDONLY | O_DIRECTORY)
    defer { close(root) }
    return try read(path, at: root, sizeLimit: sizeLimit)
  }

  /// Reads a file relative to an open folder. `wait` is called with the number of earlier calls, and
  /// returns whether to wait for the writing program.
  static func read(
    _ path: TreePath, at root: Int32, sizeLimit: Int, wait: (Int) -> Bool = OpenWriter.wait(after:)
  ) throws -> Outcome {
    let name = path.cString
    var attempt = 0
    var waited = 0
    // False if the byte count differs from the file's size although no program writes: a file of
    // /proc or /sys.
    var isSteady = true
    while attempt < attempts {
      let descriptor = Counted.openWithoutTrace(root, name, O_NONBLOCK)
      guard descriptor >= 0 else {
        switch errno {
        case ENOENT, ENOTDIR, ELOOP: return .gone
        default: return .skipped(.unreadable(errno: errno))
        }
      }
      defer { close(descriptor) }
      var before = stat()
      guard Counted.fstat(descriptor, &before) == 0 else {
        return .skipped(.unreadable(errno: errno))
      }
      guard before.st_mode & S_IFMT == S_IFREG else { return .gone }
      guard Int(before.st_size) <= sizeLimit else {
        return .skipped(.tooLarge(size: Int(before.st_size)))
      }
      // A file that grew is read again. A system file without a size, which may have no end, is not.
      let size = Int(before.st_size)
      let bytes: [UInt8]?
      do {
        bytes = try FileSystem<SystemCallError>.read(
          descriptor, path: path.description, limit: size)
      } catch  where error.errno == EFBIG {
        bytes = nil
      } catch {
        return .skipped(.unreadable(errno: error.errno))
      }
      // Check for a writer before the last status is read: a program that closes the file after this check has written
      // before it, so the status shows it.
      if OpenWriter.mayBeWriting(before), OpenWriter.exists(of: descriptor), wait(waited) {
        waited += 1
        continue
      }
      var after = stat()
      guard Counted.fstat(descriptor, &after) == 0 else {
        return .skipped(.unreadable(errno: errno))
      }
      let isSame = FileStatus(before) == FileStatus(after)
      if isSame, let bytes, bytes.count == size {
        return .read(
          FileContent(
            bytes: bytes, status: FileStatus(after), mode: FileMode(after),
            written: Int64(after.st_mtim.tv_sec), before: before))
      }
      isSteady = isSteady && isSame
      attempt += 1
    }
    return .skipped(isSteady ? .specialFile : .changing)
  }
}

extension WorkTree {
  /// A file that is open for reading. Its owner closes it.
  public struct OpenedFile: Sendable {
    /// The file descriptor.
    public let descriptor: Int32
    /// The file's size in bytes when it was opened.
    public let size: Int
  }

  /// Opens a file in the folder; nil if there is no plain file.
  public func open(_ path: TreePath) throws -> OpenedFile? {
    let root = try Disk.open(folder, O_RDONLY | O_DIRECTORY)
    defer { close(root) }
    let descriptor = Counted.openWithoutTrace(root, path.cString, O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    var status = stat()
    guard Counted.fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      return nil
    }
    return OpenedFile(descriptor: descriptor, size: Int(status.st_size))
  }

  /// The bytes of a file in the folder, or those in the index if the file cannot be put into the
  /// folder.
  public func text(of path: TreePath) throws -> [UInt8] {
    try text(of: path, by: indexFile())
  }

  /// Like `text(of:)`, with an index that is already read: for many files.
  package func text(of path: TreePath, by index: IndexFile) throws -> [UInt8] {
    let position = index.position(of: path)
    if let position, index.skipsWorktree(at: position) {
      return try repository.blob(index.id(at: position))
    }
    switch try FileContent.read(path, in: folder, sizeLimit: .max) {
    case .read(let content): return content.bytes
    case .gone:
      if let position, try FolderAccess(folder: folder).obstacle(of: path) != nil {
        return try repository.blob(index.id(at: position))
      }
      throw WorkTreeError.noSuchNote(path.description)
    case .skipped(.unreadable(let number)):
      throw WorkTreeError.file(call: "read", path: path.description, errno: number)
    case .skipped: throw WorkTreeError.file(call: "read", path: path.description, errno: EAGAIN)
    }
  }
}
