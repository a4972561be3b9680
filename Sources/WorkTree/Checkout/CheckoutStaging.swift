internal import Git
package import Glibc
internal import System

// MARK: Staged files
extension Checkout {
  /// Whether a step's staged file has the new bytes; nil if there is no staged file.
  func isStaged(_ step: CheckoutSteps.Step, _ new: CheckoutSteps.File) throws -> Bool? {
    if stagedFiles.status(of: step) != nil { return true }
    guard let staged = try staged(step) else { return nil }
    return try workTree.repository.hash(blob: staged.bytes) == new.id
  }

  func path(of step: CheckoutSteps.Step) -> String { "\(staging)/\(step.number)" }

  func stagedExists(_ step: CheckoutSteps.Step) -> Bool {
    Counted.faccessat(AT_FDCWD, path(of: step), F_OK, AT_SYMLINK_NOFOLLOW) == 0
  }

  func staged(_ step: CheckoutSteps.Step) throws -> (bytes: [UInt8], mode: FileMode)? {
    guard let file = try openStaged(step) else { return nil }
    defer { close(file) }
    let (bytes, mode, _) = try read(step, file)
    return (bytes, mode)
  }

  /// Opens a step's staged file; nil if there is none.
  func openStaged(_ step: CheckoutSteps.Step) throws -> Int32? {
    let path = path(of: step)
    var file = Counted.openWithoutTrace(AT_FDCWD, path, O_NONBLOCK)
    var status = stat()
    if file < 0, errno == EACCES, Counted.lstat(path, &status) == 0 {
      // The swapped-out note has no read permission, but must be compared with the expected text.
      chmod(path, status.st_mode & 0o777 | S_IRUSR)
      file = Counted.openWithoutTrace(AT_FDCWD, path, O_NONBLOCK)
    }
    // The open failed because a program has a lease on the file: fcntl(2).
    if file < 0, errno == EWOULDBLOCK { file = Counted.openWithoutTrace(AT_FDCWD, path) }
    if file < 0, errno != ENOENT {
      throw WorkTreeError.file(call: "open", path: step.path.description, errno: errno)
    }
    return file < 0 ? nil : file
  }

  func read(
    _ step: CheckoutSteps.Step, _ file: Int32
  ) throws -> (bytes: [UInt8], mode: FileMode, replaced: ReplacedFile) {
    var status = stat()
    guard Counted.fstat(file, &status) == 0 else {
      throw WorkTreeError.file(call: "fstat", path: step.path.description, errno: errno)
    }
    return (
      try Disk.read(file, path: step.path.description), FileMode(status),
      ReplacedFile(status: status)
    )
  }
}

/// A file that a checkout swapped out of the folder.
package struct ReplacedFile {
  package let status: stat

  /// Whether a program had read the file, judged by its access time.
  package var wasRead: Bool { FileReading.wasRead(status) }
  /// The inode number: no other file has it as long as a program has this file open.
  package var inode: UInt64 { UInt64(status.st_ino) }
}
