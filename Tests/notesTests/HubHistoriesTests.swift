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
    let sentence = "hub hub showed laptop another history than this device"
    #expect(met.text.contains(sentence), "\(met)")
    #expect(try bob.notes("status").text.contains(sentence))
    #expect(try bob.notes("status", "--json").text.contains(#""what":"split""#))
    let doctor = try bob.notes("doctor", "--no-discovery")
    #expect(doctor.status == .exited(1) && doctor.text.contains(sentence), "\(doctor)")
    #expect(try ada.notes("status").text.contains("hub hub showed bob another history"))
    // Both visits bring the versions together, and each device's hub what the other's lacked.
    for shell in [ada, bob] { #expect(try shell.notes("sync", "--hub").isSuccess) }
    #expect(try bob.notes("sync", "--no-discovery", "--at", "127.0.0.1:\(port)").isSuccess)
    #expect(try !bob.notes("status").text.contains(sentence))
  }
}
