import TestSupport
import Testing

/// notes-init(1): "A folder that is a git repository keeps its history, its branch, its settings and its
/// remotes."
@Suite struct AdoptTests {
  let shell: Shell

  init() throws {
    shell = try Shell()
    try git("init", "-q", "-b", "trunk")
    try shell.folder.write("one\n", to: "notes/A.txt")
    try git("add", "A.txt")
    try git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "First")
  }

  private func git(_ arguments: String...) throws {
    let result = try run(["git"] + arguments, in: shell.folder["notes"])
    try #require(result.isSuccess, "\(result)")
  }

  @Test func `Its remotes are offered as hubs, and none is met by itself`() throws {
    try git("init", "-q", "--bare", "-b", "trunk", "../hub.git")
    try git("remote", "add", "origin", shell.folder["hub.git"])
    try git("remote", "add", "odd", "ext::sh -c x")
    let text = try shell.notes("init", "--yes").text
    let offer = "  notes remote add origin \(shell.folder["hub.git"])\n"
    #expect(text.hasSuffix("only if you make them hubs:\n" + offer))
    #expect(try shell.notes("remote").text.hasPrefix("No hubs"))
    #expect(try shell.notes("sync", "--no-discovery", "--wait", "0").status == .exited(4))
    #expect(try run(["git", "-C", shell.folder["hub.git"], "for-each-ref"]).text.isEmpty)
    #expect(try shell.notes("remote", "add", "origin", shell.folder["hub.git"]).isSuccess)
    #expect(try shell.notes("sync", "--no-discovery", "--wait", "0").isSuccess)
    #expect(try run(["git", "-C", shell.folder["hub.git"], "log", "trunk"]).text.contains("First"))
  }

  // "A repository with SHA-256 names, a partial or sparse clone, and one that keeps files with Git LFS are refused."
  @Test(arguments: ["sha256", "partial", "sparse", "sparse by hand", "lfs"])
  func `What it cannot work with is refused, and stays as it is`(kind: String) throws {
    switch kind {
    case "sha256":
      #expect(try run(["rm", "-r", shell.folder["notes/.git"]]).isSuccess)
      try git("init", "-q", "--object-format=sha256")
    case "partial":
      try git("config", "core.repositoryFormatVersion", "1")
      try git("config", "extensions.partialClone", "origin")
    case "sparse by hand": try git("config", "core.sparseCheckout", "Yes")
    case "sparse": try git("sparse-checkout", "set", "trips")
    default:
      try shell.folder.write("*.psd filter=lfs diff=lfs -text\n", to: "notes/.gitattributes")
    }
    let result = try shell.notes("init", "--yes")
    #expect(result.status == .exited(1))
    #expect(result.errorText.contains("which notes cannot work with"), "\(result)")
    #expect(try run(["ls", shell.folder["notes/.git"]]).lines.contains("notes") == false)
  }

  // notes-merge(7): "These attributes count: [...] of the file that core.attributesFile names in .git/config
  // or in the user's own configuration of git"
  @Test(arguments: [
    "default", "named in ~/.gitconfig", "named in git/config", "with a comment", "with an old line",
    "with spaces", "on two lines", "included", "by GIT_CONFIG_GLOBAL", "by a macro",
    "under a condition", "named in .git/config",
  ])
  func `What the user has git encrypt everywhere stays on the device`(place: String) throws {
    let shell = shell
    shell.environment["GIT_CONFIG_GLOBAL"] = nil
    let attributes = "*.secret.txt filter=crypt\n"
    let home = "home/"
    let configuration = try #require(shell.environment["XDG_CONFIG_HOME"])
    try makeFolder(configuration)
    try makeFolder(configuration + "/git")
    switch place {
    case "default": try writeFile(configuration + "/git/attributes", Array(attributes.utf8))
    case "named in git/config":
      try shell.folder.write(attributes, to: home + "mine")
      try writeFile(
        configuration + "/git/config",
        Array("[core]\n\tattributesFile = \"\(shell.folder[home + "mine"])\"\n".utf8))
    case "named in .git/config":
      try shell.folder.write(attributes, to: home + "mine")
      _ = try run(
        ["git", "-C", shell.folder["notes"], "config", "core.attributesFile", "~/mine"])
    case "by GIT_CONFIG_GLOBAL":
      try shell.folder.write(attributes, to: home + "mine")
      try shell.folder.write("[core]\nattributesFile = ~/mine\n", to: home + "other")
      shell.environment["GIT_CONFIG_GLOBAL"] = shell.folder[home + "other"]
    case "by a macro":
      try shell.folder.write("[attr]hidden filter=crypt\n", to: home + "mine")
      try shell.folder.write("[core]\nattributesFile = ~/mine\n", to: home + ".gitconfig")
      try shell.folder.write("*.secret.txt hidden\n", to: "notes/.gitattributes")
    default:
      try makeFolder(shell.folder[home + "my  own"])
      try shell.folder.write(attributes, to: home + "my  own/mine")
      try shell.folder.write(attributes, to: home + "mine")
      let lines = [
        "with a comment": "attributesFile = ~/mine ; what is secret",
        "with an old line": "attributesFile = ~/mine\n# attributesFile = ~/old",
        "with spaces": "attributesFile = \"~/my  own/mine\"",
        "on two lines": "attributesFile = ~/mi\\\nne", "included": "[include]\npath = ~/more",
        "under a condition": "[includeIf \"gitdir:**/notes/.git\"]\npath = ~/more",
      ]
      try shell.folder.write("[core]\nattributesFile = ~/mine\n", to: home + "more")
      try shell.folder.write(
        "[core]\n" + (lines[place] ?? "attributesfile=~/mine") + "\n", to: home + ".gitconfig")
    }
    try shell.folder.write("swordfish\n", to: "notes/x.secret.txt")
    #expect(try shell.notes("init", "--yes").text.contains("git converts it with the filter crypt"))
    try shell.folder.write("swordfish\n", to: "notes/y.secret.txt")
    try shell.folder.write("two\n", to: "notes/B.txt")
    let saved = try shell.notes("save").text
    #expect(saved.contains("y.secret.txt is not versioned"), "\(saved)")
    let files = try run(["git", "ls-tree", "-r", "--name-only", "HEAD"], in: shell.folder["notes"])
    #expect(files.lines.filter { $0 != ".gitattributes" } == ["A.txt", "B.txt"])
  }

  // notes-merge(7): "or by the file that core.excludesFile names in .git/config"
  @Test(arguments: [false, true])
  func `What .git/config has git ignore stays on the device`(hasOwn: Bool) throws {
    try shell.folder.write("diary.txt\n", to: "home/mine")
    _ = try run(["git", "-C", shell.folder["notes"], "config", "core.excludesFile", "~/mine"])
    if hasOwn { try shell.folder.write("*.log\n", to: "notes/.gitignore") }
    try shell.folder.write("swordfish\n", to: "notes/diary.txt")
    let made = try shell.notes("init", "--yes")
    #expect(made.isSuccess, "\(made)")
    let files = try run(["git", "ls-tree", "-r", "--name-only", "HEAD"], in: shell.folder["notes"])
    #expect(files.lines.filter { $0 != ".gitignore" } == ["A.txt"])
  }

  // notes-merge(7): "or in a file that this includes, whatever the condition"
  @Test(arguments: ["hasconfig:remote.*.url:**", "gitdir:**/notes/.git", "onbranch:main"])
  func `What git ignores under a condition stays on the device`(condition: String) throws {
    try shell.folder.write("diary.txt\n", to: "home/mine")
    try shell.folder.write("[core]\nexcludesFile = ~/mine\n", to: "home/more")
    for (name, value) in [
      ("remote.backup.url", "/nowhere"), ("includeIf.\(condition).path", "~/more"),
    ] {
      _ = try run(["git", "-C", shell.folder["notes"], "config", name, value])
    }
    try shell.folder.write("swordfish\n", to: "notes/diary.txt")
    let made = try shell.notes("init", "--yes")
    #expect(made.isSuccess, "\(made)")
    try shell.folder.write("two\n", to: "notes/B.txt")
    #expect(try shell.notes("save").isSuccess)
    let files = try run(["git", "ls-tree", "-r", "--name-only", "HEAD"], in: shell.folder["notes"])
    #expect(files.lines == ["A.txt", "B.txt"])
  }
}
