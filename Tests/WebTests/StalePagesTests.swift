import Glibc
import Membership
import Notebook
import System
import TestSupport
import Testing

@testable import Exchange
@testable import Web

/// notes-web(1), "Devices": pages that are open while what they show becomes another, in this tab's time or
/// another's.
@Suite(.serialized, .timeLimit(.minutes(20))) struct StalePagesTests {
  @Test func `What another tab did meanwhile is said, and not done again`() throws {
    let founded = try FoundedFixture()
    let (web, ben) = (founded.web, try founded.join("Ben"))
    // Both tabs ask; the first one goes on.
    for _ in 1...2 { #expect(try web.get(founded.page(of: ben)).status == 200) }
    let role = founded.page(of: ben, "/role")
    #expect(try web.post(role, [("role", "reader")]).status == 303)
    #expect(
      try founded.location(web.post(role, [("role", "reader")])) == "/devices?done=same")
    #expect(try founded.role(ben) == .reader)
    #expect(try web.post(founded.page(of: ben, "/remove"), []).status == 303)
    for (page, fields) in [("/role", [("role", "admin")]), ("/remove", [])] {
      let late = try web.post(founded.page(of: ben, page), fields)
      #expect(late.status == 404 && late.text.contains("There is no such member."), "\(page)")
      // Who hears and who types finds it.
      #expect(late.text.contains("role=\"alert\" tabindex=\"-1\" autofocus"))
    }
    #expect(try founded.role(ben) == nil)
  }

  @Test func `Who is no admin any more is told so by each page that is open`() throws {
    let founded = try FoundedFixture()
    let (web, ben) = (founded.web, try founded.join("Ben"))
    let own = try founded.join("Second", as: .admin)
    try #require(
      try run(["cp", "-rT", founded.keys["Second"], web.folder["keys"]]).isSuccess)
    try founded.adopt(own.deviceID, "Second")
    let (address, code, _) = try founded.invite(as: "writer")
    #expect(try web.get(founded.page(of: ben)).status == 200)
    try founded.membership.reissue(
      device: own.deviceID, role: .writer, removing: [], by: founded.key)
    for (page, fields) in [
      (founded.page(of: ben, "/remove"), []),
      (founded.page(of: ben, "/role"), [("role", "reader")]),
      ("/devices/invite", [("role", "admin")]),
    ] {
      let answer = try web.post(page, fields)
      #expect(answer.status == 409 && answer.text.contains("<h1>That did not work</h1>"), "\(page)")
    }
    #expect(try founded.role(ben) == .writer)
    let list = try web.get("/devices").text
    #expect(list.contains("Only an admin can invite devices"))
    #expect(!list.contains("Invite a device, as") && !list.contains(">Change<"))
    // What was opened before can be ended still, and lets nobody in.
    let page = try web.get(address).text
    let port = try #require(page.firstMatch(of: #/--at [^<]*:(\d+)/#)).1
    var client = PairingClient(
      code: code, name: "Eve", key: try DeviceKey.loadOrCreate(in: founded.keys["Eve"])
    ) { [folder = founded.keys["x"]] _ in folder }
    client.addresses = [try #require(Address(parsing: "127.0.0.1:\(port)"))]
    #expect(throws: (any Error).self) { try client.run { _ in true } }
    try founded.membership.refresh()
    #expect(founded.membership.role(ofDevice: client.deviceID) == nil)
    let ended = try web.post(address + "/cancel", [])
    #expect([303, 404].contains(ended.status))
    #expect(
      InvitationBook(stateFolder: web.notebook.stateFolder).open().isEmpty
        || ended.status == 303)
  }

  @Test func `The page of an invitation says when its time is over, and it cannot be cancelled`()
    throws
  {
    var limits = WebLimits()
    limits.invitationTime = 2
    let founded = try FoundedFixture(limits: limits)
    let (address, code, _) = try founded.invite(as: "writer")
    let page = try founded.wait(for: "It expired: nobody has joined.", at: address)
    #expect(!page.contains("<button>") && !page.contains(code.description))
    #expect(page.contains("<div id=\"outcome\" role=\"status\" data-live data-presence>"))
    let late = try founded.web.post(address + "/cancel", [])
    #expect(late.status == 404 && late.text.contains("There is no such invitation"))
    // Another one can be opened.
    #expect(try founded.invite(as: "reader").code != code)
  }

  @Test func `Pressed by all tabs at once, no more than eight invitations are open`() throws {
    let founded = try FoundedFixture()
    let web = founded.web
    let headers = [
      "Cookie: " + web.cookie, "Origin: http://" + web.host, "Content-Length: 11",
      "Content-Type: application/x-www-form-urlencoded",
    ]
    let request = WebFixture.request(
      "POST", web.root + "/devices/invite", host: web.host, headers, body: "role=writer")
    let statuses = BlockingQueue<Int>()
    for _ in 0..<12 {
      startThread { [client = web.client] in
        statuses.put((try? client.answer(to: request))?.status ?? 0)
      }
    }
    let all = try (0..<12).map { _ in try #require(statuses.take(until: .now + 120)) }
    #expect(all.count(where: { $0 == 303 }) == 8 && all.count(where: { $0 == 409 }) == 4, "\(all)")
    let book = InvitationBook(stateFolder: founded.web.notebook.stateFolder)
    #expect(book.open().count == 8)
  }

  // notes-security(7): "Each such change is a form, which another site cannot send."
  @Test func `Another site neither cancels, nor changes, nor makes anybody leave`() throws {
    let founded = try FoundedFixture()
    let (web, ben) = (founded.web, try founded.join("Ben"))
    let (address, code, _) = try founded.invite(as: "writer")
    let guest = try web.comeIn(
      GuestBook(stateFolder: web.notebook.stateFolder).invite("Grandma", as: .writer).token)
    let forms = [
      (web.browser, address + "/cancel"), (web.browser, founded.page(of: ben, "/role")),
      (web.browser, founded.page(of: ben, "/remove")), (guest, "/leave"),
    ]
    for (browser, path) in forms {
      for foreign in [
        ["Origin: https://evil.example"], [], ["Origin: null"],
        ["Origin: http://" + web.host, "Sec-Fetch-Site: same-site"],
      ] {
        let headers = [
          "Cookie: " + browser.cookie, "Content-Type: application/x-www-form-urlencoded",
          "Content-Length: 11",
        ]
        let request = WebFixture.request(
          "POST", browser.root + path, host: web.host, headers + foreign, body: "role=reader")
        #expect(try web.client.send(request).status == 403, "\(path)")
      }
      #expect(try web.get(path, as: browser).status != 303)
    }
    #expect(try founded.role(ben) == .writer && web.get("/", as: guest).status == 200)
    #expect(
      InvitationBook(stateFolder: web.notebook.stateFolder).open().map(\.locator) == [code.locator])
  }

  // notes-security(7), DEVICE AND NOTEBOOK NAMES has what a name may be.
  @Test(arguments: [
    String(repeating: "W", count: 64), "אבא של דנה", "admin, this device", "&lt;b&gt;",
    "Ben' x=\"y",
  ])
  func `Names are names, however long, and from whatever side they are read`(name: String) throws {
    let founded = try FoundedFixture()
    let (web, ben) = (founded.web, try founded.join(name, as: .admin))
    _ = try founded.join("Cleo", by: ben)
    let shown = HTML.escaped(name, .name)
    for page in ["/devices", founded.page(of: ben)] {
      let text = try web.get(page).text
      #expect(text.contains(">\(shown)<") || text.contains(">Remove \(shown)<"), "\(page): \(text)")
      // In an element of its own, which the style sheet isolates from what stands around it.
      #expect(text.contains("<b>\(shown)</b>") || page == founded.page(of: ben), "\(page)")
    }
  }
}
