import Glibc
import TestSupport
import Testing

/// notes-clone(1).
@Suite(.timeLimit(.minutes(5))) struct CloneTests {
  private let ada: Shell
  private let bob: Shell
  private let hub: String

  init() throws {
    ada = try Shell()
    bob = try Shell()
    hub = ada.folder["hub.git"]
    try ada.folder.write("one\n", to: "notes/A.txt")
    try ada.initialise()
    try #require(try run(["git", "init", "-q", "--bare", "-b", "main", hub]).isSuccess)
    try #require(try ada.notes("remote", "add", "home", hub).isSuccess)
    try #require(try ada.notes("sync", "--hub").isSuccess)
  }

  private func hubTip() throws -> String {
    try run(["git", "--git-dir", hub, "rev-parse", "main"]).text
  }

  /// Begins to clone, and returns when the hub keeps it waiting: at the call of git that has `word` in it.
  private func clone(to folder: String, heldAt word: String = "") throws -> RunningProcess {
    let (begun, bin) = (bob.folder["begun"], bob.folder["bin"])
    unlink(begun)
    try makeFolder(bin)
    var environment = bob.environment
    let path = environment["PATH"] ?? ""
    let script = """
      #!/bin/sh
      case "$*" in *'\(word)'*) touch '\(begun)'; exec tail -f /dev/null --pid=$PPID ;; esac
      PATH='\(path)' exec git "$@"

      """
    try writeFile(bin + "/git", Array(script.utf8))
    chmod(bin + "/git", 0o755)
    environment["PATH"] = bin + ":" + path
    let process = try RunningProcess(
      [BuiltBinary.notes(), "clone", hub, bob.folder[folder]], in: bob.folder["notes"],
      environment: environment)
    let deadline = Moment.now + 180
    while access(begun, F_OK) != 0, Moment.now < deadline { sched_yield() }
    return process
  }

  @Test func `It reads, keeps its own versions, and gives them when it has joined`() throws {
    let cloned = try bob.notes("clone", hub, "../desk", "--device-name", "desk")
    #expect(cloned.isSuccess && cloned.text.contains(": 1 note\n"), "\(cloned)")
    #expect(cloned.text.contains("This device is not a member yet"))
    #expect(try bob.folder.text("desk/A.txt") == "one\n")
    #expect(try run(["git", "-C", bob.folder["desk"], "fsck", "--strict"]).isSuccess)
    try bob.folder.write("by bob\n", to: "desk/B.txt")
    try ada.folder.write("two\n", to: "notes/C.txt")
    try #require(try ada.notes("sync", "--hub").isSuccess)
    let tip = try hubTip()
    // What is written here is saved, and stays here.
    let met = try bob.notes("sync", in: "desk")
    #expect(met.isSuccess && met.text.contains("origin: received 1 version"), "\(met)")
    #expect(met.text.contains("This device is not a member yet"))
    #expect(try bob.folder.text("desk/C.txt") == "two\n")
    #expect(try hubTip() == tip)
    for verb in ["push", "pull"] {
      let refused = try bob.notes(verb, "--json", in: "desk")
      #expect(try errorKind(of: refused) == "not_a_member" && refused.status == .exited(5))
    }
    #expect(try bob.notes("status", in: "desk").text.contains("is not a member yet"))
    let status = try #require(
      try JSONValue.lines(bob.notes("status", "--json", in: "desk").text).first)
    #expect(status["role"] == "guest")
    let bundle = try bob.notes("bundle", "create", "../b.bundle", "--json", in: "desk")
    #expect(try errorKind(of: bundle) == "not_a_member")
    // By a code it is a member, of the same notebook.
    let invitation = try ada.invite()
    let joined = try bob.notes(
      "join", "--code-file", "-", "--yes", "--at", "127.0.0.1:\(invitation.port)", in: "desk",
      input: invitation.code + "\n")
    try #require(joined.isSuccess, "\(joined)")
    try invitation.process.wait()
    #expect(try bob.notes("status", in: "desk").text.contains("on desk"))
    #expect(try bob.notes("sync", "--hub", in: "desk").isSuccess)
    #expect(try hubTip() != tip)
    try #require(try ada.notes("sync", "--hub").isSuccess)
    #expect(try ada.folder.text("notes/B.txt") == "by bob\n")
    #expect(try bob.notes("status", in: "desk").text.contains("not a member") == false)
  }

  @Test func `What is no notebook's, here already, or in the way is refused, and leaves nothing`()
    throws
  {
    let plain = ada.folder["plain.git"]
    try #require(try run(["git", "clone", "-q", "--bare", hub, plain]).isSuccess)
    let unknown = try bob.notes("clone", plain, "../x", "--json")
    #expect(try errorKind(of: unknown) == "hub_unknown" && unknown.errorText.contains("notes init"))
    let empty = ada.folder["empty.git"]
    try #require(try run(["git", "init", "-q", "--bare", empty]).isSuccess)
    #expect(try errorKind(of: bob.notes("clone", empty, "../x", "--json")) == "hub_unknown")
    #expect(try errorKind(of: bob.notes("clone", "/no/such", "../x", "--json")) == "hub_missing")
    let here = try ada.notes("clone", hub, "../x", "--json")
    #expect(try errorKind(of: here) == "already_a_notebook", "\(here)")
    #expect(here.errorText.contains("this notebook is already on this device, in "), "\(here)")
    #expect(access(bob.folder["x"], F_OK) != 0 && access(ada.folder["x"], F_OK) != 0)
    try bob.folder.write("mine\n", to: "full/mine.txt")
    try #require(try ada.notes("bundle", "create", "../h.bundle").isSuccess)
    let known = try ada.notes("clone", "../h.bundle", "../x", "--json")
    #expect(try errorKind(of: known) == "already_a_notebook", "\(known)")
    #expect(known.errorText.contains("bundle apply FILE' adds the bundle's versions"))
    let gone = try bob.notes("clone", "../gone.bundle", "../x", "--json")
    #expect(gone.errorText.contains("gone.bundle") && !gone.errorText.contains("hub"), "\(gone)")
    let full = try bob.notes("clone", hub, "../full", "--json")
    #expect(try errorKind(of: full) == "target_exists")
    #expect(full.errorText.contains(" already exists and is not empty"), "\(full)")
    #expect(try bob.folder.text("full/mine.txt") == "mine\n")
    // Ctrl-C, while the hub keeps it waiting.
    let cloning = try clone(to: "y")
    cloning.send(SIGINT)
    #expect(try cloning.wait().status == .exited(130))
    #expect(access(bob.folder["y"], F_OK) != 0)
    // notes-clone(1): "What somebody else puts there meanwhile is left alone."
    let again = try clone(to: "y")
    try bob.folder.write("mine\n", to: "y/mine.txt")
    again.send(SIGINT)
    #expect(try again.wait().status == .exited(130))
    #expect(try bob.folder.text("y/mine.txt") == "mine\n")
    #expect(access(bob.folder["y/.git"], F_OK) != 0)
  }

  @Test func `A bundle is cloned, with its branch, and later ones are taken in`() throws {
    try #require(try run(["git", "-C", ada.folder["notes"], "branch", "-m", "trunk"]).isSuccess)
    try #require(try ada.notes("bundle", "create", "../a.bundle").isSuccess)
    let cloned = try bob.notes("clone", ada.folder["a.bundle"], "--json", in: ".")
    let line = try #require(try JSONValue.lines(cloned.text).last)
    let page = try JSONPage()
    let fields = try #require(page.commands["clone"])
    #expect(page.differences(of: line, from: fields, at: "clone").isEmpty)
    #expect(line["path"] == bob.folder["a"])
    let head = try run(["git", "-C", bob.folder["a"], "symbolic-ref", "HEAD"])
    #expect(head.text == "refs/heads/trunk\n")
    try ada.folder.write("two\n", to: "notes/B.txt")
    try #require(try ada.notes("bundle", "create", "../b.bundle", "--since", "~1").isSuccess)
    #expect(try bob.notes("bundle", "apply", ada.folder["b.bundle"], in: "a").isSuccess)
    #expect(try bob.folder.text("a/B.txt") == "two\n")
    let alone = try bob.notes("sync", "--json", in: "a")
    #expect(try errorKind(of: alone) == "not_a_member")
    #expect(
      alone.errorText.contains("this device is not a member of the notebook yet"), "\(alone)")
  }

  // notes-clone(1): "If the command is killed, run it again …: each completes the clone."
  @Test func `A clone that was killed is completed by the same command`() throws {
    let desk = bob.folder["desk"]
    // Before the notebook was there.
    try makeFolder(desk + "/.git.new/look/.git/objects")
    // After: when its versions are about to come.
    let cloning = try clone(to: "desk", heldAt: "refs/heads/mai")
    cloning.send(SIGKILL)
    _ = try cloning.wait()
    #expect(access(desk + "/.git.new", F_OK) != 0 && access(desk + "/A.txt", F_OK) != 0)
    let other = try Shell()
    try other.folder.write("other\n", to: "notes/Other.txt")
    try other.initialise()
    try #require(try other.notes("bundle", "create", "../o.bundle").isSuccess)
    let another = try bob.notes("clone", other.folder["o.bundle"], "../desk", "--json")
    #expect(try errorKind(of: another) == "target_exists", "\(another)")
    let again = try bob.notes("clone", hub, "../desk")
    #expect(again.isSuccess && again.text.contains(": 1 note\n"), "\(again)")
    #expect(try bob.folder.text("desk/A.txt") == "one\n")
    #expect(try bob.notes("sync", in: "desk").isSuccess)
    let third = try bob.notes("clone", hub, "../desk", "--json")
    #expect(try errorKind(of: third) == "target_exists", "\(third)")
  }

  // notes-hub(7), "Members": "A visit adds the hub's list to this device's"
  @Test func `Who was removed learns it at the hub`() throws {
    try bob.join(ada, as: "bob")
    try #require(try bob.notes("remote", "add", "home", hub).isSuccess)
    try #require(try bob.notes("sync", "--hub").isSuccess)
    try #require(try ada.notes("members", "remove", "bob", "--yes").isSuccess)
    try #require(try ada.notes("sync", "--hub").isSuccess)
    try bob.folder.write("by bob\n", to: "notes/B.txt")
    let tip = try hubTip()
    #expect(try bob.notes("sync", "--hub").isSuccess == false)
    #expect(try hubTip() == tip)
    #expect(try bob.notes("status").text.contains("was removed"))
  }
}
