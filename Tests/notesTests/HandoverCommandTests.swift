import Glibc
import TestSupport
import Testing

@testable import notes

/// notes-members(1), handover.
@Suite(.timeLimit(.minutes(5))) struct HandoverCommandTests {
  private let laptop: Shell
  private let bob: Shell

  init() throws {
    laptop = try Shell()
    bob = try Shell()
    try laptop.folder.write("one\n", to: "notes/A.txt")
    try laptop.initialise()
    try bob.join(laptop, as: "bob", role: "admin")
  }

  private func sync() throws -> ProcessResult {
    let (serve, port) = try laptop.listening("serve")
    let synced = try bob.notes("sync", "--no-discovery", "--at", "127.0.0.1:\(port)")
    serve.send(SIGTERM)
    try serve.wait()
    return synced
  }

  private func founder(at shell: Shell) throws -> [String] {
    try shell.notes("members", "--json").lines.filter { $0.contains(#""founder":true"#) }
      .map { try Shell.field("name", of: $0) }
  }

  @Test func `The heir becomes the founder on both devices, and can remove the former one`() throws
  {
    // Notes and history stay as they are, and so does the notebook's ID.
    let id = try laptop.notes("status", "--json").text
    let done = try laptop.notes("members", "handover", "bob", "--yes", "--json")
    try #require(done.isSuccess, "\(done)")
    #expect(done.text.contains(#""type":"handed_over","name":"bob""#), "\(done)")
    #expect(try founder(at: laptop) == ["bob"])
    #expect(try sync().isSuccess)
    #expect(try founder(at: bob) == ["bob"])
    let list = try bob.notes("members").text
    #expect(list.contains("founder, by laptop") && list.contains("former founder"), "\(list)")
    #expect(
      try Shell.field("notebook", of: laptop.notes("status", "--json").text)
        == Shell.field("notebook", of: id))

    let permanent = try laptop.notes("members", "remove", "bob", "--yes", "--json")
    #expect(permanent.errorText.contains(#""kind":"founder_is_permanent""#), "\(permanent)")
    let removed = try bob.notes("members", "remove", "laptop", "--yes")
    #expect(removed.text.hasPrefix("Removed laptop."), "\(removed)")
    // The former founder's device is told at its next contact, like any other that was removed.
    let (serve, port) = try bob.listening("serve")
    let refused = try laptop.notes("sync", "--no-discovery", "--at", "127.0.0.1:\(port)")
    serve.send(SIGTERM)
    try serve.wait()
    #expect(!refused.isSuccess && refused.errorText.contains("removed"), "\(refused)")
    // The heir invites others.
    let carol = try Shell()
    try carol.join(bob, as: "carol")
    #expect(try founder(at: carol) == ["bob"])
  }

  @Test func `Only the founder hands over, to an admin, and is asked`() throws {
    let unasked = try laptop.notes("members", "handover", "bob")
    #expect(!unasked.isSuccess && unasked.errorText.contains("--yes"), "\(unasked)")
    let other = try bob.notes("members", "handover", "bob", "--yes", "--json")
    #expect(other.errorText.contains(#""kind":"not_the_founder""#), "\(other)")
    try #require(try laptop.notes("members", "role", "bob", "writer", "--yes").isSuccess)
    let writer = try laptop.notes("members", "handover", "bob", "--yes", "--json")
    #expect(writer.errorText.contains(#""kind":"heir_refused""#), "\(writer)")
    #expect(try founder(at: laptop) == ["laptop"])
  }
}
