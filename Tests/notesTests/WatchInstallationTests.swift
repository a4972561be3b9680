import Glibc
import TestSupport
import Testing

@testable import notes

/// notes-watch(1), --install.
@Suite("The unit of notes watch --install")
struct WatchInstallationTests {
  @Test("names the program and the folders as systemd reads them back")
  func unit() throws {
    let folder = try TemporaryFolder()
    let installation = WatchInstallation(
      program: "/usr/bin/notes", words: ["/home/ada/my notes", "/home/ada/100% \"$x\""])
    try installation.write(to: folder["config/systemd/user"])
    let text = try folder.text("config/systemd/user/notes-watch.service")
    #expect(
      text.contains(
        #"ExecStart="/usr/bin/notes" "watch" "/home/ada/my notes" "/home/ada/100%% \"$$x\"""#))
    #expect(text.contains("Type=notify\n") && text.contains("WantedBy=default.target\n"))
  }

  @Test("is the packaged one but for the program, the folders and the first comment")
  func packaged() throws {
    func lines(_ text: String) -> [Substring] {
      text.split(separator: "\n", omittingEmptySubsequences: false).drop { $0.hasPrefix("#") }
        .filter { !$0.hasPrefix("ExecStart=") }
    }
    let file = BuiltBinary.sourceFolder + "/contrib/notes-watch.service.in"
    let packaged = try String(decoding: readFile(file), as: UTF8.self)
    let installation = WatchInstallation(program: "/usr/bin/notes", words: ["--all"])
    #expect(lines(installation.text) == lines(packaged))
    for line in ["SystemCallFilter=@system-service", "RestrictNamespaces=yes", "MemoryMax=2G"] {
      #expect(lines(packaged).contains(Substring(line)), "\(line)")
    }
  }

  private static var hasAnalyzer: Bool { access("/usr/bin/systemd-analyze", X_OK) == 0 }

  private func analyzed(_ words: [String]) throws -> ProcessResult {
    let folder = try TemporaryFolder()
    try makeFolder(folder["run"])
    try WatchInstallation(
      program: BuiltBinary.notes(), words: ["--all", folder["my notes 100% \"$x\""]]
    ).write(to: folder.path)
    return try run(
      ["systemd-analyze"] + words + [folder[WatchInstallation.unit]],
      environment: ["PATH": "/usr/bin:/bin", "HOME": folder.path, "XDG_RUNTIME_DIR": folder["run"]])
  }

  @Test("is one that systemd takes", .enabled("systemd-analyze is not installed") { hasAnalyzer })
  func verified() throws {
    let check = try analyzed(["verify", "--user", "--man=no"])
    #expect(check.isSuccess && check.errorText.isEmpty, "\(check)")
  }

  // systemd counts what only its own manager can take away, too: users, devices, the kernel's tunables.
  @Test(
    "exposes no more than systemd rates 6.4 of 10",
    .enabled("systemd-analyze is not installed") { hasAnalyzer })
  func exposure() throws {
    let rating = try analyzed([
      "security", "--user", "--offline=true", "--no-pager", "--threshold=64",
    ])
    print(rating.lines.last ?? "")
    #expect(rating.isSuccess, "\(rating)")
  }
}
