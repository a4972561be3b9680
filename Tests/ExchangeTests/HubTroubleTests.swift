import Git
import Glibc
import History
import Membership
import Notebook
import System
import TestSupport
import Testing

@testable import Exchange

/// notes-hub(7), "A hub that went back", "What is run", and hubs that break.
@Suite("Hubs that fail, lie or are to blame", .timeLimit(.minutes(20)))
struct HubTroubleTests {
  let hub: FolderHub
  let ada: Device
  let bob: Device

  init() throws {
    hub = try FolderHub(acceptsUnsigned: true)
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    try ada.write("one\n", to: "A.txt")
    try ada.meet(hub)
    try bob.meet(hub)
  }

  private func setBack(to id: String) throws {
    try hub.git(["-C", hub.path, "update-ref", "refs/heads/main", id])
  }

  // "No synced version is lost: the device still has it, merges it with the hub's version, and sends it to the
  // hub again."
  @Test("an old tip again: it is said, and what was synced goes there again")
  func oldTip() throws {
    let old = try #require(try hub.tip())
    try ada.write("two\n", to: "A.txt")
    try ada.meet(hub)
    let new = try #require(try hub.tip())
    try setBack(to: old.hex)
    let (outcome, events) = try ada.visit(hub.hub)
    #expect(outcome.failures.isEmpty)
    #expect(events.rewinds.map(\.from) == [new] && events.rewinds.map(\.to) == [old])
    #expect(try hub.tip() == new)
    #expect(try ada.visit(hub.hub).events.rewinds.isEmpty)
    // Who was never there since has nothing to compare.
    #expect(try bob.visit(hub.hub).events.rewinds.isEmpty)
  }

  @Test("a hub that is a shallow clone is called so, and gets nothing")
  func shallow() throws {
    for text in ["two\n", "three\n"] {
      try ada.write(text, to: "B.txt")
      try ada.meet(hub)
    }
    let whole = hub.folder["whole.git"]
    try #require(rename(hub.path, whole) == 0)
    try hub.git(["clone", "--quiet", "--bare", "--depth", "1", "file://" + whole, hub.path])
    try bob.write("by bob\n", to: "C.txt")
    #expect(try bob.failure(at: hub.hub) == .shallow)
  }

  @Test("a force push by mistake: both lines of history come together again")
  func forcePush() throws {
    let pat = try hub.clone(as: "pat")
    try ada.write("two\n", to: "B.txt")
    try ada.meet(hub)
    try pat.commit("by pat\n", to: "pat.txt")
    try hub.git(["-C", hub.path, "config", "receive.denyNonFastForwards", "false"])
    try pat.git("push", "--quiet", "--force")
    let (outcome, events) = try ada.visit(hub.hub)
    #expect(outcome.failures.isEmpty && events.rewinds.count == 1)
    try bob.meet(hub)
    for name in ["A.txt", "B.txt", "pat.txt"] { #expect(ada.exists(name) && bob.exists(name)) }
    #expect(try hub.tip() == ada.tip() && hub.tip() == bob.tip())
  }

  @Test("a hub made anew and empty is filled again, and that is said")
  func recreated() throws {
    let tip = try #require(try hub.tip())
    hub.remove()
    #expect(
      try ada.failure(at: hub.hub).map { if case .noRepository = $0 { true } else { false } }
        == true)
    try hub.make()
    let (outcome, events) = try ada.visit(hub.hub)
    #expect(outcome.failures.isEmpty)
    #expect(events.rewinds.map(\.from) == [tip] && events.rewinds.map(\.to) == [nil])
    #expect(try hub.tip() == tip)
  }

  // "A device merges and sends nothing if the hub's history shares no commit with the notebook's [...]
  // --allow-unrelated allows it."
  @Test("another notebook's history is refused, or merged where that is meant")
  func unrelated() throws {
    let other = try FolderHub()
    let cleo = try Device(founding: "Cleo")
    try cleo.write("of another notebook\n", to: "C.txt")
    try cleo.meet(other)
    let (there, here) = (try other.tip(), try ada.tip())
    #expect(try ada.failure(at: other.hub) == .anotherNotebook)
    try other.git(["-C", other.path, "update-ref", "-d", MemberList.reference])
    #expect(try ada.failure(at: other.hub) == .unrelated)
    #expect(try other.tip() == there && ada.tip() == here && !ada.exists("C.txt"))
    // The list of members is not sent, either.
    #expect(try other.git(["-C", other.path, "for-each-ref", MemberList.folder]).isEmpty)
    let outcome = try ada.visit(other.hub) { $0.allowsUnrelated = true }.outcome
    #expect(outcome.failures.isEmpty)
    #expect(try ada.exists("C.txt") && other.tip() == ada.tip())
  }

  @Test("what no device takes is refused with all that comes with it, and nothing here changes")
  func brokenRules() throws {
    let pat = try hub.clone(as: "pat")
    try pat.commit("by pat\n", to: "pat.txt")
    symlink("/etc/passwd", pat.folder + "/link.txt")
    try pat.git("add", "--all")
    try pat.git("commit", "--quiet", "-m", "a link")
    try pat.git("push", "--quiet")
    let here = try ada.tip()
    let outcome = try ada.visit(hub.hub).outcome
    let error = try #require(outcome.failures.first).error
    guard case SyncError.packRefused(.refused) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(try ada.tip() == here && !ada.exists("pat.txt"))
    let commit = try pat.git("rev-parse", "HEAD")
    #expect(try !ada.notebook().repository.contains(ObjectID(hex: commit)!))
    #expect(try ada.git("fsck", "--strict").isSuccess)
    // "whoever pushed it has to take it out of the branch again"
    try pat.git("reset", "--quiet", "--hard", "HEAD~1")
    try setBack(to: try pat.git("rev-parse", "HEAD"))
    try ada.meet(hub)
    #expect(ada.exists("pat.txt"))
  }

  @Test("a pack that is cut short brings nothing")
  func truncated() throws {
    try bob.write(String(repeating: "text\n", count: 5_000), to: "B.txt")
    try bob.meet(hub)
    try hub.git(["-C", hub.path, "repack", "-adq"])
    let packs = hub.path + "/objects/pack"
    for name in try TestSupport.run(["ls", packs]).lines where name.hasSuffix(".pack") {
      chmod(packs + "/" + name, 0o600)
      truncate(packs + "/" + name, 100)
    }
    let here = try ada.tip()
    let outcome = try ada.visit(hub.hub).outcome
    #expect(outcome.sessions.isEmpty && outcome.failures.first?.error is HubError)
    #expect(try ada.tip() == here && ada.git("fsck", "--strict").isSuccess)
  }

  // "nothing in the notebook's own configuration, hooks, filters, attributes and references takes part.
  // ... Hooks of a hub that is a folder of this machine are not run either."
  @Test("no hook, filter or setting of the notebook or of the hub's folder runs")
  func nothingRuns() throws {
    let mark = ada.folder["mark"]
    let script = Array("#!/bin/sh\necho \"$0\" >>'\(mark)'\n".utf8)
    let hooks = [
      "pre-push", "post-merge", "reference-transaction", "pre-receive", "update", "post-receive",
      "post-update", "pre-auto-gc",
    ]
    for folder in [ada.notes + "/.git/hooks", hub.path + "/hooks"] {
      try makeFolder(folder)
      for name in hooks {
        try writeFile(folder + "/" + name, script)
        chmod(folder + "/" + name, 0o755)
      }
    }
    let program = ada.folder["program"]
    try writeFile(program, script)
    chmod(program, 0o755)
    for key in [
      "core.sshCommand", "core.fsmonitor", "core.gitProxy", "core.alternateRefsCommand",
      "remote.hub.uploadpack", "remote.hub.receivepack", "credential.helper", "filter.x.clean",
    ] {
      _ = try ada.git("config", key, program)
    }
    for key in ["core.alternateRefsCommand", "core.fsmonitor", "uploadpack.packObjectsHook"] {
      try hub.git(["-C", hub.path, "config", key, program])
    }
    try bob.write("two\n", to: "B.txt")
    try bob.meet(hub)
    try ada.write("*.dat filter=x\n", to: ".gitattributes")
    try ada.write("three\n", to: "C.dat")
    try ada.meet(hub)
    #expect(try ada.exists("B.txt") && hub.tip() == ada.tip())
    #expect(access(mark, F_OK) != 0)
  }

  @Test("git that is missing, says nothing, or is not to be had leaves everything as it was")
  func programs() throws {
    #expect(try ada.failure(at: hub.hub) { $0.program.name = "/no/such/git" } == .gitMissing)
    let slow = ada.folder["slow"]
    try writeFile(slow, Array("#!/bin/sh\nexec sleep 600\n".utf8))
    chmod(slow, 0o755)
    let silent = try ada.failure(at: hub.hub) {
      $0.program.name = slow
      $0.program.patience = 0.3
    }
    #expect(silent == .silent(seconds: 0))
    try ada.write("two\n", to: "B.txt")
    try ada.meet(hub)
  }

  // "references without end, or a line without one, end the visit, and nothing else"
  @Test(
    "a hub that says too much is ended",
    arguments: ["exec yes remote: words >&2", "exec yes ref"])
  func floods(command: String) throws {
    let program = ada.folder["flood"]
    try writeFile(program, Array("#!/bin/sh\n\(command)\n".utf8))
    chmod(program, 0o755)
    let error = try ada.failure(at: hub.hub) { $0.program.name = program }
    guard case .excessive? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    try ada.meet(hub)
  }

  @Test("a hub's git that takes too much memory is refused it, and that is said")
  func memory() throws {
    let program = ada.folder["greedy"]
    let script = "#!/bin/sh\nexec python3 -c 'a = bytearray(900 << 20)'\n"
    try writeFile(program, Array(script.utf8))
    chmod(program, 0o755)
    let error = try ada.failure(at: hub.hub) { $0.program.name = program }
    guard case .failed? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect("\(String(describing: error))".contains("MemoryError"))
    let lines = ["fatal: Out of memory, malloc failed (tried to allocate 1073741825 bytes)"]
    #expect(GitProgram.isOutOfMemory(lines))
  }

  @Test("a visit ends at once when it is cancelled")
  func cancelled() throws {
    let slow = ada.folder["slow"]
    try writeFile(slow, Array("#!/bin/sh\necho $$ >'\(ada.folder["pid"])'\nexec sleep 600\n".utf8))
    chmod(slow, 0o755)
    let token = try CancellationToken()
    let box = ada.context.startVisit(hub.hub, until: token) { $0.program.name = slow }
    let deadline = Instant.now + 80
    while access(ada.folder["pid"], F_OK) != 0, Instant.now < deadline { sched_yield() }
    token.cancel()
    #expect {
      _ = try #require(box.take(until: .now + 20)).get()
    } throws: {
      if case SyncError.stopped = $0 { true } else { false }
    }
  }

  @Test("a detached HEAD has no branch to meet on")
  func detached() throws {
    _ = try ada.git("checkout", "--quiet", "--detach")
    #expect(try ada.failure(at: hub.hub) == .noBranch)
  }

  /// What git and ssh say, and what that means here.
  @Test(
    "the words of git and of servers are understood",
    arguments: [
      ("fatal: unable to access 'https://h/': Could not resolve host: h", "unreachable"),
      ("ssh: connect to host h port 22: Connection refused", "unreachable"),
      ("Host key verification failed.", "hostUnproved"),
      (
        "fatal: unable to access 'https://h/': server verification failed: certificate signer not trusted.",
        "hostUnproved"
      ),
      ("ada@h: Permission denied (publickey).", "notLetIn"),
      ("fatal: could not read Username for 'https://h': terminal prompts disabled", "notLetIn"),
      ("fatal: '/x' does not appear to be a git repository", "noRepository"),
      ("fatal: detected dubious ownership in repository at '/x'", "foreignOwner"),
      ("remote: fatal: write error: No space left on device", "full"),
      ("fatal: something new", "failed"),
    ])
  func words(line: String, meaning: String) throws {
    let lines = [line, "fatal: Could not read from remote repository."]
    let error = try #require(HubError(TransferError.failed(status: 128, lines)))
    #expect("\(error)".contains("fatal") == false)
    #expect(String(describing: Mirror(reflecting: error).children.first?.label ?? "") == meaning)
  }
}
