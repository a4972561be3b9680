import TestSupport
import Testing

/// `notes watch` and `notes serve` on a terminal: notes-watch(1), notes-serve(1).
@Suite struct ServiceTerminalTests {
  @Test func `On a terminal a watcher says what it does and how to stop it`() throws {
    let shell = try Shell()
    try shell.initialise()
    let screen = try shell.screen(notes: ["watch", "--no-discovery", "--listen", "127.0.0.1:0"])
    try screen.wait(for: "Ctrl-C stops it.") { $0.contains("Watching Home in ") }
    try shell.folder.write("milk\n", to: "notes/Shopping.txt")
    try screen.wait(for: "saved Shopping.txt")
    try screen.press("C-c")
    let left = try screen.wait(for: "left with 130")
    #expect(!left.contains(" info notes:"), "\(left)")
  }

  @Test func `A service's log keeps its form where no person looks on`() throws {
    let shell = try Shell()
    try shell.initialise()
    let process = try shell.start("serve", "--no-discovery", "--listen", "127.0.0.1:0")
    _ = try process.errorLine {
      $0.contains(" info notes:") && $0.contains("listening on 127.0.0.1")
    }
    process.send(15)
    #expect(try process.wait().text.isEmpty)
  }
}
