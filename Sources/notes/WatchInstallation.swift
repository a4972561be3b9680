internal import Glibc
internal import System

/// The systemd user service that runs `notes watch` from the login on: notes-watch(1), --install.
struct WatchInstallation {
  let program: String
  /// The notebooks' folders, or `--all`.
  let words: [String]

  static let unit = "notes-watch.service"

  var text: String {
    let words = [program, "watch"] + words
    return """
      # Written by notes watch --install; it writes it anew.
      [Unit]
      Description=Keep notes up to date on all devices
      Documentation=man:notes-watch(1)

      [Service]
      Type=notify
      ExecStart=\(words.map(Self.quoted).joined(separator: " "))
      Restart=on-failure
      RestartSec=5
      WatchdogSec=120

      [Install]
      WantedBy=default.target

      """
  }

  /// A word as systemd reads it back: quotes, and `%` and `$` stand for themselves.
  static func quoted(_ word: String) -> String {
    var text = ""
    for character in word {
      switch character {
      case "\\", "\"": text += "\\" + String(character)
      case "%", "$": text += String(repeating: character, count: 2)
      default: text.append(character)
      }
    }
    return "\"" + text + "\""
  }

  /// Writes the unit and has systemd start it, now and at every login.
  ///
  /// - Parameter folder: where the user's units are.
  func install(in folder: String) throws {
    try write(to: folder)
    for words in [["daemon-reload"], ["enable", "--now", Self.unit], ["restart", Self.unit]] {
      let systemctl = try? ChildProcess("systemctl", ["systemctl", "--user"] + words)
      guard systemctl?.wait() == .exited(0) else {
        throw Failure(
          .failed, "no_systemd",
          "the unit is written, but 'systemctl --user \(words.joined(separator: " "))' failed",
          hint: "'systemctl --user status \(Self.unit)' tells more")
      }
    }
  }

  func write(to folder: String) throws(Failure) {
    let target = folder + "/" + Self.unit
    do {
      try Disk.makeFolders(folder, mode: 0o755)
      try Disk.replace(target, with: Array(text.utf8), mode: 0o644)
    } catch {
      throw Failure(
        .failed, "unit_not_written",
        "\(Visible.name(target)) cannot be written: \(String(errorNumber: error.errno))",
        hint: Failure.remedy(error.errno) ?? "let your user write there, and run the command again")
    }
  }
}
