import Glibc
import TestSupport
import Testing

@testable import Git

/// What is read without libgit2 is what git reads: git-config(1), gitrepository-layout(5).
@Suite struct ConfigurationTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try git("init", "-q", "-b", "main")
  }

  @discardableResult
  private func git(_ words: String...) throws -> String {
    let result = try run(
      ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"] + words, in: folder.path,
      environment: TestEnvironment.isolated(home: folder["home"]))
    return result.isSuccess ? result.text : ""
  }

  @Test(arguments: [
    "[notes]\n\thubs = home office\n[remote \"home\"]\n\turl = git@h:a b.git\n",
    "[Notes]\nHubs=home\n[remote \"home\"]\n  url = /x\n  url = /y\n",
    "# [notes]\n[notes] ; here\nhubs = a ; b\n",
    "[notes]\nhubs = \"a b\" c\n[remote \"home\"]\nurl = a\\\\b\n",
    "[notes] hubs = home\n", "[notes]\nhubs\n", "[notes]\nhubs =\n",
    "[remote \"Home\"]\nurl = /a\n[remote \"home\"]\nurl = /b\r\n",
    "[remote.home]\nurl = /old\n",
    // Quotes: the whole value, a part, none in them, blanks that they keep, an escaped one.
    "[notes]\nhubs = \"home office\"\n", "[notes]\nhubs = a\" b \"c\n", "[notes]\nhubs = \"\"\n",
    "[notes]\nhubs = \" home \"\n", "[notes]\nhubs = \"a \\\"b\\\" c\"\n",
    "[notes]\nhubs = \"a\" \"b\"\n",
    // Comments behind a value, in one that is quoted, and of either sign.
    "[notes]\nhubs = \"a\" # b\n", "[notes]\nhubs = \"a # b ; c\"\n", "[notes]\nhubs = a#b\n",
    "[notes]\n; hubs = a\n\t# hubs = b\nhubs = c\n",
    // Escapes, and lines that go on.
    "[notes]\nhubs = a\\tb\\nc\n", "[notes]\nhubs = a \\\n  b\n", "[notes]\nhubs = \"a \\\n b\"\n",
    "[notes]\n# a comment ends \\\nhubs = here\n",
    // Names of parts.
    "[remote \"ho\\me\"]\nurl = /a\n", "[remote \"home\\\"\"]\nurl = /a\n",
    "[remote\t\"home\"]\nURL=/a\n", "[remote \"home\"]\nurl = https://h/a?b=c\n",
    "[notes]\nhubs = home",
    // Other files that it names.
    "[include]\npath = ../more\n", "[notes]\nhubs = mine\n[include]\n\tpath = ../more\n",
    "[include]\npath = ../more\n[notes]\nhubs = \"mine\" ; too\n",
    "[includeIf \"onbranch:main\"]\npath = ../more\n",
    "[includeIf \"onbranch:other\"]\npath = ../more\n",
  ])
  func `Settings are those that git reads`(text: String) throws {
    let usual = try folder.text(".git/config")
    try folder.write(usual + text, to: ".git/config")
    try folder.write("[notes]\nhubs = of another file\n", to: "more")
    for name in ["notes.hubs", "remote.home.url", "remote.Home.url", "core.bare", "core.none"] {
      let value = try Repository.open(at: folder.path).setting(name)
      let expected = try git("config", "--local", "--includes", name)
      // A name without a value is none for both of us.
      #expect((value ?? "") + "\n" == (expected.isEmpty ? "\n" : expected), "\(name)")
    }
  }

  // git-config(1), "boolean"
  @Test(arguments: [
    "on", "on = true", "on = YES", "on = 1", "on = 0", "on =", "on = off", "on = \"no\"", "",
  ])
  func `A setting means yes where git says so`(line: String) throws {
    try folder.write("[core]\n\tbare = false\n[notes]\n\t\(line)\n", to: ".git/config")
    let expected = try git("config", "--local", "--type=bool", "notes.on")
    let isTrue = try Repository.open(at: folder.path).settings().isTrue("notes.on")
    #expect("\(isTrue)\n" == (expected.isEmpty ? "false\n" : expected))
  }

  @Test func `References are those that git lists, packed or not, and counts are git's`() throws {
    for number in 0..<6 {
      try git("commit", "-q", "--allow-empty", "-m", "\(number)")
      try git("update-ref", "refs/remotes/home/\(number)", "HEAD")
      if number == 2 { try git("branch", "side", "HEAD~1") }
    }
    try git("pack-refs", "--all")
    try git("update-ref", "refs/remotes/home/3", "HEAD~4")
    try git("update-ref", "refs/remotes/home/deep/er", "HEAD")
    try git("symbolic-ref", "refs/remotes/home/HEAD", "refs/remotes/home/1")
    try git("update-ref", "-d", "refs/remotes/home/5")
    try folder.write("junk", to: ".git/refs/remotes/home/6.lock")
    let repository = try Repository.open(at: folder.path)
    for prefix in ["refs/", "refs/remotes/", "refs/remotes/home/", "refs/none/"] {
      let listed = try git(
        "for-each-ref", "--format=%(refname) %(objectname) %(symref)", prefix)
      let expected = listed.split(separator: "\n").filter { $0.hasSuffix(" ") }
        .map { String($0.dropLast()) }
      let found = try repository.references(under: prefix).map { "\($0.name) \($0.id)" }
      #expect(found == expected)
    }
    let id = try #require(try repository.reference("refs/remotes/home/3"))
    let tip = try #require(try repository.head().commit)
    #expect(try repository.reference("refs/remotes/home/HEAD") != nil)
    #expect(try repository.commits(from: [tip], lacking: [id]).count == 4)
    #expect(try repository.commits(from: [tip], lacking: []).count == 6)
    #expect(try repository.commits(from: [id], lacking: [tip]).isEmpty)
    // A log is kept of it, as git keeps one.
    repository.identity = ("Ada", "ada@example.org")
    try repository.set(reference: "refs/remotes/home/3", to: tip, message: "notes: sync")
    #expect(try git("rev-parse", "refs/remotes/home/3") == "\(tip)\n")
    #expect(try git("reflog", "show", "refs/remotes/home/3").contains("notes: sync"))
    #expect(try git("fsck", "--strict").isEmpty)
  }
}
