import Glibc
import TestSupport
import Testing

/// What a hub has to stand, for each way to reach one. What is tested where:
///
///                          sshd   git-daemon   git-http-backend, TLS   a folder
///     clone                 x         x                 x                 x       here
///     sync                  x         x                 x                 x       HubServerTests
///     no news               x         x                 x                 x       HubServerTests
///     four at once          x         x                 x                 x       here
///     killed in a push      x         x                 x                 -       here
///     disk full             x         x                 x                 x       here
///     an old tip again      x         x                 x                 x       here
///     unreachable           x         x                 x                 x       HubServerTests, HubTroubleTests
///     wrong host            x         -                 x                 -       HubServerTests
///     wrong credentials     x         -                 x                 -       HubServerTests
///     slow, silent          x         x                 x                 -       SlowHubTests, SlowServersTests
///     lies                  x         x                 x                 x       LyingHubTests
///
/// Who pushes to a folder runs git itself there, and has nobody else to be killed, nor to wait for;
/// git-daemon proves nothing and asks nobody. Lies are packs that are cut short, objects that break the rules
/// and forged authors: HubTroubleTests and AuthorityTests look closer at those.
@Suite(.timeLimit(.minutes(20))) struct HubKindsTests {
  private let ada: Shell

  init() throws {
    ada = try Shell()
    try ada.folder.write("one\n", to: "notes/A.txt")
    try ada.initialise()
  }

  /// Makes a repository, and adds it to these as a hub.
  private func add(_ server: GitServer, to shells: [Shell]) throws {
    let address = try server.makeRepository("home.git")
    let config = server.repositories + "/home.git/config"
    _ = try run(["git", "config", "--file", config, "core.logAllRefUpdates", "true"])
    for shell in shells { try shell.add(hub: "home", at: address, on: server) }
  }

  /// git in the hub's repository.
  private func git(_ words: String..., on server: GitServer) throws -> ProcessResult {
    try run(["git", "-C", server.repositories + "/home.git"] + words)
  }

  private func tip(_ place: String) throws -> String {
    try run(["git", "-C", place, "rev-parse", "--verify", "main"]).text
  }

  @Test(arguments: GitServer.Kind.allCases)
  func `A notebook is cloned from a hub, and the clone is kept up to date`(kind: GitServer.Kind)
    throws
  {
    let server = try GitServer(kind)
    try add(server, to: [ada])
    try meet(ada)
    let bob = try Shell()
    bob.environment.merge(try server.client()) { $1 }
    let cloned = try bob.notes("clone", server.address(of: "home.git"), "../desk")
    #expect(cloned.isSuccess && cloned.text.contains(": 1 note\n"), "\(cloned)")
    try ada.folder.write("two\n", to: "notes/B.txt")
    try meet(ada)
    let met = try bob.notes("sync", in: "desk")
    #expect(met.isSuccess && met.text.contains("origin: received 1 version"), "\(met)")
    #expect(try bob.folder.text("desk/A.txt") + bob.folder.text("desk/B.txt") == "one\ntwo\n")
    #expect(try tip(bob.folder["desk"]) == tip(ada.folder["notes"]))
    #expect(try run(["git", "-C", bob.folder["desk"], "fsck", "--strict"]).isSuccess)
    let missing = try bob.notes("clone", server.address(of: "none.git"), "../none", "--json")
    #expect(!missing.isSuccess && access(bob.folder["none"], F_OK) != 0, "\(missing)")
  }

  // notes-hub(7), "A visit": "If another device was faster, the visit begins again at the second step"
  @Test(arguments: GitServer.Kind.allCases)
  func `Four devices that push at once all come through, and the branch only moves forward`(
    kind: GitServer.Kind
  ) throws {
    let server = try GitServer(kind)
    let names = ["laptop", "bob", "cleo", "dora"]
    let devices = try [ada] + names.dropFirst().map { _ in try Shell() }
    for (device, name) in zip(devices, names).dropFirst() { try device.join(ada, as: name) }
    try add(server, to: devices)
    try meet(ada)
    var expected = 1
    for round in 0..<2 {
      for (device, name) in zip(devices, names) {
        try device.folder.write("\(round) by \(name)\n", to: "notes/\(name)-\(round).txt")
        expected += 1
      }
      let visits = try devices.map { try $0.start(in: "notes", "sync", "--hub") }
      for visit in visits {
        let result = try visit.wait()
        #expect(result.isSuccess, "\(result)")
      }
    }
    for device in devices { try meet(device) }
    let there = try git("rev-parse", "main", on: server).text
    for device in devices {
      #expect(try tip(device.folder["notes"]) == there)
      #expect(try device.notes("list").lines.count == expected)
      for (name, round) in names.flatMap({ [($0, 0), ($0, 1)] }) {
        #expect(
          try device.folder.text("notes/\(name)-\(round).txt") == "\(round) by \(name)\n")
      }
    }
    // Where the branch stood, the newest first.
    let stood = try git("reflog", "--format=%H", "main", on: server).lines
    #expect(stood.count >= 5)
    for (newer, older) in zip(stood, stood.dropFirst()) {
      #expect(try git("merge-base", "--is-ancestor", older, newer, on: server).isSuccess)
    }
    print("four at once, \(kind.rawValue): 8 edits, \(stood.count) moves of the branch")
    for device in devices { #expect(try meet(device).text.contains("nothing new; in sync")) }
    #expect(try git("reflog", "main", on: server).lines.count == stood.count)
    #expect(try git("fsck", "--strict", on: server).isSuccess)
  }

  @Test(arguments: GitServer.Kind.served)
  func `A server that is killed while it is pushed to has the old version or the new`(
    kind: GitServer.Kind
  ) throws {
    let server = try GitServer(kind)
    try add(server, to: [ada])
    try meet(ada)
    let before = try git("rev-parse", "main", on: server).text
    // The hook kills the program that serves the push, once it has everything.
    let hook = server.repositories + "/home.git/hooks/pre-receive"
    try writeFile(hook, Array("#!/bin/sh\nkill -9 $PPID\n".utf8))
    chmod(hook, 0o755)
    try ada.folder.write("two\n", to: "notes/B.txt")
    let killed = try ada.notes("sync", "--hub", "--json")
    #expect(try errorKind(of: killed) == "hub_unreachable", "\(killed)")
    #expect(try git("rev-parse", "main", on: server).text == before)
    unlink(hook)
    try meet(ada)
    #expect(try git("rev-parse", "main", on: server).text == tip(ada.folder["notes"]))
    #expect(try git("fsck", "--strict", on: server).isSuccess)
  }

  @Test func `A server that is gone in the middle of a push is pushed to when it is back`() throws {
    let server = try GitServer(.daemon)
    try add(server, to: [ada])
    try meet(ada)
    // The hook holds the push until the server has been killed.
    let (begun, hook) = (
      server.folder["begun"], server.repositories + "/home.git/hooks/pre-receive"
    )
    try writeFile(hook, Array("#!/bin/sh\ntouch '\(begun)'\nexec sleep 600\n".utf8))
    chmod(hook, 0o755)
    try ada.folder.write("two\n", to: "notes/B.txt")
    let pushing = try ada.start(in: "notes", "sync", "--hub", "--json")
    let deadline = Moment.now + 120
    while access(begun, F_OK) != 0, Moment.now < deadline { sched_yield() }
    server.process?.send(SIGKILL)
    #expect(try errorKind(of: pushing.wait()) == "hub_unreachable")
    unlink(hook)
    let again = try server.restarted()
    try meet(ada)
    #expect(try git("rev-parse", "main", on: server).text == tip(ada.folder["notes"]))
    #expect(again.process?.isRunning == true)
    #expect(try git("fsck", "--strict", on: server).isSuccess)
  }

  @Test(.enabled(if: geteuid() == 0), arguments: GitServer.Kind.allCases)
  func `A hub whose disk is full takes nothing, and takes it once there is room`(
    kind: GitServer.Kind
  ) throws {
    let server = try GitServer(kind)
    let place = server.repositories
    let mounted = try run(["mount", "-t", "tmpfs", "-o", "size=600k,mode=755", "hub", place])
    try #require(mounted.isSuccess, "\(mounted)")
    defer { _ = try? run(["umount", "--lazy", place]) }
    try add(server, to: [ada])
    try meet(ada)
    let before = try git("rev-parse", "main", on: server).text
    var random = SplitMix64(seed: 4)
    try ada.folder.write(
      (0..<800_000).map { _ in UInt8.random(in: 0...255, using: &random) },
      to: "notes/photo.jpg")
    let full = try ada.notes("sync", "--hub", "--json")
    #expect(try errorKind(of: full) == "hub_full" && full.status == .exited(5), "\(full)")
    #expect(try git("rev-parse", "main", on: server).text == before)
    _ = try run(["mount", "-o", "remount,size=6m", place])
    try meet(ada)
    #expect(try git("fsck", "--strict", on: server).isSuccess)
  }

  // notes-hub(7), "A hub that went back"
  @Test(arguments: GitServer.Kind.allCases)
  func `A hub that shows an old version again is told of, and gets the new one again`(
    kind: GitServer.Kind
  ) throws {
    let server = try GitServer(kind)
    try add(server, to: [ada])
    try meet(ada)
    let old = try git("rev-parse", "main", on: server).text
    try ada.folder.write("two\n", to: "notes/B.txt")
    try meet(ada)
    let new = try git("rev-parse", "main", on: server).text
    try #require(
      try git("update-ref", "refs/heads/main", String(old.prefix(40)), on: server).isSuccess)
    let told = try ada.notes("sync", "--hub", "--json")
    #expect(told.isSuccess && told.text.contains(#""type":"hub_went_back""#), "\(told)")
    #expect(try old != new && git("rev-parse", "main", on: server).text == new)
    #expect(try !ada.notes("sync", "--hub", "--json").text.contains("hub_went_back"))
  }

  // notes-sync(1): what a hub refuses is told once, in its own words, with what helps.
  @Test(arguments: [
    ("policy says no", "ask the hub's owner about that reason"),
    ("GH006: Protected branch update failed for refs/heads/main.", "the branch is protected there"),
    (
      "refs/heads/main can only be modified through pull requests.", "the branch is protected there"
    ),
    (
      "File a.bin is 123 MB; this exceeds the file size limit",
      "a file is larger than the hub allows"
    ),
  ])
  func `A refusal is told once, with a hint that fits`(words: String, hint: String) throws {
    let server = try GitServer(.daemon)
    try add(server, to: [ada])
    let hook = server.repositories + "/home.git/hooks/pre-receive"
    try writeFile(hook, Array("#!/bin/sh\necho 'error: \(words)' >&2\nexit 1\n".utf8))
    try #require(chmod(hook, 0o755) == 0)
    let refused = try ada.notes("sync", "--hub", "--no-discovery")
    let told = refused.text + refused.errorText
    let sentence = words.hasSuffix(".") ? String(words.dropLast()) : words
    #expect(refused.status == .exited(5))
    #expect(told.split(separator: "\n").count { $0.contains(sentence) } == 1, "\(told)")
    #expect(told.contains("home: the hub refused: "), "\(told)")
    #expect(told.contains("notes: hint: " + hint), "\(told)")
    #expect(!told.contains("  "), "\(told)")
  }
}
