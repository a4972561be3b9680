import Git
import History
import Membership
import Notebook
import State
import System
import TestSupport
import Testing

@testable import Exchange
@testable import Watch
@testable import Web

/// notes-web(1), "Devices".
@Suite(.serialized, .timeLimit(.minutes(20))) struct DevicesPageTests {
  private let founded: FoundedFixture
  private var web: WebFixture { founded.web }

  init() throws { founded = try FoundedFixture() }

  /// Certifies another device, and returns its ID.
  private func join(
    _ name: String, as role: Role = .writer, keyIn folder: String? = nil
  ) throws -> String {
    try founded.join(name, as: role, keyIn: folder).deviceID
  }

  /// What a session in 2023 leaves behind with a device that shows the present version then.
  private func meet(_ device: String) throws {
    let seen = web.notebook.stateFolder.path + "/seen"
    let branch = try #require(try web.notebook.repository.head().branch)
    let tip = try #require(try web.tip)
    let git = ["git", "-C", web.folder.path, "update-ref"]
    try #require(try run(["mkdir", "-p", seen]).isSuccess)
    try #require(try run(["touch", "-d", "@1700000000", "\(seen)/\(device)"]).isSuccess)
    try #require(try run(git + ["refs/remotes/\(device)/\(branch)", tip.hex]).isSuccess)
  }

  /// What the page says of the devices and hubs of a name, a text each.
  private func lines(_ name: String) throws -> [String] {
    let page = try web.get("/devices")
    #expect(page.status == 200, "\(page)")
    return page.text.split(separator: "<li class=\"person\"><div>").map(String.init).filter {
      $0.hasPrefix("<b>\(name)</b>")
    }
  }

  @Test func `It shows each member, and how it stood when it was last met`() throws {
    let ben = try join("Ben", as: .reader)
    _ = try join("Cleo")
    let old = try join("Old phone", keyIn: "Old")
    try founded.membership.remove(devices: [old], by: founded.key)
    try meet(ben)
    #expect(try lines("Ann")[0].contains(">admin, this device, founder<"))
    let met = try lines("Ben")[0]
    #expect(
      met.contains(">reader, in sync, last connected <time datetime=\"2023-11-14T22:13:20Z\""),
      "\(met)")
    #expect(try lines("Cleo")[0].contains(">writer, never connected<"))
    // "Removed devices are not shown."
    #expect(try lines("Old phone").isEmpty)
    try web.folder.write("eggs\n", to: "Shopping.txt")
    _ = try web.notebook.save()
    #expect(try lines("Ben")[0].contains(">reader, lacks 1 version, last connected "))
    let page = try web.get("/devices").text
    #expect(page.contains("is not running.") && !page.contains(">Hubs</h2>"))
    #expect(page.contains(">Invite a device, as</legend>"))
    #expect(try web.get("/").text.contains("<a href=\"\(web.root)/devices\">"))
  }

  // notes-web(1), "Devices": "or, if it never was, wrote its newest version here"
  @Test func `It shows when a device last wrote that only shares a hub with this one`() throws {
    let cleo = try founded.join("Cleo")
    let repository = web.notebook.repository
    let tip = try #require(try web.tip)
    func write(at time: Int64, signedBy key: DeviceKey?, on base: ObjectID) throws -> ObjectID {
      let author = Git.Signature(
        name: "Cleo", email: "\(cleo.deviceID.lowercased())@notes.invalid", time: time, offset: 0)
      return try repository.write(
        commit: repository.commit(base).tree, parents: [base], author: author, committer: author,
        message: "Save\n",
        signedBy: key.map { key in { try VersionSignature(over: $0, by: key).armored } })
    }
    let signed = try write(at: 1_700_000_000, signedBy: cleo, on: tip)
    // Anybody can write a device's address into a version.
    let forged = try write(at: 1_700_086_400, signedBy: nil, on: signed)
    let branch = try #require(try repository.head().branch)
    let git = ["git", "-C", web.folder.path, "update-ref", "refs/heads/\(branch)", forged.hex]
    try #require(try run(git).isSuccess)
    let line = try lines("Cleo")[0]
    #expect(
      line.contains(">writer, last wrote <time datetime=\"2023-11-14T22:13:20Z\""), "\(line)")
    try meet(cleo.deviceID)
    #expect(try lines("Cleo")[0].contains(", last connected <time "))
  }

  @Test func `Devices of one name are told apart`() throws {
    let devices = try ["1", "2"].map { try join("Ben", keyIn: $0) }
    let shown = try lines("Ben")
    for device in devices {
      #expect(shown.count { $0.hasPrefix("<b>Ben</b> (\(device.prefix(8)))") } == 1, "\(shown)")
    }
  }

  // notes-web(1), "Devices": "lists the present members by person".
  @Test func `A person's devices are together below the person's name`() throws {
    _ = try join("Ben")
    let cleo = try join("Cleo")
    _ = try join("Dora")
    for (name, person) in [("Ann's & phone", founded.key.deviceID), ("tablet", cleo)] {
      _ = try founded.membership.issue(
        for: CertificateRequest(name: name, key: .loadOrCreate(in: founded.keys[name])),
        person: person, role: .reader, by: founded.key)
    }
    let page = try web.get("/devices").text
    let list = page[
      try #require(page.firstRange(of: "<div id=\"devices\""))
        .upperBound..<(try #require(page.firstRange(of: ">Invitations</h2>"))).lowerBound]
    let names = list.matches(of: #/<b[^>]*>([^<]*)</b>/#).map { String($0.1) }
    #expect(
      names == ["Ann", "Ann", "Ann&#39;s &amp; phone", "Ben", "Cleo", "Cleo", "tablet", "Dora"])
    #expect(list.split(separator: "class=\"several\"").count == 3)
    // The link to change a device says whose it is.
    #expect(list.contains("Change<span class=\"vh\"> Cleo (tablet)</span>"))
    // A person with one device left has one line again.
    try founded.membership.remove(devices: [cleo], by: founded.key)
    #expect(try lines("Cleo (tablet)").count == 1)
  }

  // notes-security(7): "one function escapes everything that is put into a page". A device's name holds no "<",
  // and is escaped like all else.
  @Test func `Markup in a name, a hub's address and an edited note's title is text`() throws {
    let script = RenderingTests.script.split(separator: "/").joined()
    let device = try join("Tom & Eve's", keyIn: "Eve")
    try web.notebook.add(Hub(name: "server", url: "https://example.org/\(script)"))
    #expect(try lines("Tom &amp; Eve&#39;s").count == 1)
    #expect(try lines("server")[0].contains(">https://example.org/&lt;script&gt;"))
    #expect(try lines("server")[0].contains(", never met<"))
    var shows = PeerState()
    shows.editing = [TreePath("<b>/\(script).txt")]
    let page = try watched(by: device, shows) { $0.contains("edits <b>&lt;script&gt;") }
    #expect(!page.contains("<script>"))
  }

  // notes-web(1), "Devices": "It names the founder and open claims of the founder's place".
  @Test func `It tells an open claim of the founder's place, and how to stop it`() throws {
    let ben = try founded.join("Ben & co", as: .admin)
    #expect(try !web.get("/devices").text.contains("founder&#39;s place"))
    try founded.membership.claim(by: ben)
    let page = try web.get("/devices").text
    #expect(
      page.contains(
        "Ben &amp; co claims to be the founder in place of Ann: this device accepts"),
      "\(page)")
    #expect(page.contains("notes members handover --stop"))
    _ = try founded.membership.stopClaims(by: founded.key)
    #expect(try !web.get("/devices").text.contains("founder&#39;s place"))
  }

  // notes-security(7), GUESTS: "No guest sees the page of the devices."
  @Test(arguments: [Role.writer, .reader]) func `A guest is refused`(role: Role) throws {
    let book = GuestBook(stateFolder: web.notebook.stateFolder)
    let guest = try web.comeIn(book.invite("Grandma", as: role).token)
    let page = try web.get("/devices", as: guest)
    #expect(page.status == 403 && !page.text.contains("this device<"))
    #expect(try !web.get("/", as: guest).text.contains("/devices"))
  }

  @Test func `Who is no admin is told who can invite`() throws {
    try founded.adopt(join("Ben"), "Ben")
    let page = try web.get("/devices").text
    #expect(page.contains("Only an admin can invite devices: <b>Ann</b>."))
    #expect(!page.contains("Invite a device") && !page.contains(">Change<"))
  }

  @Test func `A running watcher tells who is here, and edits what`() throws {
    let ben = try join("Ben")
    var shows = PeerState()
    shows.tip = try web.tip
    shows.editing = ["trips/Rome.txt", "Plan.txt"]
    let page = try watched(by: ben, shows) {
      $0.contains(">writer, here now, in sync, edits <b>Rome</b> and 1 more<")
    }
    #expect(page.contains("runs here. 1 device connected."))
  }

  @Test func `A watcher that does not answer is not said to be away`() throws {
    let socket = try FakeWatcher.socket(of: web)
    let page = try web.get("/devices").text
    #expect(page.contains("runs here, but does not report who is connected."))
    withExtendedLifetime(socket) {}
  }

  /// The page while a watcher says that a device is connected and shows this; where it never is as
  /// wanted, that is told.
  private func watched(
    by device: String, _ shows: PeerState, until isWanted: (String) -> Bool
  ) throws -> String {
    let peer = PeerIdentity(name: "Peer", deviceID: device, role: .writer, address: "192.0.2.1:9")
    let watcher = try FakeWatcher(of: web)
    watcher.peers = [(peer, shows)]
    defer { withExtendedLifetime(watcher) {} }
    // A watcher that answers too late is passed over.
    let end = Instant.now + 160
    var page = try web.get("/devices").text
    while !isWanted(page), Instant.now < end { page = try web.get("/devices").text }
    #expect(isWanted(page), "\(page)")
    return page
  }
}
