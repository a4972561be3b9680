import Glibc
import TestSupport
import Testing

/// `notes edit` and `notes new --edit` on a terminal, with an editor that does what it is told.
@Suite(.serialized) struct EditTerminalTests {
  private let shell: Shell

  init() throws {
    shell = try Shell()
    try shell.folder.write("milk\n", to: "notes/Shopping.txt")
    try shell.initialise()
    // An editor that takes the terminal, shows the file and adds the lines that are typed.
    try shell.folder.write(
      """
      #!/bin/sh
      stty -echo; printf '\\033[?1049h\\033[H\\033[2Jediting %s\\n' "${1##*/}"
      [ -e "$1" ] && cat "$1"
      while IFS= read -r line && [ "$line" != . ]; do
        if [ "$line" = quit ]; then printf '\\033[?1049l'; stty echo; exit 3; fi
        printf '%s\\n' "$line" >>"$1"; printf 'wrote %s\\n' "$line"
      done
      printf '\\033[?1049l'; stty echo

      """, to: "editor")
    chmod(shell.folder["editor"], 0o755)
    shell.environment["VISUAL"] = shell.folder["editor"]
  }

  private func start(_ arguments: String...) throws -> TmuxScreen {
    try shell.screen(notes: arguments)
  }

  @Test func `What the editor wrote is a version`() throws {
    let screen = try start("edit", "shop")
    try screen.wait(for: "the note in the editor") {
      $0.contains("editing Shopping.txt") && $0.contains("milk")
    }
    try screen.type("eggs\n")
    try screen.wait(for: "wrote eggs")
    try screen.type(".\n")
    let left = try screen.wait(for: "left with 0")
    #expect(left.contains("Saved Shopping.txt: version "))
    #expect(try shell.notes("show", "Shopping@~0").text == "milk\neggs\n")
    #expect(try shell.notes("show", "Shopping@~1").text == "milk\n")
  }

  @Test func `A note that is not there is offered and made`() throws {
    let screen = try start("edit", "Plan")
    try screen.wait(for: "No note 'Plan'. Create it? [Y/n]")
    try screen.press("Enter")
    try screen.wait(for: "editing Plan.txt")
    try screen.type("first step\n.\n")
    #expect(try screen.wait(for: "left with 0").contains("Added Plan.txt: version "))
    #expect(try shell.notes("show", "Plan").text == "first step\n")
  }

  @Test func `An editor that writes nothing, or fails, makes no version`() throws {
    let before = try shell.notes("log", "--json").lines.count
    let screen = try start("edit", "Shopping")
    try screen.wait(for: "editing Shopping.txt")
    try screen.type(".\n")
    #expect(try screen.wait(for: "left with 0").contains("Nothing changed in Shopping.txt."))
    let second = try start("edit", "Shopping")
    try second.wait(for: "editing Shopping.txt")
    try second.type("quit\n")
    #expect(try second.wait(for: "left with 1").contains("notes: error:"))
    #expect(try shell.notes("log", "--json").lines.count == before)
  }
}
