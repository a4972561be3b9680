import Glibc
import TestSupport
import Testing

/// Nobody shares by accident: notes-init(1), notes-join(1), notes-save(1).
@Suite struct AccidentTests {
  private let shell: Shell

  init() throws { shell = try Shell() }

  private func expectRefusal(_ result: ProcessResult, _ words: String..., hint: String) {
    #expect(result.status == .exited(1) || result.status == .exited(64), "\(result)")
    for words in words { #expect(result.errorText.contains(words), "\(result)") }
    #expect(result.errorText.contains(hint), "\(result)")
  }

  private func versioned() throws -> [String] {
    try run(["git", "-C", shell.folder["notes"], "ls-tree", "-r", "--name-only", "HEAD"]).lines
  }

  // "The home folder, /, and a folder that holds this program's key, settings or state are refused."
  @Test func `The home folder, the whole system and what holds the key are refused`() throws {
    expectRefusal(
      try shell.notes("init", in: "home"), "is the home folder", hint: "notes init ~/notes")
    expectRefusal(
      try shell.notes("init", "/", in: "home"), "is the whole system", hint: "notes init ~/notes")
    expectRefusal(
      try shell.notes("init", in: "."), "contains this program's own files",
      hint: "notes init ~/notes")
    let data = shell.folder["home/.local/share"]
    expectRefusal(
      try shell.notes("init", data, "--json", in: "."), #""kind":"unfit_folder""#,
      hint: "notes init ~/notes")
    expectRefusal(
      try shell.notes(
        "join", "--code-file", "-", "home", "--yes", in: ".", input: "42-7KQM-X3TDAB\n"),
      "is the home folder", hint: "notes init ~/notes")
    for place in ["home", ".", "home/.local/share"] {
      #expect(access(shell.folder[place] + "/.git", F_OK) != 0)
    }
  }

  // "So is a folder inside another notebook; the command names a folder beside that one."
  @Test func `A notebook inside another one is refused, and joined beside it`() throws {
    try shell.initialise()
    try makeFolder(shell.folder["notes/Work"])
    expectRefusal(
      try shell.notes("init", in: "notes/Work"), "is inside the notebook \(shell.folder["notes"])",
      hint: "mv \(shell.folder["notes/Work"]) \(shell.folder["Work"])")
    expectRefusal(
      try shell.notes("init", "new/deeper"), "is inside the notebook",
      hint: "choose a folder beside that notebook: \(shell.folder["deeper"])")
    #expect(access(shell.folder["notes/new"], F_OK) != 0)
    let ada = try Shell()
    try ada.notes("init", "--name", "Work", "--device-name", "ada")
    try ada.folder.write("ada's\n", to: "notes/ada.txt")
    let (process, code, port) = try ada.invite()
    let words = ["join", "--code-file", "-", "--yes", "--json", "--at", "127.0.0.1:\(port)"]
    func join(_ more: String...) throws -> ProcessResult {
      try run(
        [BuiltBinary.notes()] + words + more, in: shell.folder["notes/Work"],
        environment: shell.environment, input: Array("\(code)\n".utf8))
    }
    expectRefusal(try join("here"), "is inside the notebook", hint: "beside that notebook")
    let joined = try join()
    try #require(joined.isSuccess, "\(joined)")
    try process.wait()
    #expect(
      try Shell.field("path", of: try #require(joined.lines.last)) == shell.folder["Work"])
  }

  @Test func `Hidden files are versioned if a setting says so, or if they are already`() throws {
    for (name, text) in [
      (".env", "PASSWORD=x"), (".ssh/config", "x"), ("a/.hidden/n.txt", "x"), ("a.txt", "a"),
      (".gitignore", "*.log"), ("a/.keep", ""), ("b.log", "x"),
    ] { try shell.folder.write(text, to: "notes/" + name) }
    try shell.initialise()
    #expect(try versioned() == [".gitignore", "a.txt", "a/.keep"])
    #expect(try !shell.notes("new", ".secret").isSuccess)
    let status = try shell.notes("status").text
    #expect(status.contains("Everything is saved") && !status.contains("ignore rules"), "\(status)")
    let git = ["git", "-C", shell.folder["notes"], "-c", "user.name=x", "-c", "user.email=x"]
    _ = try run(git + ["add", ".env"])
    _ = try run(git + ["commit", "-qm", "by hand"])
    try shell.folder.write("changed", to: "notes/.env")
    #expect(try shell.notes("save").text.contains("changed  .env"))
    expectRefusal(
      try shell.notes("config", "hidden-files", "maybe"), "neither true nor false", hint: "true")
    #expect(try shell.notes("config", "hidden-files", "true").isSuccess)
    #expect(try shell.notes("save").isSuccess)
    #expect(
      try versioned() == [
        ".env", ".gitignore", ".ssh/config", "a.txt", "a/.hidden/n.txt", "a/.keep",
      ])
  }

  @Test func `A git repository keeps its history, and all of its files are counted`() throws {
    try shell.folder.write("one\n", to: "notes/one.txt")
    let git = ["git", "-C", shell.folder["notes"], "-c", "user.name=P", "-c", "user.email=p@e.org"]
    for words in [["init", "-qb", "main"], ["add", "."], ["commit", "-qm", "by hand"]] {
      try #require(run(git + words).isSuccess)
    }
    try shell.folder.write("two\n", to: "notes/two.txt")
    try shell.folder.write("\u{0}", to: "notes/photo.png")
    let made = try shell.notes("init", "--yes")
    #expect(
      made.text.contains(
        "The notebook contains 2 notes and 1 attachment (9 B), and the history of the git repository.\n"
      ),
      "\(made)")
  }

  @Test func `A link and a repository are told once, not after every save`() throws {
    try shell.initialise()
    try shell.folder.write("x", to: "notes/inner/.git/HEAD")
    try #require(symlink("elsewhere", shell.folder["notes/link.txt"]) == 0)
    for (number, remark) in [
      "2 files are not versioned; 'notes status' shows why\n", "",
    ].enumerated() {
      try shell.folder.write("\(number)", to: "notes/a.txt")
      #expect(try shell.notes("save").text.hasSuffix("a.txt\n" + remark))
    }
    #expect(try shell.notes("status").text.contains("link.txt"))
    try #require(symlink("elsewhere", shell.folder["notes/other.txt"]) == 0)
    try shell.folder.write("more", to: "notes/a.txt")
    #expect(
      try shell.notes("save").text.hasSuffix("1 file is not versioned; 'notes status' shows why\n"))
  }

  @Test(
    arguments: [
      ([0xFF, 0xFE, 0x68, 0, 0x69, 0], "UTF-16"), ([0x68, 0, 0x69, 0], "UTF-16"),
      ([0x62, 0xFC, 0x72, 0x6F], "Latin-1"), ([0x68, 0xC3, 0xBC], nil),
      ([0x68, 0, 1, 2, 3, 4], nil),
    ] as [([UInt8], String?)])
  func `A text in another encoding is told as such`(bytes: [UInt8], encoding: String?) throws {
    try shell.initialise()
    try writeFile(shell.folder["notes/a.txt"], bytes)
    let saved = try shell.notes("save").text
    #expect(
      saved.contains("a.txt is in \(encoding ?? ""), not in UTF-8") == (encoding != nil), "\(saved)"
    )
  }

  // notes-init(1): "Ctrl-C leaves the folder as it was."
  @Test func `An interrupted init leaves nothing`() throws {
    for number in 0..<900 { try shell.folder.write("\(number)", to: "notes/\(number).txt") }
    let process = try shell.start("init")
    while access(shell.folder["notes/.git"], F_OK) != 0, process.isRunning { sched_yield() }
    process.send(SIGINT)
    let ended = try process.wait()
    // It may have been done by then.
    if ended.status != .exited(0) {
      #expect(ended.status == .exited(130), "\(ended)")
      #expect(access(shell.folder["notes/.git"], F_OK) != 0)
    }
  }

  // "Files that look like keys or credentials … are named and asked about."
  @Test func `Keys and credentials are named, and taken with --include alone`() throws {
    let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU\n"
    try shell.folder.write(key, to: "notes/work/deploy")
    try shell.folder.write("x", to: "notes/id_ed25519")
    try shell.folder.write(key, to: "notes/about keys.txt")
    for words in [[], ["--yes"]] as [[String]] {
      let refused = try run(
        [BuiltBinary.notes(), "init"] + words, in: shell.folder["notes"],
        environment: shell.environment)
      expectRefusal(
        refused, "id_ed25519 and work/deploy look like keys or credentials", hint: "--include")
      #expect(access(shell.folder["notes/.git"], F_OK) != 0)
    }
    #expect(try shell.notes("init", "--json").errorText.contains(#""kind":"secret_files""#))
    #expect(try shell.notes("init", "--include").isSuccess)
    #expect(try versioned().count == 3)
  }

  // "It says what it would take, in one line, and asks before it takes more than 1,000 files or 100 MB".
  @Test func `More than a thousand files are asked about`() throws {
    for number in 0..<1_000 { try shell.folder.write("\(number)", to: "notes/\(number).txt") }
    try shell.folder.write("x", to: "notes/image.png")
    expectRefusal(
      try shell.notes("init"),
      "taking 1,000 notes and 1 other file (2.8 KB) in \(shell.folder["notes"])",
      hint: "add --yes to confirm")
    #expect(access(shell.folder["notes/.git"], F_OK) != 0)
    #expect(try shell.notes("init", "--yes").isSuccess)
  }

  @Test func `What a git repository has not committed is asked about, with its branch`() throws {
    let git = ["git", "-C", shell.folder["notes"], "-c", "user.name=x", "-c", "user.email=x"]
    _ = try run(git + ["init", "-q", "-b", "work"])
    for name in ["a.txt", "b.txt", "c.txt"] { try shell.folder.write(name, to: "notes/" + name) }
    _ = try run(git + ["add", "."])
    _ = try run(git + ["commit", "-qm", "first"])
    try shell.folder.write("staged", to: "notes/staged.txt")
    _ = try run(git + ["add", "staged.txt"])
    try shell.folder.write("dirty", to: "notes/a.txt")
    try shell.folder.write("untracked", to: "notes/untracked.md")
    unlink(shell.folder["notes/b.txt"])
    let before = try run(git + ["status", "--porcelain"]).text
    expectRefusal(
      try shell.notes("init"), "taking 3 notes (20 B), and deletes 1 file,",
      "on branch work of the git repository", hint: "--yes")
    #expect(try run(git + ["status", "--porcelain"]).text == before)
    #expect(access(shell.folder["notes/.git/notes"], F_OK) != 0)
    let screen = try shell.screen(notes: ["init"])
    try screen.wait(for: "Continue?")
    try screen.press("y", "Enter")
    try screen.wait(for: "left with 0")
    #expect(try versioned() == ["a.txt", "c.txt", "staged.txt", "untracked.md"])
    // Where nothing is left to take nothing is asked.
    _ = try run(["rm", "-rf", shell.folder["notes/.git/notes"]])
    #expect(try shell.notes("init").isSuccess)
  }

  // notes-merge(7): "nothing reads a folder that is becoming a notebook".
  @Test func `A watcher takes nothing of what becomes a notebook in its folder`() throws {
    try shell.initialise()
    let watch = try shell.listening("watch").process
    let making = """
      for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
        mkdir -p Work/.git.new/refs; echo 'ref: refs/heads/main' >Work/.git.new/HEAD
        echo theirs >Work/theirs.txt; mkdir Work/deeper; echo theirs >Work/deeper/theirs.txt
        mv Work/.git.new Work/.git; echo more >Work/more.txt; mv Work ../away$n
      done
      echo mine >last.txt
      """
    #expect(try run(["sh", "-c", making], in: shell.folder["notes"]).isSuccess)
    _ = try watch.line { $0.contains(#""type":"version""#) && $0.contains("last.txt") }
    watch.send(15)
    try watch.wait()
    let log = try run(["git", "-C", shell.folder["notes"], "log", "--all", "--name-only"]).text
    #expect(log.contains("last.txt") && !log.contains("Work"), "\(log)")
  }
}
