internal import System

/// The systemd user service that runs `notes watch` after login: notes-watch(1), --install.
struct WatchInstallation {
  let program: String
  let words: [String]

  static let unit = "notes-watch.service"

  var text: String {
    let words = [program, "watch"] + words
    return """
      # Written by notes watch --install, which replaces this file.
      [Unit]
      Description=Keep notes up to date on all devices
      Documentation=man:notes-watch(1)

      [Service]
      Type=notify
      ExecStart=\(words.map(Self.quoted).joined(separator: " "))
      Restart=on-failure
      RestartSec=5
      WatchdogSec=120
      # This includes git, which visits hubs, and hooks.
      MemoryMax=2G
      # The restrictions that a user's service manager can set on every system. Hooks are commands of the user: no folder is
      # hidden from them, and they may write code that they run, as interpreters do. Hiding folders and dropping capabilities
      # need user namespaces; on systems that forbid these, the unit would not start.
      NoNewPrivileges=yes
      KeyringMode=private
      LockPersonality=yes
      RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
      RestrictNamespaces=yes
      RestrictRealtime=yes
      RestrictSUIDSGID=yes
      SystemCallArchitectures=native
      SystemCallFilter=@system-service
      SystemCallFilter=~@privileged
      SystemCallErrorNumber=EPERM

      [Install]
      WantedBy=default.target

      """
  }

  /// A word quoted for systemd, with literal quotes, `%` and `$`.
  static func quoted(_ word: String) -> String {
    let special: [Character: String] = ["\\": "\\\\", "\"": "\\\"", "%": "%%", "$": "$$"]
    return "\"" + word.map { special[$0] ?? String($0) }.joined() + "\""
  }

  func install(in folder: String) throws {
    try write(to: folder)
    for words in [["daemon-reload"], ["enable", "--now", Self.unit], ["restart", Self.unit]] {
      // A missing systemctl is a failure, handled below.
      let systemctl = try? ChildProcess("systemctl", ["systemctl", "--user"] + words)
      guard systemctl?.wait() == .exited(0) else {
        throw Failure(
          .failed, "no_systemd",
          "the unit is written, but 'systemctl --user \(words.joined(separator: " "))' failed",
          hint: "'systemctl --user status \(Self.unit)' says why")
      }
    }
  }

  func write(to folder: String) throws(Failure) {
    let target = folder + "/" + Self.unit
    do {
      try Disk.makeFolders(folder, mode: 0o755)
      try Disk.replace(target, with: Array(text.utf8), mode: 0o644)
    } catch {
      throw .system(
        "\(Visible.name(target)) cannot be written", errno: error.errno, kind: "unit_not_written",
        hint: "let your user write there, and run the command again")
    }
  }
}
