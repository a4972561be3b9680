import TestSupport
import Testing

@testable import notes

/// notes-invitations(1), cancel, of links: what other devices know of them, and of the cancellation.
@Suite(.timeLimit(.minutes(5))) struct CancelledLinkTests {
  private let ada: Shell
  private let bob: Shell
  private let hub: String
  private let link: String
  private let id: String

  /// Two admins who meet only at a hub, and a link of the first.
  init() throws {
    (ada, bob) = (try Shell(), try Shell())
    hub = ada.folder["hub.git"]
    try ada.folder.write("one\n", to: "notes/A.txt")
    try ada.initialise()
    try #require(try run(["git", "init", "-q", "--bare", "-b", "main", hub]).isSuccess)
    try #require(try ada.notes("remote", "add", "home", hub).isSuccess)
    let admin = try Self.invite(on: ada, "--role", "admin")
    try #require(try Self.join(bob, by: admin.link, as: "bob").isSuccess)
    try meet(ada)
    try Self.visit(bob)
    (link, id) = try Self.invite(on: ada)
  }

  private static func invite(on shell: Shell, in place: String = "notes", _ words: String...) throws
    -> (
      link: String, id: String
    )
  {
    let made = try shell.start(
      in: place, words: ["invite", "--hub", place == "notes" ? "home" : "origin", "--json"] + words)
    let line = try made.line { $0.contains(#""type":"link""#) }
    try #require(try made.wait().isSuccess)
    return (
      try Shell.field("link", of: line), String(try Shell.field("invitation", of: line).prefix(8))
    )
  }

  private static func join(_ shell: Shell, by link: String, as name: String) throws -> ProcessResult
  {
    try shell.notes("join", link, "../desk", "--yes", "--device-name", name)
  }

  private static func visit(_ shell: Shell) throws {
    let result = try shell.notes("sync", "--hub", in: "desk")
    try #require(result.isSuccess, "\(result)")
  }

  private func cancel(_ words: String...) throws -> ProcessResult {
    let cancel = try ada.start(words: ["invitations", "cancel", id] + words)
    return try cancel.wait()
  }

  @Test func `A request that waits at the hub is not answered, and its device learns why`() throws {
    let carl = try Shell()
    try #require(try Self.join(carl, by: link, as: "carl").isSuccess)
    let cancelled = try cancel()
    #expect(
      cancelled.isSuccess && cancelled.text == "Cancelled: \(id).\nhome: nothing new; in sync\n",
      "\(cancelled)")
    try Self.visit(bob)
    let told = try carl.notes("sync", in: "desk").text
    #expect(told.contains("the invitation was cancelled: ask for another one"), "\(told)")
    #expect(try !bob.notes("members", in: "desk").text.contains("carl"))
  }

  // "If another admin's device lets a device in before it learns of this, that device is removed, now or as soon as
  // the two lists meet; the command names the devices that it removes now."
  @Test func `A device that another admin had already let in is removed, and named`() throws {
    let carl = try Shell()
    try #require(try Self.join(carl, by: link, as: "carl").isSuccess)
    try Self.visit(bob)
    try Self.visit(carl)
    let cancelled = try cancel()
    #expect(
      cancelled.text.hasSuffix(
        "Another admin's device had already let in carl, which is now removed. To let it back in, invite it again.\n"
      ),
      "\(cancelled)")
    try Self.visit(bob)
    #expect(try !bob.notes("members", in: "desk").text.contains("carl"))
    #expect(try bob.notes("members", "--all", in: "desk").text.contains("carl"))
    let again = try cancel()
    #expect(
      again.errorText.contains(" was already used")
        && again.errorText.contains("the device that it let in is no longer a member"), "\(again)")
  }

  @Test func `For programs, that is a line with the fields of the page`() throws {
    let carl = try Shell()
    try #require(try Self.join(carl, by: link, as: "carl").isSuccess)
    try Self.visit(bob)
    let line = try #require(try cancel("--json").lines.last)
    let page = try JSONPage()
    let name = "invitations: already_joined"
    let fields = try #require(page.commands[name])
    let found = try page.differences(of: JSONValue.lines(line)[0], from: fields, at: name)
    #expect(found.isEmpty && line.contains(#""state":"removed""#), "\(line)")
  }

  @Test func `While a hub does not know of it, the command says who may still let a device in`()
    throws
  {
    let carl = try Shell()
    try #require(try Self.join(carl, by: link, as: "carl").isSuccess)
    let away = ada.folder["away.git"]
    func move(_ from: String, _ to: String) throws {
      try #require(try run(["mv", from, to]).isSuccess)
    }
    try move(hub, away)
    let words =
      "Until this device visits home, bob may let a device in there; that device is removed then."
    for _ in 1...2 {
      let cancelled = try cancel()
      #expect(cancelled.isSuccess && cancelled.text.contains(words), "\(cancelled)")
    }
    try move(away, hub)
    try Self.visit(bob)
    #expect(try bob.notes("members", in: "desk").text.contains("carl"))
    let third = try cancel()
    #expect(third.text.contains("had already let in carl, which is now removed"), "\(third)")
    #expect(!third.text.contains("Until"))
    try Self.visit(bob)
    #expect(try !bob.notes("members", in: "desk").text.contains("carl"))
  }

  // The same holds for a removed device.
  @Test func `A removal says that a hub does not know of it yet`() throws {
    let away = ada.folder["away.git"]
    try #require(try run(["mv", hub, away]).isSuccess)
    let removed = try ada.notes("members", "remove", "bob", "--yes")
    let words =
      "Run 'notes sync' soon: until this device visits home, a removed device may write there, and others then refuse "
      + "what it wrote.\n"
    #expect(removed.isSuccess && removed.text.contains(words), "\(removed)")
    try #require(try run(["mv", away, hub]).isSuccess)
    try meet(ada)
    let carl = try Shell()
    let (link, _) = try Self.invite(on: ada)
    try #require(try Self.join(carl, by: link, as: "carl").isSuccess)
    try meet(ada)
    let second = try ada.notes("members", "remove", "carl", "--yes")
    #expect(second.isSuccess && !second.text.contains("soon"), "\(second)")
  }

  @Test func `Without a hub, the command says that devices learn of it in a session`() throws {
    try #require(try ada.notes("remote", "remove", "home").isSuccess)
    let cancelled = try cancel()
    #expect(
      cancelled.text
        == "Cancelled: \(id).\nUntil the next sync with this device, bob may still let a device in by it; that device "
        + "is removed then.\n", "\(cancelled)")
  }

  // "Another member can cancel its own … If a hub was not reached, run the command again."
  @Test func `A member that is not an admin is told that the hub does not know yet`() throws {
    let carl = try Shell()
    try #require(try Self.join(carl, by: link, as: "carl").isSuccess)
    try meet(ada)
    try Self.visit(carl)
    let own = try Self.invite(on: carl, in: "desk", "--mine")
    let away = ada.folder["away.git"]
    try #require(try run(["mv", hub, away]).isSuccess)
    let cancelled = try carl.notes("invitations", "cancel", own.id, in: "desk")
    #expect(!cancelled.isSuccess && cancelled.errorText.contains("there is no repository"))
    #expect(
      cancelled.text
        == "Cancelled: \(own.id). Admins' devices learn of it at their next sync with this device. "
        + "To tell the hub, run this command again.\n", "\(cancelled)")
    try #require(try run(["mv", away, hub]).isSuccess)
    let again = try carl.notes("invitations", "cancel", own.id, in: "desk")
    #expect(again.isSuccess && again.text.contains("at the hub, or at their next sync"), "\(again)")
    let phone = try Shell()
    let refused = try Self.join(phone, by: own.link, as: "phone")
    #expect(refused.errorText.contains("the invitation was cancelled"), "\(refused)")
  }
}
