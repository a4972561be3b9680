import Glibc
import TestSupport
import Testing

@testable import notes

/// notes-export(1) and notes-import(1).
@Suite struct ExportTests {
  let shell: Shell

  init() throws {
    shell = try Shell()
    try shell.initialise()
  }

  private func write(_ text: String, to path: String, at time: Int) throws {
    try shell.folder.write(text, to: path)
    let times = [timespec(tv_sec: time, tv_nsec: 0), timespec(tv_sec: time, tv_nsec: 0)]
    try #require(utimensat(AT_FDCWD, shell.folder[path], times, 0) == 0)
  }

  private func modified(_ path: String) -> Int {
    var status = stat()
    return stat(shell.folder[path], &status) == 0 ? status.st_mtim.tv_sec : 0
  }

  @discardableResult
  private func succeed(
    _ arguments: String..., location: SourceLocation = #_sourceLocation
  ) throws -> String {
    let result = try run(
      [BuiltBinary.notes()] + arguments, in: shell.folder["notes"],
      environment: shell.environment)
    try #require(result.isSuccess, "\(result)", sourceLocation: location)
    return result.text
  }

  private func refuse(
    _ message: String, _ arguments: String..., location: SourceLocation = #_sourceLocation
  ) throws {
    let result = try run(
      [BuiltBinary.notes()] + arguments, in: shell.folder["notes"],
      environment: shell.environment)
    #expect(
      !result.isSuccess && result.errorText.contains(message), "\(result)",
      sourceLocation: location)
  }

  // "In a folder each file has the time when it was last changed."
  @Test func `What comes in keeps its dates, and goes out with them`() throws {
    try write("rome\n", to: "old/Rome.txt", at: 1_500_000_000)
    try write("paris\n", to: "old/trips/Paris.txt", at: 1_600_000_000)
    let trial = try succeed("import", "--dry-run", "../old")
    #expect(trial == "This would import 2 files (11 B), as 2 versions.\n")
    try succeed("import", "../old", "--into", "archive")
    #expect(try shell.folder.text("notes/archive/trips/Paris.txt") == "paris\n")
    let log = try JSONValue.lines(succeed("log", "--json"))
    let dates = log.prefix(2).map { $0["time"] }
    #expect(dates == ["2020-09-13T12:26:40Z", "2017-07-14T02:40:00Z"])
    try succeed("export", "../out")
    #expect(modified("out/archive/Rome.txt") == 1_500_000_000)
    #expect(modified("out/archive/trips/Paris.txt") == 1_600_000_000)
    // As it was between the two.
    try succeed("export", "--at", "2018-01-01", "../then")
    #expect(try run(["ls", "-R", shell.folder["then"]]).text.contains("Rome.txt"))
    #expect(access(shell.folder["then/archive/trips"], F_OK) != 0)
    // "notes-undo(1) undoes an import as one."
    try succeed("import", "../old", "--into", "again")
    try succeed("undo")
    #expect(access(shell.folder["notes/again"], F_OK) != 0)
    #expect(access(shell.folder["notes/archive/Rome.txt"], F_OK) == 0)
  }

  // "Nothing here is overwritten."
  @Test func `What is here stays, and the other file is named`() throws {
    try shell.folder.write("here\n", to: "notes/A.txt")
    try shell.folder.write("same\n", to: "notes/B.txt")
    try shell.folder.write("*.log\n", to: "notes/.gitignore")
    try shell.folder.write("there\n", to: "old/a.txt")
    try shell.folder.write("same\n", to: "old/B.txt")
    try shell.folder.write("hidden\n", to: "old/.c.txt")
    try shell.folder.write("log\n", to: "old/x.log")
    try #require(symlink("B.txt", shell.folder["old/link.txt"]) == 0)
    let text = try succeed("import", "../old")
    #expect(
      text == """
        Nothing came in.
        1 file is already here with the same content.
        1 file is excluded by .gitignore.
          not imported  a.txt: another file here has that name

        Not versioned
          link.txt  a symbolic link

        """)
    #expect(try shell.folder.text("notes/A.txt") == "here\n")
    #expect(try shell.folder.text("old/a.txt") == "there\n")
    #expect(access(shell.folder["notes/.c.txt"], F_OK) != 0)
  }

  // "a file that is not plain, is too large, or has more or fewer bytes than its size says"
  @Test func `Files without an end are named, and not read`() throws {
    try shell.folder.write("note\n", to: "old/n.txt")
    try #require(mkfifo(shell.folder["old/pipe"], 0o600) == 0)
    try shell.folder.write("", to: "old/large")
    try #require(truncate(shell.folder["old/large"], 1 << 40) == 0)
    let text = try succeed("import", "../old")
    #expect(text.hasPrefix("Imported 1 file"))
    #expect(text.contains("pipe") && text.contains("not a plain file"))
    #expect(text.contains("large  too large (1.0 TB)"), "\(text)")
    try refuse("there is no folder ../old/pipe", "import", "../old/pipe")
    // pagemap has no size, and as many bytes as the process could have memory.
    let process = try succeed("import", "--json", "/proc/self")
    #expect(process.contains(#"{"path":"pagemap","reason":"special_file""#), "\(process)")
    #expect(try succeed("list").contains("n"))
    #expect(
      try !run(["git", "cat-file", "-e", "HEAD:pagemap"], in: shell.folder["notes"]).isSuccess)
  }

  // "nor what the .gitignore and .gitattributes files in DIR keep back"
  @Test(arguments: [false, true])
  func `What the other folder keeps back stays there`(isRepository: Bool) throws {
    if isRepository {
      try #require(try run(["git", "init", "-q", shell.folder["old"]]).isSuccess)
      try shell.folder.write("own*\n", to: "old/.git/info/exclude")
      try shell.folder.write("crypt*.md filter=crypt\n", to: "old/.git/info/attributes")
    } else {
      try shell.folder.write("crypt* filter=crypt\n", to: "old/.gitattributes")
    }
    try shell.folder.write(isRepository ? "secret*\n" : "secret*\nown*\n", to: "old/.gitignore")
    try shell.folder.write("inner*\n", to: "old/sub/.gitignore")
    for name in ["secret.txt", "own.txt", "crypt.md", "sub/secret.md", "sub/inner.txt", "n.txt"] {
      try shell.folder.write("\(name)\n", to: "old/" + name)
    }
    let text = try succeed("import", "../old", "--into", "archive")
    #expect(text.contains("4 files are excluded by .gitignore."), "\(text)")
    #expect(text.contains("crypt.md  git converts it with the filter crypt"), "\(text)")
    let history = try run(["git", "log", "--all", "--name-only"], in: shell.folder["notes"]).text
    #expect(history.contains("archive/n.txt"))
    for name in ["secret", "own.txt", "crypt.md", "inner"] { #expect(!history.contains(name)) }
  }

  // "Files that look like keys or credentials are asked about as in notes-init(1)."
  @Test func `Keys are not taken without a word`() throws {
    try shell.folder.write("key\n", to: "old/id_rsa")
    try shell.folder.write("note\n", to: "old/n.txt")
    try refuse("id_rsa looks like a key or a credential", "import", "../old")
    #expect(access(shell.folder["notes/n.txt"], F_OK) != 0)
    let key = try run(["git", "hash-object", shell.folder["old/id_rsa"]]).lines[0]
    let stored = try run(["git", "cat-file", "-e", key], in: shell.folder["notes"])
    #expect(!stored.isSuccess, "the key is in .git all the same")
    try succeed("import", "../old", "--include")
    #expect(access(shell.folder["notes/id_rsa"], F_OK) == 0)
  }

  // "Files of one second are one version; where that would be more than 500 versions, those of one day".
  @Test func `Many files are not as many versions`() throws {
    for number in 0..<600 {
      try write("\(number)\n", to: "old/\(number).txt", at: 1_600_000_000 + number * 7_200)
    }
    #expect(try succeed("import", "../old", "--json").contains("\"versions\":51,"))
    #expect(try succeed("list").split(separator: "\n").count == 600)
    #expect(try run(["git", "fsck", "--strict"], in: shell.folder["notes"]).isSuccess)
  }

  // "All files have the same bytes as in the version, whatever a .gitattributes file says."
  @Test(arguments: [
    ("zip", ["unzip", "-q"]), ("tar", ["tar", "xf"]), ("tar.gz", ["tar", "xzf"]),
  ])
  func `An archive has every file as it is`(suffix: String, unpack: [String]) throws {
    try shell.folder.write(
      "* export-ignore\n*.txt export-subst\n", to: "notes/.gitattributes")
    try shell.folder.write("$Format:%H$ $Id$\nü\n", to: "notes/trips/Rome ü.txt")
    try shell.folder.write("b\n", to: "notes/B.txt")
    try succeed("export", "../all.\(suffix)")
    #expect(try run(unpack + ["all.\(suffix)"], in: shell.folder.path).isSuccess)
    #expect(try shell.folder.text("all/trips/Rome ü.txt") == "$Format:%H$ $Id$\nü\n")
    #expect(try shell.folder.text("all/B.txt") == "b\n")
    try succeed("export", "../some.\(suffix)", "Rome")
    #expect(try run(unpack + ["some.\(suffix)"], in: shell.folder.path).isSuccess)
    #expect(try run(["ls", shell.folder["some"]]).text == "trips\n")
    try refuse("already exists", "export", "../some.\(suffix)")
  }

  // "Nothing is overwritten, and an export that fails or is interrupted leaves nothing."
  @Test func `What cannot be done leaves nothing`() throws {
    try shell.folder.write("a\n", to: "notes/A.txt")
    try shell.folder.write("other\n", to: "full/x")
    try refuse("../full already exists", "export", "../full")
    try refuse("is in the notebook, so it would be versioned", "export", "out.zip")
    try refuse("there is no note 'B'", "export", "../b", "B")
    try refuse("and the notebook's folder is inside the other", "import", ".")
    try refuse("and the notebook's folder is inside the other", "import", "..")
    try refuse("and the notebook's folder is inside the other", "import", "/")
    try refuse("there is no folder ../nowhere", "import", "../nowhere")
    try refuse("there is no version", "export", "../c.tar", "--at", "2000-01-01")
    let path = shell.folder["empty"]
    try makeFolder(path)
    let result = try run(
      [BuiltBinary.notes(), "export", "../d.zip"], in: shell.folder["notes"],
      environment: shell.environment.merging(["PATH": path]) { $1 })
    #expect(result.status == .exited(1) && result.errorText.contains("apt install git"))
    for name in ["b", "c.tar", "d.zip"] { #expect(access(shell.folder[name], F_OK) != 0) }
  }
}
