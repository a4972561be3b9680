package import Git
internal import Glibc
internal import System

/// Whether a file's executable bit means anything: `core.fileMode` in `.git/config` (git-config(1)). On file
/// systems of other systems it does not. There a note keeps the mode of its last version, and a new note is not
/// executable.
///
/// A checkout sets the bit only if the user has set `notes.executableFiles`. The first time it leaves the bit
/// out, it sets `core.fileMode` to false, so that neither git nor a save treats the plain file as an edit.
package struct FileModeTrust: Sendable {
  static let setting = "notes.executableFiles"
  static let gitSetting = "core.fileMode"

  let isTrusted: Bool
  private let makesExecutable: Bool

  init(by settings: Settings) {
    isTrusted = settings.isTrue(Self.gitSetting, usual: true)
    makesExecutable = settings.isTrue(Self.setting)
  }

  /// The mode that a file gets in a version; `known` is that of the last one, nil for a new file.
  package func mode(of seen: FileMode, known: FileMode?) -> FileMode {
    isTrusted ? seen : known ?? .regular
  }

  /// Whether a checkout writes a file of this mode without the executable bit.
  func leavesOut(_ mode: FileMode) -> Bool { mode == .executable && !makesExecutable }

  /// The permissions that a checkout gives a file, before the process's umask.
  func permissions(of mode: FileMode) -> mode_t {
    mode == .executable && makesExecutable ? 0o777 : 0o666
  }
}

extension WorkTree {
  /// Whether checkouts make executable files executable, by the user's setting; nil if it is not set.
  public func executableFilesSetting() throws -> String? {
    try repository.setting(FileModeTrust.setting)
  }

  package func set(executableFiles text: String?) throws {
    try repository.set(FileModeTrust.setting, to: text)
    forgetSettings()
    guard !fileModes.leavesOut(.executable), !fileModes.isTrusted else { return }
    let access = try FolderAccess(folder: folder)
    for entry in try indexFile().entries where entry.mode == .executable && !entry.skipsWorktree {
      try access.setExecutable(true, entry.path)
    }
    // Do this last: otherwise a file that was not executable until then would count as an edit.
    if Repository.keepsModes(in: repository.gitFolder) { try trustFileModes(true) }
  }

  /// Sets whether git and notes trust the executable bits in the folder, durably.
  func trustFileModes(_ isTrusted: Bool) throws {
    try repository.set(FileModeTrust.gitSetting, to: isTrusted ? "true" : "false")
    try Disk.sync(file: repository.gitFolder + "/config")
    try Disk.sync(folder: repository.gitFolder)
    forgetSettings()
  }
}

extension FolderAccess {
  /// Makes a file executable for everyone who may read it, or for nobody, if it exists and belongs
  /// to this user.
  func setExecutable(_ isExecutable: Bool, _ path: TreePath) throws {
    _ = try withParent(of: path, create: false) { parent, name in
      // Change the mode by the descriptor, and not by the name, which may be a link by now.
      let file = Counted.openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
      defer { if file >= 0 { close(file) } }
      var status = stat()
      // Some file systems do not have the bit.
      guard
        file >= 0 && Counted.fstat(file, &status) == 0
          && fchmod(file, FileTraits.permissions(status.st_mode, isExecutable: isExecutable)) == 0
          || [ENOENT, ELOOP, EPERM].contains(errno)
      else { throw WorkTreeError.file(call: "chmod", path: path.description, errno: errno) }
    }
  }
}
