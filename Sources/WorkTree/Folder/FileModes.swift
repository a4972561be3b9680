package import Git
internal import Glibc
internal import System

/// Whether the executable bit of a file says anything: `core.fileMode` in `.git/config`
/// (git-config(1)). Where it does not, as on file systems of other systems, a note keeps the mode that
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
      try access.setPermissions(fileModes.permissions(of: entry.mode), of: entry.path)
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
  /// Gives a file these permissions but for the process's mask, where there is one and it is ours.
  func setPermissions(_ mode: mode_t, of path: TreePath) throws {
    let mask = FileModeMask.ofProcess
    _ = try withParent(of: path, create: false) { parent, name in
      // Not by its name, which may be a link's by now.
      let file = Counted.openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
      var status = stat()
      defer { if file >= 0 { close(file) } }
      // Some file systems have no such bit.
      guard file >= 0 && fchmod(file, mode & ~mask) == 0 || [ENOENT, ELOOP, EPERM].contains(errno)
      else { throw NotebookError.file(call: "chmod", path: path.description, errno: errno) }
    }
  }
}

/// The mode bits that new files of this process do not get.
enum FileModeMask {
  /// Read once from the process's status (proc(5), "Umask"): umask(2) can only tell the mask by
  /// setting another, which files that other threads make in that moment would get.
  static let ofProcess: mode_t = {
    let status = (try? Disk.readIfThere("/proc/self/status")) ?? nil
    let line = (status ?? []).split(separator: UInt8(ascii: "\n"))
      .first { $0.starts(with: "Umask:".utf8) }
    let digits = (line ?? []).filter { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "7") }
    return mode_t(String(decoding: digits, as: UTF8.self), radix: 8) ?? 0o022
  }()
}
