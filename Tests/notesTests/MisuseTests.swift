import Glibc
import TestSupport
import Testing

/// What disks, rights and git by hand can do to a notebook: each a clear error, nothing lost, and
/// work goes on when the cause is gone.
@Suite struct MisuseTests {
  private let shell: Shell

  init() throws {
    shell = try Shell()
    for name in ["One", "Two", "Three"] {
      try shell.folder.write("text of \(name)\n", to: "notes/\(name).txt")
    }
    try shell.initialise()
  }

  private func git(_ arguments: String...) throws {
    let result = try run(
      ["git", "-c", "user.name=P", "-c", "user.email=p@example.org"] + arguments,
      in: shell.folder["notes"], environment: shell.environment)
    try #require(result.isSuccess, "\(result)")
  }

  @Test func `A note that cannot be read stops a command before anything changes`() throws {
    // root may read everything: the program runs as nobody.
    guard geteuid() == 0 else { return }
    try #require(
      try run(["cp", BuiltBinary.notes(), shell.folder["program"]], in: "/").isSuccess)
    try #require(
      try run(["chown", "-R", "65534:65534", shell.folder.path], in: "/").isSuccess)
    func notes(_ arguments: [String]) throws -> ProcessResult {
      try run(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", shell.folder["program"]]
          + arguments, in: shell.folder["notes"], environment: shell.environment)
    }
    chmod(shell.folder["notes/Two.txt"], 0)
    for arguments in [["rm", "Two"], ["mv", "Two", "Zwei"]] {
      let result = try notes(arguments)
      #expect(result.errorText.contains("read Two.txt: permission denied"), "\(result)")
    }
    #expect(try notes(["status"]).text.contains("Two.txt  cannot be read: permission denied"))
    try writeFile(shell.folder["notes/Three.txt"], Array("edited\n".utf8))
    #expect(try notes(["save"]).isSuccess)
    chmod(shell.folder["notes/Two.txt"], 0o644)
    #expect(try notes(["mv", "Two", "Zwei"]).isSuccess)
    #expect(try notes(["show", "Zwei"]).text == "text of Two\n")
  }

  @Test(arguments: ["extensions.worktreeConfig", "extensions.refStorage"])
  func `A repository of a form that notes does not know is told, and never taken`(
    setting: String
  ) throws {
    try git("config", "core.repositoryFormatVersion", "1")
    try git("config", setting, "true")
    try shell.folder.write("edited\n", to: "notes/One.txt")
    for result in [try shell.notes("save"), try shell.notes("restore", "One@~0")] {
      #expect(
        result.errorText.contains(
          "this repository needs \(setting.lowercased()), which notes cannot work with"),
        "\(result)")
      #expect(result.status == .exited(1))
    }
    // git refuses to touch a repository whose extensions it does not know, too.
    #expect(
      try run(["sed", "-i", "/\\[extensions\\]/,$d", shell.folder["notes/.git/config"]]).isSuccess)
    #expect(try shell.notes("save").isSuccess)
    // Nothing begins in a repository that could not go on.
    try makeFolder(shell.folder["other"])
    try #require(
      try run(
        ["git", "init", "-q", "--object-format=sha256", shell.folder["other"]],
        environment: shell.environment
      ).isSuccess)
    let other = try shell.notes("init", in: "other")
    #expect(other.errorText.contains("this repository needs extensions.objectformat"))
    #expect(access(shell.folder["other/.git/notes"], F_OK) != 0)
  }
}
