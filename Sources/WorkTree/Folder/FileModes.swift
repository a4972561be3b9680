package import Git
internal import Glibc
internal import System

/// Whether the executable bit of a file says anything: `core.fileMode` in `.git/config`
/// (git-config(1)). If it does not, as on file systems of other systems, a note keeps the mode that
/// its last version has, and a new one is not executable.
///
/// A checkout sets the bit only where the user asked for it by `notes.executableFiles`. From the first
/// bit on that is left out, `core.fileMode` is false: neither git nor a save takes the plain file for an
/// edit then.
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

  /// Whether a checkout leaves a file of this mode plain all the same.
  func leavesOut(_ mode: FileMode) -> Bool { mode == .executable && !makesExecutable }

  /// The permissions that a checkout gives a file, before the process's mask.
  func permissions(of mode: FileMode) -> mode_t {
    mode == .executable && makesExecutable ? 0o777 : 0o666
  }
}

extension WorkTree {
  /// Whether checkouts make files executable that a version has so, as the user set it; nil where nothing
  /// is set.
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
    // Last: what stood plain until then would count as an edit.
    if Repository.keepsModes(in: repository.gitFolder) { try trustFileModes(true) }
  }

  /// Says to git and to ourselves whether bits in the folder count, durably.
  func trustFileModes(_ isTrusted: Bool) throws {
    try repository.set(FileModeTrust.gitSetting, to: isTrusted ? "true" : "false")
    try Disk.sync(file: repository.gitFolder + "/config")
    try Disk.sync(folder: repository.gitFolder)
    forgetSettings()
  }
}

extension FolderAccess {
  /// Lets whoever may read a file run it, or nobody, where there is one and it is ours.
  func setExecutable(_ isExecutable: Bool, _ path: TreePath) throws {
    _ = try withParent(of: path, create: false) { parent, name in
      // Not by its name, which may be a link's by now.
      let file = Counted.openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
      defer { if file >= 0 { close(file) } }
      var status = stat()
      // Some file systems have no such bit.
      guard
        file >= 0 && Counted.fstat(file, &status) == 0
          && fchmod(file, FileTraits.permissions(status.st_mode, isExecutable: isExecutable)) == 0
          || [ENOENT, ELOOP, EPERM].contains(errno)
      else { throw WorkTreeError.file(call: "chmod", path: path.description, errno: errno) }
    }
  }
}
