import Glibc
import TestSupport
import Testing

@Suite struct CommandTests {
  @Test func `The version is told without a notebook`() throws {
    let result = try Shell().notes("--version")
    #expect(result.text.hasPrefix("notes ") && result.isSuccess)
  }

  // notes(1), "EXIT STATUS": 2, not in a notebook.
  @Test(arguments: ["status", "list", "log", "diff", "save", "conflicts"])
  func `Outside a notebook the exit status is 2`(name: String) throws {
    let result = try Shell().notes(name)
    #expect(result.status == .exited(2))
    #expect(result.output.isEmpty)
    #expect(
      result.errorText == """
        notes: error: this folder is not in a notebook
        notes: hint: 'notes init' makes this folder a notebook; 'notes join CODE' gets one from \
        another device

        """)
  }

  @Test func `With json the failure is an object, the last line of standard error`() throws {
    let result = try Shell().notes("status", "--json")
    #expect(result.output.isEmpty)
    let last = try #require(result.errorText.split(separator: "\n").last)
    #expect(last.hasPrefix(#"{"type":"error","code":2,"kind":"not_a_notebook","message":"#))
  }

  @Test(
    arguments: [
      (["stauts"], "there is no command 'stauts'", "did you mean 'status'?"),
      (["xyzzy"], "there is no command 'xyzzy'", "'notes help --all' lists the commands"),
      (["help", "stauts"], "there is no command 'stauts'", "did you mean 'status'?"),
      (["status", "--jsn"], "unknown option '--jsn'", "did you mean '--json'?"),
      (
        ["show"], "missing expected argument '<note[@version]>'",
        "'notes show --help' shows how to use it"
      ),
      (
        ["log", "-n", "0"], "-n takes a number from 1 on", "'notes log --help' shows how to use it"
      ),
      (
        ["init", "--name", "a/b"], "a name cannot contain the character U+002F",
        "choose another name, such as Home or Ben's laptop"
      ),
    ] as [([String], String, String)])
  func `A wrong command line exits with 64 and a hint`(
    arguments: [String], message: String, hint: String
  ) throws {
    let shell = try Shell()
    let result = try run(
      [BuiltBinary.notes()] + arguments, in: shell.folder["notes"],
      environment: shell.environment)
    #expect(result.status == .exited(64))
    #expect(result.errorText == "notes: error: \(message)\nnotes: hint: \(hint)\n")
  }

  @Test func `A mistyped title is met with those it may mean`() throws {
    let shell = try Shell()
    try shell.folder.write("milk\n", to: "notes/Shopping.txt")
    try shell.initialise()
    #expect(
      try shell.notes("show", "Shoping").errorText == """
        notes: error: there is no note 'Shoping'
        notes: hint: did you mean 'Shopping'?

        """)
    #expect(
      try shell.notes("log", "Elsewhere").errorText.hasSuffix(
        "notes: hint: 'notes list' shows the notes\n"))
  }

  @Test func `A notebook is made, changed, looked at and restored`() throws {
    let shell = try Shell()
    try shell.folder.write("milk\n", to: "notes/Shopping.txt")
    try shell.folder.write("# Soup\n", to: "notes/recipes/Soup.md")
    try shell.initialise()
    #expect(try shell.notes("status").text.contains("Everything is saved."))

    try shell.folder.write("milk\neggs\n", to: "notes/Shopping.txt")
    #expect(
      try shell.notes("diff").text == """
        Shopping.txt  changed  +1
          milk
        + eggs

        """)
    let diff = try shell.notes("diff", "--unified")
    #expect(
      diff.text == """
        diff --git a/Shopping.txt b/Shopping.txt
        --- a/Shopping.txt
        +++ b/Shopping.txt
        @@ -1,1 +1,2 @@
         milk
        +eggs

        """)
    #expect(
      try shell.notes("status", "--json").text.contains(
        #""changes":[{"path":"Shopping.txt","kind":"modified"}]"#))
    #expect(try shell.notes("save", "-m", "Eggs").text.hasPrefix("Saved version "))
    #expect(try shell.notes("save").text == "Nothing has changed since the last version.\n")
    #expect(try shell.notes("log", "shopping").text.contains("Eggs\n"))
    #expect(try shell.notes("show", "Shopping@~1").text == "milk\n")
    #expect(try shell.notes("show", "Soup", in: "notes/recipes").text == "# Soup\n")
    #expect(try shell.notes("restore", "Shopping@~1").isSuccess)
    #expect(try shell.folder.text("notes/Shopping.txt") == "milk\n")
    #expect(try shell.notes("restore", "Shopping@~1", "--as", "Long list").isSuccess)
    #expect(try shell.folder.text("notes/Long list.txt") == "milk\neggs\n")
    #expect(try run(["git", "fsck", "--strict"], in: shell.folder["notes"]).isSuccess)
  }

  @Test func `A unified diff is one that patch and git understand`() throws {
    let shell = try Shell()
    let tricky = "notes/caf\u{E9} \"quoted\".txt"
    try shell.folder.write("one\ntwo", to: tricky)
    try shell.folder.write("gone\n", to: "notes/Gone.txt")
    try shell.folder.write("a\nb\n", to: "notes/A name with spaces.txt")
    try shell.folder.write("it moves\nall of it\n", to: "notes/Old name.txt")
    try shell.initialise()
    try shell.folder.write("one\nTWO\nthree\n", to: tricky)
    try shell.folder.write("new\n", to: "notes/sub/New.txt")
    try #require(unlink(shell.folder["notes/Gone.txt"]) == 0)
    try shell.folder.write("a\nb\nc\n", to: "notes/A name with spaces.txt")
    try #require(unlink(shell.folder["notes/Old name.txt"]) == 0)
    try shell.folder.write("it moves\nall of it\n", to: "notes/New name.txt")
    let diff = try shell.notes("diff", "--unified")
    try #require(diff.isSuccess)
    try #require(try shell.notes("save").isSuccess)
    let between = try shell.notes("diff", "-u", "~1..~0")
    for (tool, patch) in [
      (["git", "apply"], diff), (["patch", "-p1", "-s"], diff), (["patch", "-p1", "-s"], between),
      (["git", "apply"], between),
    ] {
      removeTree(shell.folder["copy"])
      let copy = try run(["git", "clone", "-q", "notes", "copy"], in: shell.folder.path)
      try #require(copy.isSuccess, "\(copy)")
      let back = try run(["git", "-C", "copy", "checkout", "-q", "HEAD~1"], in: shell.folder.path)
      try #require(back.isSuccess, "\(back)")
      let applied = try run(tool, in: shell.folder["copy"], input: patch.output)
      #expect(applied.isSuccess, "\(applied)")
      let same = try run(["diff", "-r", "-x", ".git", "notes", "copy"], in: shell.folder.path)
      #expect(same.isSuccess, "\(same)")
    }
  }

  @Test func `-C stands before the command or after it, and adds up`() throws {
    let shell = try Shell()
    try shell.folder.write("x\n", to: "notes/sub/A.txt")
    try shell.initialise()
    for arguments in [
      ["-C", "notes", "status"], ["status", "-C", "notes"], ["-C", "notes", "-C", "sub", "status"],
      ["-C", "notes", "status", "-C", "sub"], ["-C", "", "-C", "notes", "list"],
    ] {
      let result = try run(
        [BuiltBinary.notes()] + arguments, in: shell.folder.path, environment: shell.environment)
      #expect(result.isSuccess, "\(result)")
    }
    let result = try shell.notes("-C", "nowhere", "status")
    #expect(result.status == .exited(1))
    #expect(result.errorText.contains("cannot enter the folder nowhere"))
  }

  @Test func `Without a terminal there is no colour and no pager, and colour can be forced`() throws
  {
    let shell = try Shell()
    try shell.folder.write("x\n", to: "notes/A.txt")
    try shell.initialise()
    shell.environment["PAGER"] = "false"
    #expect(try !shell.notes("log").text.contains("\u{1B}"))
    shell.environment["CLICOLOR_FORCE"] = "1"
    #expect(try shell.notes("log").text.contains("\u{1B}[33m"))
  }

  @Test func `On a terminal long output goes through the pager`() throws {
    let shell = try Shell()
    try shell.folder.write("x\u{1B}[31m\n", to: "notes/A.txt")
    try shell.initialise()
    shell.environment["TERM"] = "xterm"
    shell.environment["NOTES_PAGER"] = "sed s/^/paged:/"
    let command = try "\(BuiltBinary.notes()) show A"
    let paged = try run(
      ["script", "-qec", command, "/dev/null"], in: shell.folder["notes"],
      environment: shell.environment)
    #expect(paged.text == "paged:x^[[31m\r\n")
    let plain = try run(
      ["script", "-qec", command + " --no-pager", "/dev/null"], in: shell.folder["notes"],
      environment: shell.environment)
    #expect(plain.text == "x^[[31m\r\n")
  }

  @Test func `A reader that goes away is no failure and a full disk is one`() throws {
    let shell = try Shell()
    for number in 1...400 {
      try shell.folder.write(
        "\(number)\n", to: "notes/\(number) \(String(repeating: "x", count: 200)).txt")
    }
    try shell.initialise()
    let command = try
      "\(BuiltBinary.notes()) list | head -n 1; \(BuiltBinary.notes()) list > /dev/full"
    let result = try run(
      ["sh", "-c", command], in: shell.folder["notes"], environment: shell.environment)
    #expect(result.status == .exited(1))
    #expect(
      result.errorText == """
        notes: error: the output cannot be written: no space left on device
        notes: hint: free disk space, then run the command again

        """)
  }

  @Test func `Without a home folder the message says what to set`() throws {
    let shell = try Shell()
    for name in ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"] { shell.environment[name] = nil }
    let result = try shell.notes("init")
    #expect(result.status == .exited(1))
    #expect(result.errorText.contains("HOME is not set"))
    #expect(access(shell.folder["notes/.git"], F_OK) != 0)
  }
}
