import Git
import Glibc
import NotebookSupport
import TestSupport
import Testing

@testable import Notebook
@testable import WorkTree

/// notes-merge(7), "Files that git converts".
@Suite("Files that git converts between the folder and a version")
struct ConversionTests {
  private let home: Fixture
  private let plain = "the password is swordfish\n"

  init() throws {
    home = try Fixture()
    try home.write("first.txt", "first\n")
    _ = try home.notebook.save()
  }

  private func configureFilter(in fixture: Fixture) throws {
    for (name, value) in [("clean", "tr a-z n-za-m"), ("smudge", "tr a-z n-za-m")] {
      _ = try fixture.git(["config", "filter.crypt.\(name)", value])
    }
  }

  private func isInHistory(_ text: String, of fixture: Fixture) throws -> Bool {
    let id = try fixture.notebook.repository.hash(blob: Array(text.utf8))
    return try fixture.notebook.repository.contains(id)
  }

  private func conversions(_ skipped: [SkippedFile]) -> [TreePath: Conversion] {
    Dictionary(
      uniqueKeysWithValues: skipped.compactMap { file in
        if case .converted(let conversion) = file.reason { (file.path, conversion) } else { nil }
      })
  }

  /// Where attributes can be written.
  enum Source: CaseIterable {
    case top, folder, macro, information, configured, relative, included, conditional

    func write(in fixture: Fixture) throws {
      switch self {
      case .top: try fixture.write(".gitattributes", "*.secret.md filter=crypt diff=crypt\n")
      case .folder: try fixture.write("deep/.gitattributes", "*.secret.md filter=crypt\n")
      case .macro:
        try fixture.write(".gitattributes", "[attr]hidden filter=crypt -diff\n*.secret.md hidden\n")
      case .information: try fixture.write(".git/info/attributes", "*.secret.md filter=crypt\n")
      case .configured:
        let file = fixture.path + "-attributes"
        try writeFile(file, Array("*.secret.md filter=crypt\n".utf8))
        _ = try fixture.git(["config", "core.attributesFile", file])
      case .relative:
        try fixture.write("attributes.cfg", "*.secret.md filter=crypt\n")
        _ = try fixture.git(["config", "core.attributesFile", "attributes.cfg"])
      case .included:
        try fixture.write(".git/more", "[core]\n\tattributesFile = attributes.cfg ; here\n")
        try fixture.write("attributes.cfg", "*.secret.md filter=crypt\n")
        _ = try fixture.git(["config", "include.path", "more"])
      case .conditional:
        try fixture.write(".git/more", "[core]\n\tattributesFile = attributes.cfg\n")
        try fixture.write("attributes.cfg", "*.secret.md filter=crypt\n")
        _ = try fixture.git(["config", "includeIf.onbranch:**.path", "more"])
      }
    }
  }

  @Test(
    "a filter's file is in no version and is named, wherever the attribute is",
    arguments: Source.allCases, [true, false])
  func filter(source: Source, isConfigured: Bool) throws {
    defer { unlink(home.path + "-attributes") }
    if isConfigured { try configureFilter(in: home) }
    try source.write(in: home)
    try home.write("deep/bank.secret.md", plain)
    try home.write("deep/open.md", "open\n")
    for scope in [SaveScope.only(["deep/bank.secret.md"]), .only(["deep"]), .everything] {
      let saved = try #require(try home.notebook.autosave(scope))
      #expect(conversions(saved.skipped) == ["deep/bank.secret.md": .filter("crypt")])
    }
    #expect(try !isInHistory(plain, of: home))
    #expect(try home.git(["ls-files", "deep/open.md"]) == "deep/open.md\n")
    #expect(
      conversions(try home.notebook.status().skipped) == ["deep/bank.secret.md": .filter("crypt")])
    #expect(try home.notebook.status().changes.isEmpty)
    // No command brings it in, either.
    #expect(throws: NotebookError.self) {
      try home.notebook.create("deep/new.secret.md", text: Array(plain.utf8))
    }
    #expect(throws: NotebookError.self) {
      try home.notebook.rename("deep/open.md", to: "deep/open.secret.md")
    }
    let outside = try TemporaryFolder()
    try writeFile(outside.path + "/x.secret.md", Array(plain.utf8))
    let imported = try home.notebook.importFiles(from: outside.path, into: "deep")
    #expect(conversions(imported.skipped) == ["x.secret.md": .filter("crypt")])
    #expect(try !isInHistory(plain, of: home))
  }

  @Test("a versioned file is left as git stored it, and named though nobody touched it")
  func versioned() throws {
    try configureFilter(in: home)
    try home.write(".gitattributes", "*.secret.md filter=crypt\n")
    try home.write("bank.secret.md", plain)
    _ = try home.git(["add", "-A"])
    _ = try home.git(["commit", "-qm", "encrypted"])
    let stored = try home.git(["show", "HEAD:bank.secret.md"])
    #expect(stored == "gur cnffjbeq vf fjbeqsvfu\n")
    let saved = try home.notebook.save()
    #expect(conversions(saved.skipped) == ["bank.secret.md": .filter("crypt")])
    try home.write("bank.secret.md", plain + "the pin is 4711\n")
    _ = try home.notebook.save()
    unlink(home.path + "/.git/index")
    _ = try home.notebook.save()
    #expect(try home.git(["show", "HEAD:bank.secret.md"]) == stored)
    #expect(try !isInHistory(plain + "the pin is 4711\n", of: home))
    do {
      _ = try home.notebook.append(Array("x\n".utf8), to: "bank.secret.md")
      Issue.record("it was appended")
    } catch NotebookError.converted("bank.secret.md", by: .filter("crypt")) {}
  }

  @Test("what comes of such a file waits: nothing is written over the text in the folder")
  func incoming() throws {
    try home.write("bank.secret.md", "gur cva\n")
    _ = try home.notebook.save()
    let bob = try home.clone(device: "Bob")
    try configureFilter(in: bob)
    try bob.write(".git/info/attributes", "*.secret.md filter=crypt\n")
    try home.write("bank.secret.md", "gur cva vf 4711\n")
    try home.write("other.txt", "other\n")
    _ = try home.notebook.save()
    try bob.write("bank.secret.md", "my own plain text\n")
    _ = try bob.notebook.save()
    try bob.receive(from: home)
    #expect(try bob.read("bank.secret.md") == "my own plain text\n")
    #expect(try bob.read("other.txt") == "other\n")
    #expect(try !isInHistory("my own plain text\n", of: bob))
    let obstacle = Obstacle(path: "bank.secret.md", kind: .converted)
    #expect(
      try bob.notebook.workTree.absentFiles()
        == [SkippedFile(path: "bank.secret.md", reason: .obstructed(by: obstacle))])
    #expect(try bob.git(["show", "HEAD:bank.secret.md"]) == "gur cva vf 4711\n")
    _ = try bob.git(["checkout", "-q", "--ignore-skip-worktree-bits", "bank.secret.md"])
    #expect(try bob.read("bank.secret.md") == "the pin is 4711\n")
    #expect(try bob.notebook.save().version == nil)
  }

  @Test("another writer's attributes keep no note back, unless their filter is configured here")
  func fromElsewhere() throws {
    let bob = try home.clone(device: "Bob")
    _ = try bob.notebook.save()
    try home.write(
      ".gitattributes",
      "*.txt filter=crypt working-tree-encoding=UTF-16 text ident\n*.png filter=crypt\n")
    _ = try home.notebook.save()
    try bob.receive(from: home)
    try bob.write("mine.txt", "mine $Id$\r\n")
    try bob.write("mine.png", "mine\n")
    let saved = try bob.notebook.save()
    #expect(saved.changes == [Change(path: "mine.txt", kind: .added)])
    #expect(conversions(saved.skipped)["mine.png"] == .filter("crypt"))
    try configureFilter(in: bob)
    try bob.write("more.txt", "more\n")
    #expect(conversions(try bob.notebook.save().skipped)["more.txt"] == .filter("crypt"))
  }

  @Test("nobody else has plain text sent by taking the attributes away")
  func removedElsewhere() throws {
    try configureFilter(in: home)
    try home.write(".gitattributes", "*.secret.md filter=crypt\n")
    _ = try home.notebook.save()
    let bob = try home.clone(device: "Bob")
    for text in ["", nil] as [String?] {
      if let text {
        try bob.write(".gitattributes", text)
      } else {
        try bob.remove(".gitattributes")
      }
      _ = try bob.notebook.save()
      try home.receive(from: bob)
      try home.write("bank.secret.md", plain)
      #expect(conversions(try home.notebook.save().skipped) == ["bank.secret.md": .filter("crypt")])
    }
    #expect(try !isInHistory(plain, of: home))
    // It takes its agreement back as it gave it.
    try home.write(".gitattributes", "# nothing\n")
    _ = try home.notebook.save()
    #expect(try isInHistory(plain, of: home))
  }

  @Test(
    "other conversions count where they change bytes",
    arguments: [
      ("working-tree-encoding=UTF-16", "x\n", Conversion.encoding("UTF-16")),
      ("working-tree-encoding=utf-8", "x\n", nil), ("ident", "a $Id$ b\n", .identity),
      ("ident", "a $Id: 1 $ b\n", .identity), ("ident", "a $Id\n$ b\n", nil),
      ("text", "a\r\nb\n", .lineEndings), ("text", "a\nb\n", nil), ("text", "a\rb\n", nil),
      ("eol=lf", "a\r\n", .lineEndings), ("eol=crlf", "a\r\n", .lineEndings),
      ("eol=crlf", "a\n", nil), ("-text eol=lf", "a\r\n", nil), ("binary", "a\r\n", nil),
      ("text=auto", "a\r\n", nil), ("crlf", "a\r\n", .lineEndings), ("-filter", "a\r\n", nil),
    ] as [(String, String, Conversion?)])
  func others(attributes: String, text: String, expected: Conversion?) throws {
    try home.write(".gitattributes", "*.md \(attributes)\n")
    try home.write("n.md", text)
    #expect(conversions(try home.notebook.save().skipped)["n.md"] == expected)
    #expect(try isInHistory(text, of: home) == (expected == nil))
  }

  // "Some conversions depend on the text (text=auto, core.autocrlf). These count only if a version has the file
  // without CR".
  @Test(
    "git decides by the text and the last version",
    arguments: [
      ("*.md text=auto\n", nil), ("*.md text=auto eol=crlf\n", nil), ("", "true"), ("", "input"),
    ]
      as [(String, String?)])
  func byText(attributes: String, automatic: String?) throws {
    if let automatic { _ = try home.git(["config", "core.autocrlf", automatic]) }
    try home.write(".gitattributes", attributes)
    try home.write("lf.md", "a\nb\n")
    try home.write("crlf.md", "a\r\nb\r\n")
    #expect(try conversions(home.notebook.save().skipped).isEmpty)
    for (path, text) in [("lf.md", "a\r\nb\r\nc\r\n"), ("crlf.md", "a\r\nb\r\nc\r\n")] {
      _ = try home.read(path)
      try home.write(path, text)
    }
    let saved = try home.notebook.save()
    #expect(saved.changes.map(\.path) == ["crlf.md"])
    #expect(conversions(saved.skipped) == ["lf.md": .lineEndings])
    // What git would store of them is what the versions have.
    #expect(try home.git(["diff", "--stat", "HEAD", "--", "crlf.md"]).isEmpty)
    // A file that is binary to git, and one whose line endings are left alone.
    for text in ["a\r\n\0", "a\rb\r\n"] {
      try home.write("lf.md", text)
      #expect(try home.notebook.save().changes.map(\.path) == ["lf.md"])
      try home.write("lf.md", "a\nb\n")
      _ = try home.notebook.save()
    }
  }

  @Test("what comes of a file whose line endings git converts waits")
  func incomingLineEndings() throws {
    try home.write("n.md", "a\nb\n")
    _ = try home.notebook.save()
    let bob = try home.clone(device: "Bob")
    _ = try bob.git(["config", "core.autocrlf", "true"])
    try bob.write("n.md", "a\r\nb\r\n")
    try home.write("n.md", "a\nb\nc\n")
    _ = try home.notebook.save()
    try bob.receive(from: home)
    #expect(try bob.read("n.md") == "a\r\nb\r\n")
    #expect(try bob.git(["show", "HEAD:n.md"]) == "a\nb\nc\n")
    #expect(try !isInHistory("a\r\nb\r\n", of: bob))
  }
}
