import TestSupport
import Testing

@testable import notes

/// notes-hub(7), "A hub that shows two histories", with git's own programs: one address that leads to two
/// repositories.
@Suite struct HubHistoriesTests {
  /// A device with settings of git's of its own.
  private static func device() throws -> Shell {
    let shell = try Shell()
    shell.environment["GIT_CONFIG_GLOBAL"] = shell.folder["gitconfig"]
    return shell
  }

  @Test func `A hub that keeps two members apart is told of when they meet`() throws {
    let (ada, bob) = (try Self.device(), try Self.device())
    try ada.folder.write("one\n", to: "notes/one.txt")
    try ada.initialise()
    try bob.join(ada, as: "bob")
    let address = "ssh://git@hub.example/home.git"
    for shell in [ada, bob] {
      let place = shell.folder["hub.git"]
      for words in [
        ["init", "-q", "--bare", place],
        ["config", "--global", "url.\(place).insteadOf", address],
      ] {
        try #require(try run(["git"] + words, environment: shell.environment).isSuccess)
      }
      #expect(try shell.notes("remote", "add", "hub", address).isSuccess)
      try shell.folder.write("by one\n", to: "notes/\(shell.folder.path.suffix(6)).txt")
      let visited = try shell.notes("sync", "--hub")
      #expect(visited.text.contains("in sync"), "\(visited)")
      #expect(try !shell.notes("status").text.contains("another history"))
    }
    let (serve, port) = try ada.listening("serve")
    defer { serve.send(9) }
    let met = try bob.notes("sync", "--no-discovery", "--at", "127.0.0.1:\(port)")
    let sentence = "hub hub showed laptop and this device different histories"
    #expect(met.text.contains(sentence), "\(met)")
    #expect(try bob.notes("status").text.contains(sentence))
    #expect(try bob.notes("status", "--json").text.contains(#""what":"split""#))
    let doctor = try bob.notes("doctor", "--no-discovery")
    #expect(doctor.status == .exited(1) && doctor.text.contains(sentence), "\(doctor)")
    #expect(
      try ada.notes("status").text.contains(
        "hub hub showed bob and this device different histories"))
    // Both visits bring the versions together, and each device's hub what the other's lacked.
    for shell in [ada, bob] { #expect(try shell.notes("sync", "--hub").isSuccess) }
    #expect(try bob.notes("sync", "--no-discovery", "--at", "127.0.0.1:\(port)").isSuccess)
    #expect(try !bob.notes("status").text.contains(sentence))
  }

  @Test func `A hub that holds a removal back from a member is told of when it meets another`()
    throws
  {
    let (ada, bob, eve) = (try Self.device(), try Self.device(), try Shell())
    try ada.folder.write("one\n", to: "notes/one.txt")
    try ada.initialise()
    for (shell, name) in [(bob, "bob"), (eve, "eve")] { try shell.join(ada, as: name) }
    let (hub, stale) = (ada.folder["hub.git"], ada.folder["stale.git"])
    let address = "ssh://git@hub.example/home.git"
    func lead(_ shell: Shell, to place: String) throws {
      let words = ["config", "--global", "--replace-all", "url.\(place).insteadOf", address]
      removeTree(shell.folder["gitconfig"])
      try #require(try run(["git"] + words, environment: shell.environment).isSuccess)
    }
    func visit(_ shell: Shell, hoursAgo: Int = 0) throws {
      let visited = try shell.notes("sync", "--hub")
      #expect(visited.text.contains("in sync"), "\(visited)")
      // The visit was that long ago.
      let file = shell.folder["notes/.git/notes/hubs"]
      let lines = String(decoding: try readFile(file), as: UTF8.self).split(separator: "\n").map {
        $0.split(separator: " ", omittingEmptySubsequences: false).map { word in
          Int(word).map { $0 > 1_000_000_000 ? String($0 - hoursAgo * 3_600) : String($0) }
            ?? String(word)
        }.joined(separator: " ")
      }
      try writeFile(file, Array(lines.map { $0 + "\n" }.joined().utf8))
    }
    try #require(try run(["git", "init", "-q", "--bare", hub]).isSuccess)
    for shell in [ada, bob] {
      try lead(shell, to: hub)
      #expect(try shell.notes("remote", "add", "hub", address).isSuccess)
      try visit(shell)
    }
    // From now on the hub shows bob what it held then, and takes what he gives.
    try #require(try run(["cp", "-a", hub, stale]).isSuccess)
    try lead(bob, to: stale)
    #expect(try ada.notes("members", "remove", "eve", "--yes").isSuccess)
    try visit(ada, hoursAgo: 2)
    try visit(bob)
    #expect(try bob.notes("members").text.contains("eve"))
    let (serve, port) = try ada.listening("serve")
    defer { serve.send(9) }
    let met = try bob.notes("sync", "--no-discovery", "--at", "127.0.0.1:\(port)")
    let sentence = "hub hub showed this device an older list of members than it had already shown"
    #expect(met.text.contains(sentence), "\(met)")
    #expect(try bob.notes("status").text.contains(sentence + " laptop"))
    #expect(try bob.notes("status", "--json").text.contains(#""what":"members_older_here""#))
    #expect(try bob.notes("doctor", "--no-discovery").text.contains(sentence))
    let told = try ada.notes("status").text
    #expect(told.contains("showed bob an older list of members than it already had"), "\(told)")
  }

  // notes-hub(7), "A hub that went back": "A list of members that is gone, or smaller than at the last visit"
  @Test(
    "an older list of members than at the last visit is told of, with a new version or without, and goes away",
    arguments: [(false, "set back"), (true, "set back"), (true, "gone")])
  func olderList(writes: Bool, how: String) throws {
    let (ada, eve) = (try Self.device(), try Shell())
    try ada.folder.write("one\n", to: "notes/one.txt")
    try ada.initialise()
    try eve.join(ada, as: "eve")
    let (hub, list) = (ada.folder["hub.git"], "refs/notebook/members")
    func git(_ words: String...) throws -> String {
      let result = try run(["git", "-C", hub] + words)
      try #require(result.isSuccess, "\(result)")
      return result.lines.first ?? ""
    }
    func visit() throws -> String {
      let visited = try ada.notes("sync", "--hub", "--json")
      #expect(visited.isSuccess, "\(visited)")
      return visited.text
    }
    let address = "ssh://git@hub.example/home.git"
    for words in [
      ["init", "-q", "--bare", hub], ["config", "--global", "url.\(hub).insteadOf", address],
    ] {
      try #require(try run(["git"] + words, environment: ada.environment).isSuccess)
    }
    #expect(try ada.notes("remote", "add", "hub", address).isSuccess)
    let news = #""type":"hub_members_went_back""#
    #expect(try !visit().contains(news))
    let older = try git("rev-parse", list)
    #expect(try ada.notes("members", "remove", "eve", "--yes").isSuccess)
    #expect(try !visit().contains(news))
    let newer = try git("rev-parse", list)
    try #require(older != newer)
    _ = try how == "gone" ? git("update-ref", "-d", list) : git("update-ref", list, older)
    if writes { try ada.folder.write("two\n", to: "notes/two.txt") }
    let told = try ada.notes("sync", "--hub")
    #expect(
      told.errorText.contains("hub has a shorter list of members than at the last visit"),
      "\(told)")
    // It is there again, and all is well.
    #expect(try git("rev-parse", list) == newer)
    #expect(try !visit().contains(news))
    _ = try git("update-ref", list, older)
    #expect(try visit().contains(news))
  }
}
