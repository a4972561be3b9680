import Glibc
import TestSupport
import Testing

/// Nothing that is printed is untrue: what stays here, and why.
@Suite struct StandingTests {
  private let ada: Shell
  private let bob: Shell

  init() throws {
    ada = try Shell()
    bob = try Shell()
    try ada.initialise()
    try ada.folder.write("milk\n", to: "notes/Shopping.txt")
  }

  private func sync(_ words: String...) throws -> ProcessResult {
    let (serve, port) = try ada.listening("serve")
    defer { serve.send(9) }
    return try run(
      [BuiltBinary.notes()] + words + ["--at", "127.0.0.1:\(port)"], in: bob.folder["notes"],
      environment: bob.environment)
  }

  // notes-sync(1): "Saves what was written in the folder, also where no device is reached".
  @Test func `A sync that reaches nobody has saved`() throws {
    let missed = try ada.notes("sync", "--no-discovery", "--wait", "0.1")
    #expect(missed.status == .exited(4), "\(missed)")
    #expect(try ada.notes("status", "--json").text.contains(#""changes":[]"#))
    #expect(try ada.notes("log").text.contains("Shopping"))
  }

  // notes-sync(1): "What a reader writes stays on its device: the command says how many versions do,
  // and who could make it a writer."
  @Test func `A reader is told that what it writes stays on its device`() throws {
    try bob.join(ada, as: "bob", role: "reader")
    #expect(try !bob.notes("status").text.contains("reader"))
    #expect(try sync("push").isSuccess)
    for text in ["bob's\n", "bob's again\n"] {
      try bob.folder.write(text, to: "notes/bob.txt")
      #expect(try bob.notes("save").isSuccess)
    }
    let words = "2 versions made here stay here, because this device is a reader"
    let remedy = "laptop can make it a writer: 'notes members role bob writer'"
    let synced = try sync("sync")
    #expect(
      synced.isSuccess && synced.text.contains(words) && synced.text.contains(remedy), "\(synced)")
    let json = try sync("sync", "--json")
    #expect(json.text.contains(#""role":"reader","unsent":2"#), "\(json)")
    let pushed = try sync("push")
    #expect(pushed.status == .exited(5), "\(pushed)")
    #expect(
      pushed.errorText.contains("error: " + words) && pushed.errorText.contains("hint: " + remedy))
    #expect(try sync("push", "--json").errorText.contains(#""kind":"reader""#))
    let spelled = "2 versions made here stay here"
    #expect(try bob.notes("status").text.contains(spelled))
    #expect(try bob.notes("status", "--json").text.contains(#""role":"reader","unsent":2"#))
    #expect(try bob.notes("peers", "--no-discovery").text.contains(spelled))
    #expect(try bob.notes("doctor", "--no-discovery").text.contains(words))
    let watch = try RunningProcess(
      [BuiltBinary.notes(), "watch", "--no-discovery"], in: bob.folder["notes"],
      environment: bob.environment)
    #expect(try watch.errorLine { $0.contains("warning") }.contains(words))
    watch.send(15)
    try watch.wait()
    // Made a writer, it sends them.
    #expect(try ada.notes("members", "role", "bob", "writer").isSuccess)
    #expect(try sync("sync").isSuccess)
    #expect(try ada.folder.text("notes/bob.txt") == "bob's again\n")
    #expect(try bob.notes("status", "--json").text.contains(#""role":"writer","unsent":0"#))
  }

  // notes-members(1): "A removed device learns of its removal when a member refuses it, or earlier; the command
  // then says so there, and no longer lists it."
  @Test func `A removed device says so until it is back`() throws {
    try bob.join(ada, as: "bob")
    #expect(try ada.notes("members", "remove", "bob", "--yes").isSuccess)
    #expect(try sync("sync").status == .exited(5))
    let words = "his device was removed from the notebook"
    for _ in 0..<2 {
      let status = try bob.notes("status")
      #expect(status.text.contains(words) && status.text.contains("laptop can invite it again"))
    }
    #expect(try bob.notes("status", "--json").text.contains(#""role":"removed""#))
    let members = try bob.notes("members")
    #expect(members.text.contains(words) && !members.text.contains("this device\n"), "\(members)")
    #expect(try !bob.notes("members", "--json").text.contains(#""name":"bob""#))
    let doctor = try bob.notes("doctor", "--no-discovery")
    #expect(doctor.status == .exited(1) && doctor.text.contains("has been removed"), "\(doctor)")
    try bob.join(ada, as: "bob")
    #expect(try !bob.notes("status").text.contains(words))
    #expect(try bob.notes("members").text.contains("this device"))
  }

  // notes-save(1): "While git is in the middle of a merge … the command says so and does nothing."
  @Test func `What git is in the middle of is said, and so is where HEAD stands`() throws {
    #expect(try ada.notes("save").isSuccess)
    let git = ["git", "-C", ada.folder["notes"], "-c", "user.name=x", "-c", "user.email=x"]
    _ = try run(git + ["checkout", "-qb", "side"])
    #expect(try ada.notes("status").text.contains("On branch side.\n"))
    try ada.folder.write("side\n", to: "notes/Shopping.txt")
    #expect(try ada.notes("save", "--json").text.contains(#""branch":"side""#))
    _ = try run(git + ["checkout", "-q", "main"])
    #expect(try !ada.notes("status").text.contains("branch"))
    try ada.folder.write("main\n", to: "notes/Shopping.txt")
    #expect(try ada.notes("save").isSuccess)
    _ = try run(git + ["merge", "-q", "side"])
    for command in ["save", "sync"] {
      let refused = try ada.notes(command)
      #expect(refused.status == .exited(1), "\(refused)")
      #expect(refused.errorText.contains("error: a git merge is in progress in this notebook"))
      #expect(refused.errorText.contains("git merge --abort"))
    }
    #expect(try ada.notes("status").text.contains("A git merge is in progress"))
    #expect(try ada.notes("status", "--json").text.contains(#""git_operation":"merge""#))
    _ = try run(git + ["merge", "--abort"])
    _ = try run(git + ["checkout", "-q", "--detach"])
    #expect(try ada.notes("status").text.contains("HEAD is detached"))
    try ada.folder.write("detached\n", to: "notes/Shopping.txt")
    #expect(try ada.notes("save").text.contains("HEAD is detached"))
    #expect(try ada.notes("status", "--json").text.contains(#""branch":null"#))
  }

  // notes-merge(7), "Foreign commits": "a watcher tries again every few seconds".
  @Test func `A watcher waits for what git is in the middle of`() throws {
    #expect(try ada.notes("save").isSuccess)
    let watch = try ada.listening("watch").process
    // Its first look at the folder is over.
    try ada.folder.write("before\n", to: "notes/Before.txt")
    _ = try watch.line { $0.contains(#""type":"version""#) && $0.contains("Before.txt") }
    let tip = try run(["git", "-C", ada.folder["notes"], "rev-parse", "HEAD"]).text
    try ada.folder.write(tip, to: "notes/.git/MERGE_HEAD")
    try ada.folder.write("meanwhile\n", to: "notes/Meanwhile.txt")
    _ = try watch.line { $0.contains(#""type":"failed""#) && $0.contains(#""git_operation""#) }
    #expect(try run(["git", "-C", ada.folder["notes"], "rev-parse", "HEAD"]).text == tip)
    unlink(ada.folder["notes/.git/MERGE_HEAD"])
    _ = try watch.line { $0.contains(#""type":"version""#) && $0.contains("Meanwhile.txt") }
    watch.send(15)
    try watch.wait()
  }
}
