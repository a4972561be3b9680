import Glibc
import TestSupport

/// The notebook that the tests of the commands of every day begin with.
struct DailyNotebook {
  let shell: Shell

  init() throws {
    shell = try Shell()
    try shell.folder.write("milk\n", to: "notes/Shopping.txt")
    try shell.folder.write("forum\n", to: "notes/trips/Rome.md")
    try shell.folder.write("\u{0}png", to: "notes/photo.png")
    try shell.initialise()
  }

  /// The text of a file in the notebook.
  func text(_ name: String) throws -> String { try shell.folder.text("notes/" + name) }

  func isThere(_ name: String) -> Bool { access(shell.folder["notes/" + name], F_OK) == 0 }

  /// The two lines that a failure is told in.
  static func failure(_ message: String, _ hint: String) -> String {
    "notes: error: \(message)\nnotes: hint: \(hint)\n"
  }
}
