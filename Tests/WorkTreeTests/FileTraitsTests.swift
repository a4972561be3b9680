import Git
import Glibc
import History
import NotebookSupport
import TestSupport
import Testing

@testable import Notebook
@testable import WorkTree

/// notes-merge(7), "What a file has besides its text".
@Suite("What a note's file has besides its text")
struct FileTraitsTests {
  private let home: Fixture
  private let bob: Fixture

  init() throws {
    home = try Fixture()
    for name in ["private.txt", "read.txt", "group.txt", "tagged.txt"] {
      try home.write(name, "one\n")
    }
    _ = try home.notebook.save()
    bob = try home.clone(device: "Bob")
    chmod(bob.path + "/private.txt", 0o600)
    chmod(bob.path + "/read.txt", 0o444)
    chmod(bob.path + "/group.txt", 0o664)
    if geteuid() == 0 { chown(bob.path + "/group.txt", 1, 100) }
    try tag("tagged.txt", "holiday")
    _ = try bob.notebook.save()
  }

  private func tag(_ name: String, _ value: String) throws {
    let result = try run([
      "python3", "-c",
      "import os,sys; os.setxattr(sys.argv[1], 'user.xdg.tags', sys.argv[2].encode())",
      bob.path + "/" + name, value,
    ])
    try #require(result.isSuccess, "\(result.errorText)")
  }

  private func tags(_ name: String) throws -> String {
    try run([
      "python3", "-c",
      "import os,sys; print({n: os.getxattr(sys.argv[1], n) for n in os.listxattr(sys.argv[1])})",
      bob.path + "/" + name,
    ]).text
  }

  private func status(_ name: String) throws -> stat {
    var status = stat()
    try #require(lstat(bob.path + "/" + name, &status) == 0, "\(name)")
    return status
  }

  private func expectTraits(_ names: [String: String] = [:]) throws {
    func name(_ name: String) -> String { names[name] ?? name }
    #expect(try status(name("private.txt")).st_mode & 0o7777 == 0o600)
    #expect(try status(name("read.txt")).st_mode & 0o7777 == 0o444)
    let group = try status(name("group.txt"))
    #expect(group.st_mode & 0o7777 == 0o664)
    if geteuid() == 0 { #expect(group.st_gid == 100 && group.st_uid == 1) }
    #expect(try tags(name("tagged.txt")).contains("holiday"))
  }

  private let all = ["private.txt", "read.txt", "group.txt", "tagged.txt"]

  @Test("stays when another device's edit comes")
  func edited() throws {
    for name in all { try home.write(name, "one\ntwo\n") }
    _ = try home.notebook.save()
    try bob.receive(from: home)
    for name in all { #expect(try bob.read(name) == "one\ntwo\n") }
    try expectTraits()
    // It is no edit.
    #expect(try bob.notebook.save().version == nil)
  }

  @Test("stays in what commands do with notes")
  func commands() throws {
    for name in all { _ = try bob.notebook.append(Array("more\n".utf8), to: TreePath(name)) }
    try expectTraits()
    _ = try bob.notebook.undo()
    try expectTraits()
    let tip = try #require(try bob.notebook.state().tip)
    let version = try bob.notebook.repository.commit(tip)
    for name in all { try bob.write(name, "other\n") }
    _ = try bob.notebook.save()
    for name in all { _ = try bob.notebook.restore(TreePath(name), from: version) }
    try expectTraits()
    var names: [String: String] = [:]
    for name in all {
      names[name] = "deep/new-" + name
      _ = try bob.notebook.rename(TreePath(name), to: TreePath("deep/new-" + name))
    }
    try expectTraits(names)
    for _ in all { _ = try bob.notebook.undo() }
    try expectTraits()
  }

  @Test("stays when another device renames and edits")
  func renamed() throws {
    var names: [String: String] = [:]
    for name in all {
      names[name] = "deep/" + name
      try home.remove(name)
      try home.write("deep/" + name, "one\ntwo\n")
    }
    _ = try home.notebook.save()
    try bob.receive(from: home)
    try expectTraits(names)
  }

  @Test("bits that lend rights do not come with it")
  func lentRights() throws {
    chmod(bob.path + "/private.txt", 0o4755)
    _ = try bob.notebook.save()
    try home.write("private.txt", "two\n")
    _ = try home.notebook.save()
    try bob.receive(from: home)
    #expect(try status("private.txt").st_mode & 0o7777 == 0o644)
  }

  @Test("hard links are named, and are parted by a checkout")
  func hardLinks() throws {
    let other = bob.path + "-link"
    try #require(link(bob.path + "/private.txt", other) == 0)
    defer { unlink(other) }
    #expect(try bob.notebook.status().hardLinks == ["private.txt"])
    _ = try bob.notebook.save()
    #expect(try bob.notebook.status().hardLinks == ["private.txt"])
    try home.write("private.txt", "two\n")
    _ = try home.notebook.save()
    var told: [SaveNews] = []
    bob.notebook.saveNotice = { told.append($0) }
    try bob.receive(from: home)
    #expect(told.map(\.path) == ["private.txt"] && told.first?.kind == .linkParted)
    #expect(try bob.notebook.status().hardLinks == [])
    #expect(String(decoding: try readFile(other), as: UTF8.self) == "one\n")
  }

  /// How a removed note and its folder come back.
  enum Return: CaseIterable {
    case undo, restore, sync
  }

  @Test(
    "a note that others may not read comes back as closed as it was, in its folder",
    arguments: Return.allCases)
  func comesBack(by way: Return) throws {
    try bob.write("diary/secret.txt", "mine\n")
    try bob.write("diary/deep/open.txt", "open\n")
    for (name, mode) in [("diary", mode_t(0o700)), ("diary/secret.txt", 0o600)] {
      chmod(bob.path + "/" + name, mode)
    }
    _ = try bob.notebook.save()
    let former = try #require(try bob.notebook.state().tip)
    _ = try run(["rm", "-r", bob.path + "/diary", bob.path + "/private.txt"])
    _ = try bob.notebook.save()
    if way == .sync { try home.receive(from: bob) }
    let maker = way == .sync ? home : bob
    if way == .undo {
      _ = try bob.notebook.undo()
    } else {
      let version = try maker.notebook.repository.commit(former)
      for name in ["diary/secret.txt", "diary/deep/open.txt", "private.txt"] {
        _ = try maker.notebook.restore(TreePath(name), from: version)
      }
    }
    if way == .sync { try bob.receive(from: home) }
    #expect(try bob.read("diary/secret.txt") == "mine\n")
    #expect(try status("diary").st_mode & 0o7777 == 0o700)
    #expect(try status("diary/secret.txt").st_mode & 0o7777 == 0o600)
    #expect(try status("private.txt").st_mode & 0o7777 == 0o600)
    #expect(try status("diary/deep/open.txt").st_mode & 0o044 == 0o044)
  }

  @Test(
    "a note of another group comes back to it, in a folder that gives its group to new files",
    .enabled(if: geteuid() == 0), arguments: Return.allCases)
  func groupComesBack(by way: Return) throws {
    try bob.write("team/plan.txt", "ours\n")
    for name in ["team", "team/plan.txt"] { chown(bob.path + "/" + name, 1, 100) }
    chmod(bob.path + "/team", 0o2775)
    chmod(bob.path + "/team/plan.txt", 0o664)
    _ = try bob.notebook.save()
    let former = try #require(try bob.notebook.state().tip)
    _ = try bob.notebook.delete(["team/plan.txt"])
    #expect(try bob.read("team/plan.txt") == nil && access(bob.path + "/team", F_OK) != 0)
    if way == .undo {
      _ = try bob.notebook.undo()
    } else {
      let maker = way == .sync ? home : bob
      if way == .sync { try home.receive(from: bob) }
      let version = try maker.notebook.repository.commit(former)
      _ = try maker.notebook.restore("team/plan.txt", from: version)
      if way == .sync { try bob.receive(from: home) }
    }
    let (folder, file) = (try status("team"), try status("team/plan.txt"))
    #expect(folder.st_mode & 0o7777 == 0o2775 && folder.st_gid == 100)
    #expect(file.st_mode & 0o7777 == 0o664 && file.st_gid == 100)
  }

  @Test("a note that others may read since its last save comes back so")
  func opened() throws {
    chmod(bob.path + "/private.txt", 0o644)
    try bob.write("private.txt", "two\n")
    _ = try bob.notebook.save()
    #expect(PrivateFiles(in: bob.notebook.stateFolder)["private.txt"] == nil)
    _ = try run(["rm", bob.path + "/private.txt"])
    _ = try bob.notebook.save()
    _ = try bob.notebook.undo()
    #expect(try status("private.txt").st_mode & 0o7777 == 0o644)
  }
}
