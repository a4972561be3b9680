import Glibc
import TestSupport
import Testing

/// The program as a shell sees it, on one device.
final class Shell {
  let folder: TemporaryFolder
  var environment: [String: String]
  private var program: [String]

  init() throws {
    folder = try TemporaryFolder()
    environment = try TestEnvironment.isolated(home: folder["home"])
    program = [try BuiltBinary.notes()]
    try makeFolder(folder["notes"])
  }

  /// Runs `notes` in the notebook's folder, or another.
  @discardableResult
  func notes(_ arguments: String..., in place: String = "notes", input: String = "") throws
    -> ProcessResult
  {
    try run(
      program + arguments, in: folder[place], environment: environment, input: Array(input.utf8))
  }

  /// Gives everything to nobody, whose permissions are checked, and runs `notes` as nobody from then
  /// on; see `TestEnvironment.canRunAsNobody`.
  func becomeNobody() throws {
    let copy = folder["program"]
    try #require(try run(["install", "-m", "755", BuiltBinary.notes(), copy]).isSuccess)
    try #require(try run(["chown", "-R", "65534:65534", folder.path]).isSuccess)
    program = TestEnvironment.asNobody + [copy]
  }

  /// A terminal in which a command runs, in the notebook's folder.
  func screen(_ command: [String], columns: Int = 80, rows: Int = 24) throws -> TmuxScreen {
    try TmuxScreen(
      command, home: folder["home"], in: folder["notes"], environment: environment,
      columns: columns, rows: rows)
  }

  /// A terminal in which `notes` runs, and which then says "left with" its exit status and stays.
  func screen(notes arguments: [String]) throws -> TmuxScreen {
    let script = #"program=$0; "$program" "$@"; echo "left with $?"; read -r line"#
    return try screen(["bash", "--norc", "-c", script, BuiltBinary.notes()] + arguments)
  }

  /// Makes the folder a notebook.
  func initialise() throws {
    let result = try notes("init", "--name", "Home", "--device-name", "laptop")
    try #require(result.isSuccess, "\(result)")
  }

  /// A notebook with a note in each of two versions.
  static func withTwoVersions() throws -> Shell {
    let shell = try Shell()
    try shell.folder.write("one\n", to: "notes/One.txt")
    try shell.initialise()
    try shell.folder.write("two\n", to: "notes/Two.txt")
    try #require(try shell.notes("save").isSuccess)
    return shell
  }
}
