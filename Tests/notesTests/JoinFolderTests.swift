import TestSupport
import Testing

/// notes-join(1): what the ignore files and attributes of the notebook leave out is not sent.
@Suite("Joining with a folder that has files")
struct JoinFolderTests {
  private let ada: Shell
  private let bob: Shell

  init() throws {
    (ada, bob) = (try Shell(), try Shell())
    try bob.folder.write("hello\n", to: "notes/hello.txt")
    try bob.folder.write("mine\n", to: "notes/diary.txt")
    try bob.folder.write("mine\n", to: "notes/door.key")
    try bob.folder.write("mine\n", to: "notes/vault/plan.txt")
  }

  private func found(_ notebook: Notebook = .rules) throws {
    switch notebook {
    case .rules:
      try ada.folder.write("diary.txt\n*.key\n", to: "notes/.gitignore")
      try ada.folder.write("vault/* filter=crypt\n", to: "notes/.gitattributes")
      try ada.folder.write("first\n", to: "notes/first.txt")
    case .empty: break
    }
    try ada.initialise()
  }

  private enum Notebook { case rules, empty }

  private func versioned(_ shell: Shell) throws -> Set<String> {
    let result = try run(
      ["git", "log", "--all", "--name-only", "--format="], in: shell.folder["notes"])
    return Set(result.lines.filter { !$0.isEmpty })
  }

  private func sync() throws -> ProcessResult {
    let served = try ada.listening("serve")
    let result = try run(
      [BuiltBinary.notes(), "sync", "--at", "127.0.0.1:\(served.port)"],
      in: bob.folder["notes"], environment: bob.environment)
    served.process.send(2)
    try served.process.wait()
    return result
  }

  private static let kept: Set = ["diary.txt", "door.key", "vault/plan.txt"]
  private static let all: Set = [".gitattributes", ".gitignore", "first.txt", "hello.txt"]

  /// Nothing of what the notebook leaves out is in anybody's history, and it stays in the folder.
  private func expectKept(all: Set<String> = Self.all) throws {
    for shell in [ada, bob] { #expect(try versioned(shell) == all) }
    for name in Self.kept { #expect(try bob.folder.text("notes/\(name)") == "mine\n") }
    #expect(try ada.folder.text("notes/hello.txt") == "hello\n")
  }

  // "does not send files that their ignore files and attributes exclude"
  @Test func `What the notebook leaves out is not sent by who joins with a folder`() throws {
    try found()
    try bob.join(ada, as: "bob")
    try expectKept()
    #expect(try bob.notes("save").isSuccess)
    #expect(try sync().isSuccess)
    try expectKept()
  }

  @Test func `The rules of both are kept where the folder has its own`() throws {
    try found()
    try bob.folder.write("*.log\n", to: "notes/.gitignore")
    try bob.folder.write("mine\n", to: "notes/today.log")
    try bob.join(ada, as: "bob")
    try expectKept()
    #expect(try bob.folder.text("notes/today.log") == "mine\n")
  }

  // "or in one with versions of its own".
  @Test func `The folder may be a repository with versions`() throws {
    try found()
    let setUp = """
      git init -q && git add hello.txt && git -c user.name=b -c user.email=b@b commit -qm one
      """
    #expect(try run(["sh", "-c", setUp], in: bob.folder["notes"]).isSuccess)
    try bob.join(ada, as: "bob")
    try expectKept()
  }

  // "Until then no session and no watcher saves".
  @Test func `Nothing is saved that was not asked for before the first versions have come`() throws
  {
    try found()
    try bob.join(ada, as: "bob")
    // As a run leaves it that ended between the certificate and the first session.
    try bob.folder.write("", to: "notes/.git/notes/awaiting")
    try bob.folder.write("late\n", to: "notes/late.txt")
    let (before, saved) = (try versioned(bob), try bob.notes("bundle", "create", "../all.bundle"))
    #expect(saved.isSuccess && before == Self.all, "\(saved)")
    #expect(try !bob.notes("sync", "--no-discovery").isSuccess)
    #expect(try versioned(bob) == Self.all)
    // Bob has what Ada shows, so the wait ends, and the next session saves.
    for _ in 1...2 { #expect(try sync().isSuccess) }
    try expectKept(all: Self.all.union(["late.txt"]))
    // Who asks for a version gets one.
    try bob.folder.write("", to: "notes/.git/notes/awaiting")
    try bob.folder.write("later\n", to: "notes/late.txt")
    #expect(try bob.notes("save").isSuccess)
    #expect(try bob.notes("status").text.contains("Everything else is saved"))
  }

  // "Where the notebook has no versions, it saves at once".
  @Test func `A notebook without versions gets the folder's`() throws {
    try found(.empty)
    try bob.join(ada, as: "bob")
    #expect(try ada.folder.text("notes/hello.txt") == "hello\n")
  }
}
