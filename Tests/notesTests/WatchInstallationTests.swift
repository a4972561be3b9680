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
}
