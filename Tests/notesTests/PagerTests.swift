import Glibc
import TestSupport
import Testing

/// Long output on a terminal: notes(1), NOTES_PAGER.
@Suite(.serialized) struct PagerTests {
  private let shell: Shell

  init() throws {
    shell = try Shell()
    try shell.folder.write("milk\n", to: "notes/Shopping.txt")
    try shell.initialise()
    // A pager that, as less(1) does, outlives an interrupt and waits for its user.
    try shell.folder.write(
      "#!/bin/sh\ntrap 'echo interrupted' INT\nsed 's/^/paged: /'\nread line </dev/tty\n",
      to: "pager")
    chmod(shell.folder["pager"], 0o755)
  }

  private func start(pager: String, _ arguments: String...) throws -> TmuxScreen {
    shell.environment["NOTES_PAGER"] = pager
    return try shell.screen(notes: arguments)
  }

  @Test func `Ctrl-C is the pager's, which is waited for`() throws {
    let screen = try start(pager: shell.folder["pager"], "show", "Shopping")
    try screen.wait(for: "paged: milk")
    try screen.press("C-c")
    try screen.wait(for: "interrupted")
    try screen.press("Enter")
    let end = try screen.wait(for: "left with")
    #expect(end.contains("left with 0"))
  }

  @Test(arguments: ["/no/such/pager", "no-such-pager --long"])
  func `Where there is no such pager, the output comes without one`(pager: String) throws {
    let screen = try start(pager: pager, "show", "Shopping")
    let end = try screen.wait(for: "left with 0")
    #expect(end.contains("notes: warning: the pager '\(pager)' was not found"))
    #expect(end.contains("\nmilk\n"))
  }

  // execve(2): arguments and environment share a quarter of the stack's limit, at least 128 KiB.
  @Test func `Where the pager cannot be started, the output comes without it`() throws {
    let script = #"""
      ulimit -s 512; NOTES_PAGER="cat $(printf %070000d 0)" "$0" show Shopping
      echo "left with $?"; read -r line
      """#
    let screen = try shell.screen(["bash", "--norc", "-c", script, BuiltBinary.notes()])
    let end = try screen.wait(for: "left with 0")
    let words = end.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(words.contains("notes: warning: the pager 'cat 000000"))
    #expect(words.contains("…' cannot be started: argument list too long"))
    #expect(end.contains("\nmilk\n"))
  }
}
