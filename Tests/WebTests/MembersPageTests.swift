import Git
import History
import Logging
import Membership
import Notebook
import System
import TestSupport
import Testing

@testable import Exchange
@testable import Watch
@testable import Web

/// notes-web(1), "Devices": what an admin's own user changes there.
@Suite(.serialized, .timeLimit(.minutes(20))) struct MembersPageTests {
  private let founded: FoundedFixture
  private var web: WebFixture { founded.web }
  private var keys: TemporaryFolder { founded.keys }
  private var key: DeviceKey { founded.key }
  private var membership: MembershipStore { founded.membership }

  init() throws { founded = try FoundedFixture() }

  // MARK: Members

  @Test func `A role is changed on a page that says what each means`() throws {
    let ben = try founded.join("Ben")
    let list = try web.get("/devices").text
    #expect(
      list.contains(
        "href=\"\(web.root)\(founded.page(of: ben))\">Change<span class=\"vh\"> Ben</span></a>"))
    #expect(!list.contains(founded.page(of: key)))
    let own = try web.get(founded.page(of: ben)).text
    #expect(own.contains("value=\"writer\" checked") && own.contains(ben.deviceID))
    #expect(own.contains("<b>reader</b>: receives changes; its own stay on it"))
    let done = try web.post(founded.page(of: ben, "/role"), [("role", "reader")])
    #expect(founded.location(done) == "/devices?done=role")
    #expect(try founded.role(ben) == .reader)
    #expect(try web.get("/devices?done=role").text.contains("The role is changed."))
    let again = try web.post(founded.page(of: ben, "/role"), [("role", "reader")])
    #expect(founded.location(again) == "/devices?done=same")
    for wrong in ["", "owner", "Reader"] {
      #expect(try web.post(founded.page(of: ben, "/role"), [("role", wrong)]).status == 400)
    }
    #expect(try founded.role(ben) == .reader)
  }

  @Test func `A member is removed on a page that says what it means`() throws {
    let (ben, cleo) = (try founded.join("Ben"), try founded.join("Cleo"))
    let asked = try web.get(founded.page(of: ben)).text
    #expect(
      asked.contains("stops exchanging notes as soon as the devices it meets learn of the removal"))
    #expect(asked.contains("those cannot be taken back") && !asked.contains("type=\"checkbox\""))
    // The form is folded away until somebody opens it.
    #expect(asked.contains("<details id=\"removal\" aria-label=\"Remove Ben\"><summary"))
    #expect(
      try founded.location(web.post(founded.page(of: ben, "/remove"), []))
        == "/devices?done=removed")
    #expect(try founded.role(ben) == nil && founded.role(cleo) == .writer)
    #expect(try web.get(founded.page(of: ben)).status == 404)
    #expect(try web.post(founded.page(of: ben, "/remove"), []).status == 404)
  }

  // "They stay, certified anew, unless --with-invited is given or the question is answered so".
  @Test(arguments: [true, false], ["/role", "/remove"])
  func `Whom an admin invited goes only where that is chosen`(goes: Bool, what: String) throws {
    let ben = try founded.join("Ben", as: .admin)
    let eve = try founded.join("Eve & Bob's", by: ben)
    let asked = try web.get(founded.page(of: ben)).text
    #expect(
      asked.contains("<b>Eve &amp; Bob&#39;s</b>, writer,") && asked.contains("let in by Ben"))
    #expect(asked.split(separator: "Also remove this device").count == 3)
    let fields = [("role", "writer")] + (goes ? [("invited", "remove")] : [])
    #expect(try web.post(founded.page(of: ben, what), fields).status == 303)
    #expect(try founded.role(ben) == (what == "/role" ? .writer : nil))
    #expect(try founded.role(eve) == (goes ? nil : .writer))
  }

  @Test func `Neither the founder, nor this device, nor who is none is changed`() throws {
    let other = try DeviceKey.loadOrCreate(in: keys["stranger"])
    func statuses(_ device: String) throws -> [Int] {
      let address = "/devices/member/" + device
      return try [web.get(address).status]
        + ["/role", "/remove"].map { try web.post(address + $0, [("role", "reader")]).status }
    }
    #expect(try statuses(key.deviceID) == Array(repeating: 409, count: 3))
    for device in [other.deviceID, "AAAA", "x.y"] {
      #expect(try statuses(device) == Array(repeating: 404, count: 3), "\(device)")
    }
    // On an admin's device that is not the founder's, and on a writer's.
    let mine = try DeviceKey.loadOrCreate(in: keys["second"])
    try #require(
      try run(["cp", "-rT", keys["second"], web.folder["keys"]]).isSuccess)
    for (role, status) in [(Role.admin, 409), (.writer, 409)] {
      _ = try membership.issue(
        for: CertificateRequest(name: "Second", key: mine), role: role, by: key)
      try founded.adopt(mine.deviceID, "Second")
      #expect(try statuses(key.deviceID) == Array(repeating: status, count: 3), "\(role)")
    }
    #expect(try web.post("/devices/invite", [("role", "writer")]).status == 409)
    #expect(try founded.role(key) == .admin)
  }

  // MARK: Invitations

  @Test func `A device joins by the code that the page shows, and the page says so`() throws {
    let (address, code, page) = try founded.invite(as: "reader")
    #expect(address == "/devices/invitation/" + code.locator)
    #expect(page.contains("The code lets one device join as a reader."))
    #expect(page.contains("<svg class=\"code\"") && page.contains("role=\"timer\""))
    #expect(try web.get("/devices").text.contains(">\(code.locator)-…</span>"))
    let port = try #require(page.firstMatch(of: #/--at [^<]*:(\d+)/#)).1
    let target = try TemporaryFolder()
    var client = PairingClient(
      code: code, name: "laptop", key: try DeviceKey.loadOrCreate(in: keys["laptop"])
    ) { _ in target["notes"] }
    client.addresses = [try #require(Address(parsing: "127.0.0.1:\(port)"))]
    let joined = try client.run { offer in
      _ = try founded.wait(for: "Somebody with the code sees the offer now.", at: address)
      return offer.role == .reader && offer.notebookName == "Home"
    }
    _ = try founded.wait(for: "<b>laptop</b> joined as a reader.</p>", at: address)
    #expect(membership.role(ofDevice: client.deviceID) == nil)
    try membership.refresh()
    #expect(membership.role(ofDevice: client.deviceID) == .reader)
    var run = SyncRun(context: joined.context)
    run.addresses = [joined.address]
    _ = try run.run()
    #expect(try target.text("notes/Shopping.txt") == "milk\n")
    #expect(try !web.get(address).text.contains(code.description))
    #expect(try web.get("/devices").text.contains("No open invitations."))
  }

  @Test func `Wrong codes are told, and end it; it is cancelled; and the page's end ends it`()
    throws
  {
    let (address, code, page) = try founded.invite(as: "writer")
    let port = try #require(page.firstMatch(of: #/--at [^<]*:(\d+)/#)).1
    let guess = try #require(InvitationCode(parsing: code.locator + "0000000000"))
    for left in [2, 1, 0] {
      var client = PairingClient(
        code: guess, name: "Eve", key: try DeviceKey.loadOrCreate(in: keys["Eve"])
      ) { [folder = keys["x"]] _ in folder }
      client.addresses = [try #require(Address(parsing: "127.0.0.1:\(port)"))]
      #expect(throws: (any Error).self) { try client.run { _ in true } }
      _ = try founded.wait(
        for: left == 0
          ? "It was closed after three wrong codes"
          : "Somebody tried a wrong code: \(left) attempt", at: address)
    }
    let second = try founded.invite(as: "admin")
    #expect(
      try founded.location(web.post(second.address + "/cancel", [])) == "/devices?done=cancelled")
    _ = try founded.wait(for: "It was cancelled.", at: second.address)
    #expect(try web.post(second.address + "/cancel", []).status == 404)
    #expect(try web.get("/devices/invitation/9x").status == 404)
    #expect(try web.post("/devices/invite", [("role", "owner")]).status == 400)
    let last = try founded.invite(as: "writer")
    let book = InvitationBook(stateFolder: web.notebook.stateFolder)
    #expect(book.open().map(\.locator) == [last.code.locator])
    web.server.stop()
    #expect(book.open().isEmpty)
  }

  @Test func `There are no more open at once than the page holds`() throws {
    for _ in 0..<8 { _ = try founded.invite(as: "writer") }
    let refused = try web.post("/devices/invite", [("role", "writer")])
    #expect(refused.status == 409 && refused.text.contains("Too many invitations are open"))
  }

  // "with the watcher, where it runs": notes-control(7), `invite`.
  @Test func `Where a watcher runs it holds the invitation open`() throws {
    let watcher = try Service(
      contexts: [SessionContext(folder: web.folder.path, key: key, membership: membership)],
      discovery: nil, listen: Address(host: "127.0.0.1", port: 0),
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
      isWatching: true, control: web.controlFolder)
    let (token, ended) = (try CancellationToken(), Latch())
    let port = BlockingQueue<UInt16>()
    startThread {
      try? watcher.run(cancellation: token) { event in
        if case .listening(_, let number) = event { port.put(number) }
      }
      ended.open()
    }
    let number = try #require(port.take(until: .now + 60))
    _ = try founded.wait(for: "runs here", at: "/devices")
    let (address, code, page) = try founded.invite(as: "writer")
    #expect(page.contains(":\(number)</code>"), "\(page)")
    #expect(try web.post(address + "/cancel", []).status == 303)
    _ = try founded.wait(for: "It was cancelled.", at: address)
    // One that the terminal opened is shown without its code, and cancelled here.
    let other = try watcher.invite(role: .reader, seconds: 600)
    let shown = try founded.wait(
      for: "Its code is shown where it was opened.", at: "/devices/invitation/" + other.locator)
    #expect(!shown.contains(other.code.description) && code != other.code)
    #expect(try web.post("/devices/invitation/\(other.locator)/cancel", []).status == 303)
    _ = try founded.wait(for: "It was cancelled.", at: "/devices/invitation/" + other.locator)
    token.cancel()
    #expect(ended.wait(until: .now + 60))
  }

  // MARK: Refusals

  // notes-security(7): "No guest sees the page of the devices."
  @Test(arguments: [Role.writer, .reader])
  func `A guest neither sees nor changes any of it`(role: Role) throws {
    let ben = try founded.join("Ben")
    let (_, code, _) = try founded.invite(as: "writer")
    let guest = try web.comeIn(
      GuestBook(stateFolder: web.notebook.stateFolder).invite("Grandma", as: role).token)
    let pages = [
      "/devices", "/devices/invitation/" + code.locator, founded.page(of: ben),
    ]
    for address in pages {
      let answer = try web.get(address, as: guest)
      #expect(answer.status == 403 && !answer.text.contains(code.description), "\(address)")
    }
    let forms = [
      "/devices/invite", "/devices/invitation/\(code.locator)/cancel",
      founded.page(of: ben, "/role"),
      founded.page(of: ben, "/remove"),
    ]
    for address in forms {
      #expect(try web.post(address, [("role", "admin")], as: guest).status == 403, "\(address)")
    }
    #expect(try founded.role(ben) == .writer)
    #expect(
      InvitationBook(stateFolder: web.notebook.stateFolder).open().map(\.locator) == [code.locator])
  }
}
