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

  @Test(.enabled(if: TestEnvironment.canRunAsNobody, "needs another user"))
  func `A note that cannot be read stops a command before anything changes`() throws {
    try shell.becomeNobody()
    chmod(shell.folder["notes/Two.txt"], 0)
    for result in [try shell.notes("rm", "Two"), try shell.notes("mv", "Two", "Zwei")] {
      #expect(result.errorText.contains("read Two.txt: permission denied"), "\(result)")
    }
    #expect(try shell.notes("status").text.contains("Two.txt  cannot be read: permission denied"))
    // So does one that is in no version yet.
    try writeFile(shell.folder["notes/Four.txt"], Array("new\n".utf8))
    try #require(try run(["chown", "65534", shell.folder["notes/Four.txt"]]).isSuccess)
    chmod(shell.folder["notes/Four.txt"], 0)
    let status = try shell.notes("status").text
    #expect(
      status.contains("Four.txt  cannot be read: permission denied")
        && !status.contains("Four.txt  added"), "\(status)")
    try writeFile(shell.folder["notes/Three.txt"], Array("edited\n".utf8))
    #expect(try shell.notes("save").isSuccess)
    chmod(shell.folder["notes/Two.txt"], 0o644)
    #expect(try shell.notes("mv", "Two", "Zwei").isSuccess)
    #expect(try shell.notes("show", "Zwei").text == "text of Two\n")
  }

  /// "Where it could not be made, because the disk was full for instance, the same command makes it
  /// when the cause is gone" (notes-init(1)).
  @Test(.enabled(if: geteuid() == 0, "mounts a file system"))
  func `An init without room for the first version is gone on with`() throws {
    let folder = shell.folder["small"]
    try makeFolder(folder)
    // A disk of its own, which goes with the shell.
    let script = """
      mount -t tmpfs -o size=512k tmpfs . && cd "$PWD"
      head -c 100000 /dev/urandom >One.txt; echo two >Two.txt; head -c 300000 /dev/urandom >filler
      "$0" init --name Small; echo "first $?"
      rm filler
      "$0" init --name Small; echo "second $?"
      git log --format=%s; git status --porcelain; git fsck --strict
      "$0" init; echo "third $?"
      """
    let result = try run(
      ["unshare", "--mount", "sh", "-c", script, BuiltBinary.notes()], in: folder,
      environment: shell.environment)
    #expect(result.errorText.contains("no space left on device"), "\(result)")
    let lines = result.lines.filter { $0.contains { $0.isNumber } || $0.hasPrefix("Start") }
    #expect(lines.first == "first 1" && lines.last == "third 1", "\(result)")
    #expect(lines.contains("second 0") && lines.contains("Start notebook Small"), "\(result)")
  }

  /// Like a full disk: nothing is lost, and the next save makes up for it.
  @Test func `A limit of file sizes is an error of the save that meets it`() throws {
    var random = SplitMix64(seed: 1)
    let text = (0..<20_000).map { _ in UInt8.random(in: 32..<127, using: &random) }
    try shell.folder.write(text, to: "notes/One.txt")
    let limited = try run(
      ["sh", "-c", "ulimit -f 8; exec \"$0\" save", BuiltBinary.notes()],
      in: shell.folder["notes"], environment: shell.environment)
    #expect(limited.status == .exited(1), "\(limited)")
    #expect(limited.errorText.contains("file too large"), "\(limited)")
    #expect(try shell.notes("status").text.contains("One.txt"))
    #expect(try shell.notes("save").isSuccess)
    #expect(try shell.notes("show", "One").output == text)
    try git("fsck", "--strict")
  }

  @Test(.enabled(if: TestEnvironment.canRunAsNobody, "needs another user"))
  func `What may not be entered or read is told as that`() throws {
    try shell.becomeNobody()
    let folder = shell.folder["notes"]
    for (file, says) in [
      (".git", "open \(folder)/.git: permission denied"),
      (".git/HEAD", ".git/HEAD: permission denied"),
      (".git/refs/heads/main", ".git/refs/heads/main: permission denied"),
      (".git/logs/refs/heads/main", ".git/logs/refs/heads/main: permission denied"),
    ] {
      try writeFile(folder + "/One.txt", Array("edited with \(file)\n".utf8))
      var status = stat()
      stat("\(folder)/\(file)", &status)
      chmod("\(folder)/\(file)", 0)
      let result = try shell.notes("save")
      chmod("\(folder)/\(file)", status.st_mode & 0o777)
      #expect(result.status == .exited(1) && result.errorText.contains(says), "\(result)")
    }
  }

  /// "What a killed git left goes after an hour"; a younger one is somebody's.
  @Test func `A lock of git's is waited for, told, and taken away when nobody can have it`() throws
  {
    let lock = shell.folder["notes/.git/refs/heads/main.lock"]
    try shell.folder.write("edited\n", to: "notes/One.txt")
    try writeFile(lock, [])
    let refused = try shell.notes("save")
    #expect(refused.errorText.contains("has locked .git/refs/heads/main.lock"), "\(refused)")
    #expect(access(lock, F_OK) == 0)
    try #require(try run(["touch", "-d", "2 hours ago", lock]).isSuccess)
    #expect(try shell.notes("save").isSuccess)
    #expect(access(lock, F_OK) != 0)
    try git("fsck", "--strict")
  }

  @Test func `A folder that was removed below whoever works in it is told`() throws {
    let script = "mkdir gone; cd gone; rmdir ../gone; \"$0\" status; echo $?; \"$0\" save; echo $?"
    let result = try run(
      ["sh", "-c", script, BuiltBinary.notes()], in: shell.folder["notes"],
      environment: shell.environment)
    #expect(result.errorText.contains("the current folder has no path"), "\(result)")
    #expect(result.lines == ["1", "1"], "\(result)")
  }

  @Test(arguments: ["extensions.worktreeConfig", "extensions.refStorage", "extensions.unheardOf"])
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
    #expect(
      other.errorText.contains("hint: copy the files without .git to a new folder"))
    #expect(access(shell.folder["other/.git/notes"], F_OK) != 0)
  }
}
