import Glibc
import TestSupport
import Testing

/// What the commands of every day say to mistakes.
@Suite struct DailyMistakeTests {
  private let daily: DailyNotebook
  private var shell: Shell { daily.shell }

  init() throws { daily = try DailyNotebook() }

  @Test(
    arguments: [
      (
        ["new", "Shopping"], 1, "there is a note Shopping.txt already",
        "choose another title; 'notes edit Shopping' changes the existing note"
      ),
      (
        ["new", "shopping"], 1, "there is a note Shopping.txt already",
        "names that differ only by case or Unicode spelling would be one on other systems; "
          + "choose another title"
      ),
      (
        ["new", "trips/Rome"], 1, "there is a note trips/Rome.md already",
        "choose another title, or add the suffix: trips/Rome.txt"
      ),
      (
        ["new", ".git/x"], 64, "'.git/x' cannot be a title: a name that means .git",
        "choose another title; slashes in a title separate folders"
      ),
      (
        ["mv", "Shopping", "trips/Rome.md"], 1, "there is a note trips/Rome.md already",
        "choose another title; 'notes edit Rome' changes the existing note"
      ),
      (
        ["mv", "trips/", "trips/x"], 1, "the folder trips cannot be moved into itself",
        "choose a folder outside of it"
      ),
      (["mv", "Nope", "x"], 1, "there is no note 'Nope'", "'notes list' shows the notes"),
      (["rm", "Shopping", "Nope"], 1, "there is no note 'Nope'", "'notes list' shows the notes"),
      (
        ["edit", "Nope"], 1, "there is no note 'Nope'",
        "'notes new Nope --edit' makes it, 'notes list' lists the notes"
      ),
      (
        ["edit", "trips"], 1, "trips is a folder, not a note",
        "'notes list --folder trips' lists the notes in it"
      ),
      (
        ["undo"], 1, "there is nothing to undo",
        "'notes log --operations' lists the operations here"
      ),
      (
        ["undo", "0"], 64, "the number of operations to undo must be 1 or more",
        "'notes undo --help' shows how to use it"
      ),
      (
        ["undo", "9"], 1, "there is nothing to undo",
        "'notes log --operations' lists the operations here"
      ),
      (
        ["undo", "abcdef12"], 1, "no operation that can be undone made version abcdef12",
        "'notes log --operations' lists the operations here"
      ),
      (
        ["redo"], 1, "there is nothing to redo",
        "'notes redo' redoes what you last undid; 'notes log --operations' lists the operations here"
      ),
      (
        ["list", "--folder", "nowhere"], 1, "there is no folder 'nowhere'",
        "write its path from the current folder or from the notebook's top"
      ),
      (
        ["list", "--since", "soonish"], 64, "'soonish' is not a time",
        "write a time such as yesterday, '2 hours ago', 2026-11-20 or '2026-11-20 10:00'"
      ),
      (
        ["restore", "trips/"], 64, "say which version of trips/ to restore",
        "write FOLDER/@VERSION; 'notes log' shows the versions"
      ),
      (
        ["restore", "Shopping"], 64, "say which version of Shopping to restore",
        "write NOTE@VERSION; 'notes log Shopping' shows the versions"
      ),
      (
        ["restore", "trips/@~0", "--as", "x"], 64, "--as goes with a note, not with a folder",
        "'notes restore --help' shows how to use it"
      ),
    ] as [([String], Int32, String, String)])
  func `Each mistake is told with what to do next, and changes nothing`(
    arguments: [String], status: Int32, message: String, hint: String
  ) throws {
    let before = try run(["git", "rev-parse", "HEAD"], in: shell.folder["notes"]).text
    let result = try run(
      [BuiltBinary.notes()] + arguments, in: shell.folder["notes"],
      environment: shell.environment)
    #expect(result.status == .exited(status))
    #expect(result.output.isEmpty)
    #expect(result.errorText == DailyNotebook.failure(message, hint))
    #expect(try run(["git", "rev-parse", "HEAD"], in: shell.folder["notes"]).text == before)
  }

  @Test(.enabled(if: TestEnvironment.canRunAsNobody, "needs another user"))
  func `A folder that cannot be written stops one command, and not the next`() throws {
    try shell.becomeNobody()
    chmod(shell.folder["notes/trips"], 0o555)
    for result in [
      try shell.notes("new", "trips/Plan"), try shell.notes("mv", "Rome", "./Rome"),
      try shell.notes("rm", "Rome"),
    ] {
      #expect(
        result.errorText
          == DailyNotebook.failure(
            "write trips: permission denied",
            "let your user read and write there, and run the command again"))
    }
    #expect(try shell.notes("mv", "Shopping", "Groceries").isSuccess)
    #expect(try shell.notes("status").text.contains("Everything is saved."))
  }

  // notes-merge(7): "A command that changes such a note here [...] fails before it makes a version".
  @Test(
    .enabled(if: geteuid() == 0), arguments: ["notes/Shopping.txt", "notes/trips", "notes"])
  func `A note that cannot be changed is told, and no version is made`(place: String) throws {
    try shell.folder.write("ham\n", to: "notes/trips/Ham.txt")
    try shell.notes("save")
    try shell.notes("add", "Shopping", "x")
    try shell.notes("mv", "Ham", "trips/Ham 2")
    let before = try run(["git", "rev-parse", "HEAD"], in: shell.folder["notes"]).text
    let files = try run(["sh", "-c", "cat *.txt */*"], in: shell.folder["notes"]).text
    let path = shell.folder[place]
    try #require(try run(["chattr", "+i", path]).isSuccess)
    defer { _ = try? run(["chattr", "-i", path]) }
    let note = place == "notes/trips" ? "Rome" : "Shopping"
    let named = ["notes": ".", "notes/trips": "trips"][place] ?? "Shopping.txt"
    var results = [
      try shell.notes("add", note, "more"), try shell.notes("mv", note, "Other/Name"),
      try shell.notes("rm", note),
    ]
    if place != "notes/Shopping.txt" {
      results.append(try shell.notes("new", place == "notes" ? "New" : "trips/New"))
    }
    if place == "notes/trips" { results.append(try shell.notes("undo")) }
    if place == "notes/Shopping.txt" { results.append(try shell.notes("undo", "2")) }
    for result in results {
      #expect(result.status == .exited(1) && result.output.isEmpty, "\(result)")
      #expect(
        result.errorText
          == DailyNotebook.failure(
            "write \(named): operation not permitted",
            "find out why it cannot be written, with 'ls -ld', 'lsattr' and 'findmnt'"))
    }
    #expect(try run(["git", "rev-parse", "HEAD"], in: shell.folder["notes"]).text == before)
    #expect(try run(["sh", "-c", "cat *.txt */*"], in: shell.folder["notes"]).text == files)
    #expect(try shell.notes("status").text.contains("Everything is saved."))
  }

  // notes-new(1): "a symbolic link, even one that leads nowhere, a pipe, a socket or a device has that name".
  @Test(arguments: ["link", "dangling link", "pipe"])
  func `Nothing is written through a link, or into a pipe`(kind: String) throws {
    let place = shell.folder["notes/There.txt"]
    if kind == "link" { try shell.folder.write("outside\n", to: "target") }
    try #require(
      kind == "pipe" ? mkfifo(place, 0o600) == 0 : symlink("../target", place) == 0)
    let message =
      kind == "pipe"
      ? "There.txt is not a plain file"
      : "There.txt is a symbolic link, which notes does not follow"
    for arguments in [
      ["new", "There"], ["new", "There.txt"], ["new", "there"], ["new", "There", "--edit"],
      ["new", "x", "--template", "There"], ["add", "There", "x"], ["add", "./There.txt", "x"],
      ["mv", "Shopping", "There"], ["mv", "There", "Else"], ["rm", "There"], ["edit", "There"],
      ["restore", "Shopping@~0", "--as", "There"],
    ] {
      let result = try run(
        [BuiltBinary.notes()] + arguments, in: shell.folder["notes"],
        environment: shell.environment.merging(["EDITOR": "false"]) { $1 },
        input: Array("text\n".utf8))
      #expect(result.status == .exited(1), "\(arguments): \(result)")
      #expect(
        result.errorText == DailyNotebook.failure(message, "move it away, or name another note"),
        "\(arguments)")
    }
    #expect(try kind != "link" || shell.folder.text("target") == "outside\n")
    #expect(access(shell.folder["target"], F_OK) == (kind == "link" ? 0 : -1))
    // A versioned note whose place a link has taken.
    unlink(place)
    try shell.folder.write("one\n", to: "notes/There.txt")
    try shell.notes("save")
    unlink(place)
    try #require(
      kind == "pipe" ? mkfifo(place, 0o600) == 0 : symlink("../target", place) == 0)
    let added = try shell.notes("add", "There", "two")
    #expect(added.status == .exited(1) && added.errorText.contains("There.txt"), "\(added)")
    #expect(added.errorText.contains("move There.txt away"), "\(added)")
  }

  // notes-merge(7): "no new file beside or below it is versioned".
  @Test(
    .enabled(if: TestEnvironment.canRunAsNobody, "needs another user"),
    arguments: ["unreadable", "dangling link", "new"])
  func `An ignore file that cannot be read lets nothing out`(kind: String) throws {
    if kind == "unreadable" {
      try shell.folder.write("secret*\n", to: "notes/.gitignore")
      try shell.notes("save")
    }
    try shell.becomeNobody()
    let file = shell.folder["notes/.gitignore"]
    switch kind {
    case "unreadable": chmod(file, 0)
    case "new":
      try shell.folder.write("secret*\n", to: "notes/.gitignore")
      chmod(file, 0)
    default: try #require(symlink("../away/ignore", file) == 0)
    }
    try shell.folder.write("mine\n", to: "notes/secret.txt")
    try shell.folder.write("png\n", to: "notes/secret.png")
    let made = try shell.notes("new", "Other")
    #expect(made.isSuccess == (kind == "unreadable"), "\(made)")
    for result in [
      try shell.notes("save"), try shell.notes("add", "Shopping", "eggs"),
      try shell.notes("undo"),
    ] {
      #expect(result.isSuccess, "\(result)")
    }
    let history = try run(["git", "log", "--all", "--name-only"], in: shell.folder["notes"]).text
    #expect(!history.contains("secret"), "\(history)")
    let status = try shell.notes("status")
    #expect(status.text.contains(".gitignore"), "\(status)")
  }

  @Test(
    .enabled(if: TestEnvironment.canRunAsNobody, "needs another user"),
    arguments: [".git/info/exclude", ".git/info/attributes"])
  func `A file of git's that says what is kept back, and cannot be read, is named`(
    name: String
  ) throws {
    let rule = name.hasSuffix("exclude") ? "secret*\n" : "secret* filter=crypt\n"
    try shell.folder.write(rule, to: "notes/" + name)
    try shell.becomeNobody()
    let file = shell.folder["notes/" + name]
    chmod(file, 0)
    try shell.folder.write("mine\n", to: "notes/secret.txt")
    let saved = try shell.notes("save")
    #expect(saved.status == .exited(1) && saved.errorText.contains(name), "\(saved)")
    #expect(saved.errorText.contains("permission denied"), "\(saved)")
    chmod(file, 0o600)
    #expect(try shell.notes("save").isSuccess)
    #expect(try !run(["git", "ls-files"], in: shell.folder["notes"]).text.contains("secret"))
  }
}
