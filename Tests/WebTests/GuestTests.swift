import Git
import Glibc
import History
import Membership
import Notebook
import State
import System
import TestSupport
import Testing

@testable import Web

/// notes-security(7), GUESTS.
@Suite(.serialized) struct GuestTests {
  let web: WebFixture

  init() throws { web = try WebFixture() }

  private var book: GuestBook { GuestBook(stateFolder: web.notebook.stateFolder) }

  private func invite(_ name: String? = nil, as role: Role = .writer) throws -> String {
    try book.invite(name, as: role).token
  }

  private func edit(_ text: String, as guest: WebFixture.Browser) throws -> Answer {
    let note = try web.address("Shopping.txt")
    return try web.save(text, by: web.page(note + "/edit", as: guest), as: guest)
  }

  @Test func `A guest gives a name once, and versions carry it`() throws {
    let token = try invite()
    let asked = try web.client.send(
      WebFixture.request("GET", "/guest/" + token, host: web.host))
    #expect(asked.status == 200 && asked.text.contains("Your name") && asked.text.contains("Ann"))
    #expect(!asked.text.contains("milk") && asked.headers["set-cookie"] == nil)
    // "Opening it does not"
    let style = try web.client.send(
      WebFixture.request("GET", "/guest/\(token)/style.css", host: web.host))
    #expect(style.status == 200)
    let grandma = try web.comeIn(token, name: "Grandma")
    #expect(try web.get("/", as: grandma).text.contains("You are <b>Grandma</b>, a guest, writer"))
    // What an editor wrote before is the device's own.
    try web.folder.write("milk\neggs\n", to: "Shopping.txt")
    #expect(try edit("milk\neggs\nsherry\n", as: grandma).status == 303)
    let log = try run(
      ["git", "-C", web.folder.path, "log", "--format=%an|%ae|%cn|%ce"]
    ).lines
    // Its key is not there.
    #expect(
      log.prefix(2) == [
        "Grandma (via Ann)|unsigned@notes.invalid|Ann|unsigned@notes.invalid",
        "Ann|unsigned@notes.invalid|Ann|unsigned@notes.invalid",
      ], "\(log)")
    let page = try web.get(web.address("Shopping.txt") + "/versions")
    #expect(page.text.contains("<b>Grandma (via Ann)</b>") && page.text.contains("<b>Ann</b>"))
  }

  // "the author NAME (via DEVICE)": a device's name alone is nobody's but the device's.
  @Test func `A guest of a device's name is told from the device`() throws {
    let guest = try web.comeIn(invite(), name: "Ann")
    #expect(try edit("milk\ntea\n", as: guest).status == 303)
    let log = try run(["git", "-C", web.folder.path, "log", "-1", "--format=%an|%cn"]).lines
    #expect(log == ["Ann (via Ann)|Ann"])
  }

  @Test func `All that a guest does carries the name`() throws {
    let guest = try web.comeIn(invite("Grandma"))
    func author() throws -> String {
      try run(["git", "-C", web.folder.path, "log", "-1", "--format=%an"]).lines[0]
    }
    #expect(try web.post("/new", [("title", "Plan"), ("text", "x")], as: guest).status == 303)
    #expect(try author() == "Grandma (via Ann)")
    let note = try web.address("Plan.txt")
    for (page, fields) in [
      (note + "/rename", [("title", "Plans")]), (note + "/delete", []), (note, []), ("/undo", []),
    ] {
      let form = try web.action(in: web.get(page, as: guest))
      #expect(try web.post(form, fields, as: guest).status == 303)
      #expect(try author() == "Grandma (via Ann)", "\(page)")
    }
    #expect(try author() == "Grandma (via Ann)")
    // And what the user of the device does does not.
    #expect(try web.post("/new", [("title", "Own"), ("text", "x")]).status == 303)
    #expect(try author() == "Ann")
  }

  @Test func `A link is good once, for a day, and for the name that it has`() throws {
    let token = try invite("Grandma")
    let guest = try web.comeIn(token, name: "Somebody else")
    #expect(try web.get("/", as: guest).text.contains("You are <b>Grandma</b>"))
    func open(_ method: String) throws -> Answer {
      try web.client.send(
        WebFixture.request(
          method, "/guest/" + token, host: web.host, ["Origin: http://" + web.host]))
    }
    // It leads whoever is in to the notes again, and lets nobody in.
    let again = try open("GET")
    #expect(again.status == 200 && again.headers["set-cookie"] == nil)
    #expect(again.text.contains("url=\(guest.root)/\""))
    #expect(try open("POST").status == 401)
    _ = try book.remove("Grandma")
    #expect(try open("GET").status == 401)
    let day = GuestInvitation.lifetime
    let old = try book.invite("Old", as: .reader, now: WallClock.now() - day).token
    let late = WebFixture.request("GET", "/guest/" + old, host: web.host)
    let refused = try web.client.send(late)
    #expect(refused.status == 401 && refused.text.contains("Ask the person who sent it"))
    #expect(refused.text.contains("href=\"/style.css\"") && !refused.text.contains("Home"))
    let style = WebFixture.request("GET", "/style.css", host: web.host)
    #expect(try web.client.send(style).status == 200)
    #expect(try book.invitations().isEmpty)
  }

  @Test(arguments: [
    ("", "cannot be empty"), ("<script>alert(1)</script>", "U+003C"),
    ("a\u{1B}[2Jb", "U+001B"), ("a\nb", "U+000A"), ("Grand\u{202E}ma", "U+202E"),
    ("Grand\u{200B}ma", "U+200B"), ("a/b", "U+002F"), (".git", "cannot begin"),
    (String(repeating: "x", count: 65), "at most 64"),
    (String(repeating: "x", count: 100_000), "at most 64"),
    ("GRANDMA", "guest is already called"),
  ])
  func `A name that is none, or somebody's, is refused`(name: String, reason: String) throws {
    _ = try web.comeIn(invite("Grandma"))
    let token = try invite()
    let answer = try web.introduce(token, name: name)
    #expect(answer.status == 409 && answer.text.contains(reason), "\(answer)")
    #expect(!answer.text.contains("<script>"))
    #expect(answer.text.contains("value=\"\(HTML.escaped(name, .field))\""))
    #expect(answer.headers["set-cookie"] == nil)
    // The link stays good.
    #expect(try web.introduce(token, name: "Ben").status == 200)
    #expect(try book.guests().map(\.name) == ["Grandma", "Ben"])
  }

  @Test func `A reader looks at everything and changes nothing`() throws {
    let grandpa = try web.comeIn(invite("Grandpa", as: .reader))
    let note = try web.address("Shopping.txt")
    let version = try #require(try web.tip).hex
    for page in ["/", note, note + "/versions", "\(note)/v/\(version)", "/deleted", "/?q=milk"] {
      let answer = try web.get(page, as: grandpa)
      #expect(answer.status == 200 && !answer.text.contains("method=\"post\""), "\(page)")
      #expect(!answer.text.contains("/edit\"") && !answer.text.contains("/new\""), "\(page)")
    }
    let before = try web.tip
    let form = try web.action(in: web.page(note + "/edit"))
    let forms =
      ["/edit", "/rename", "/delete", "/settle"].map { note + $0 } + ["/new", "/undo", form]
    for page in forms { #expect(try web.get(page, as: grandpa).status == 403, "\(page)") }
    let fields = [("title", "Evil"), ("text", "x"), (String(form.suffix(40)), "x")]
    let acts = ["/restore", "/copy/\(version)", "/settle/\(version)", "/rename/\(version)"]
    for page in forms + acts.map({ note + $0 }) + ["/save", "/undo/\(version)", "/", note] {
      #expect(try web.post(page, fields, as: grandpa).status == 403, "\(page)")
    }
    #expect(try web.tip == before && web.text("Shopping.txt") == "milk\n")
    // The role holds from the next request on.
    _ = try book.setRole(.writer, of: "grandpa")
    #expect(try web.post("/new", fields, as: grandpa).status == 303)
    _ = try book.setRole(.reader, of: "Grandpa")
    #expect(try web.post("/new", fields, as: grandpa).status == 403)
  }

  // "When a form is complete, the page checks its sender again"
  @Test func `Who becomes a reader, or is sent away, while a form is coming changes nothing`()
    throws
  {
    let before = try web.tip
    for isRemoved in [false, true] {
      let guest = try web.comeIn(invite("Grandma"))
      let body = "title=Late&text=x"
      let headers = [
        "Cookie: " + guest.cookie, "Origin: http://" + web.host,
        "Content-Type: application/x-www-form-urlencoded", "Content-Length: \(body.utf8.count)",
      ]
      let form = WebFixture.request(
        "POST", guest.root + "/new", host: web.host, headers, body: String(body.dropLast(4)))
      let socket = try web.client.connect()
      defer { close(socket) }
      web.client.write(form, to: socket)
      // Another answer of the same server: the head has been read by then.
      try #require(try web.get("/", as: guest).status == 200)
      if isRemoved {
        _ = try book.remove("Grandma")
      } else {
        _ = try book.setRole(.reader, of: "Grandma")
      }
      web.client.write(String(body.suffix(4)), to: socket)
      let answer = Answer(try web.client.read(from: socket))
      // Who is sent away has no connection any more, or is told so.
      #expect(answer.map { $0.status == (isRemoved ? 401 : 403) } ?? isRemoved, "\(answer as Any)")
      #expect(try web.tip == before)
      if !isRemoved { _ = try book.remove("Grandma") }
    }
  }

  // "It also deletes the kept notes when a removed guest next opens the page with a connection.": a 401 says so to
  // the page.
  @Test func `A book that cannot be read sends nobody away`() throws {
    let guest = try web.comeIn(invite("Grandma"))
    #expect(try web.get("/", as: guest).status == 200)
    let file = web.folder[".git/notes/guests"]
    try #require(chmod(file, 0o660) == 0)
    let answer = try web.get("/", as: guest)
    #expect(answer.status == 503 && answer.text.contains("Cannot check guests right now"))
    #expect(
      try web.get("/", as: WebFixture.Browser(cookie: "other=1", root: guest.root)).status == 401)
    try #require(chmod(file, 0o600) == 0)
    #expect(try web.get("/", as: guest).status == 200)
  }

  @Test func `Who is sent away is out at once, and so are its open pages`() throws {
    let guest = try web.comeIn(invite("Grandma"))
    let stays = try web.comeIn(invite("Grandpa"))
    func events(_ browser: WebFixture.Browser) throws -> Int32 {
      let socket = try web.client.connect()
      let headers = ["Host: " + web.host, "Cookie: " + browser.cookie]
      web.client.write(
        (["GET \(browser.root)/events HTTP/1.1"] + headers + ["", ""]).joined(separator: "\r\n"),
        to: socket)
      _ = try web.client.read(from: socket) {
        String(decoding: $0, as: UTF8.self).contains("ready")
      }
      return socket
    }
    let (gone, staying) = (try events(guest), try events(stays))
    defer {
      close(gone)
      close(staying)
    }
    _ = try book.remove("grandma")
    #expect(try web.get("/", as: guest).status == 401)
    #expect(try web.post("/new", [("title", "Evil")], as: guest).status == 401)
    // Ends when the server closes.
    let rest = try web.client.read(from: gone)
    #expect(!String(decoding: rest, as: UTF8.self).contains("changed"))
    try web.folder.write("oats\n", to: "Shopping.txt")
    _ = try web.notebook.save()
    _ = try web.client.read(from: staying) {
      String(decoding: $0, as: UTF8.self).contains("changed")
    }
    // Another one of that name is another one.
    _ = try web.comeIn(invite("Grandma"))
    #expect(try web.get("/", as: guest).status == 401)
  }

  // "guests can undo only their own changes", "after the page has shown which words it changed".
  @Test func `A guest undoes the guest's own last change`() throws {
    let (guest, other) = (try web.comeIn(invite("Grandma")), try web.comeIn(invite("Ben")))
    #expect(try web.get("/undo", as: guest).text.contains("There is nothing to undo"))
    _ = try edit("oat milk\n", as: guest)
    _ = try web.post("/new", [("title", "Own"), ("text", "own words")])
    let owners = try web.get("/undo")
    #expect(owners.text.contains("<ins>own words</ins>"), "\(owners.text)")
    let page = try web.get("/undo", as: guest)
    #expect(
      page.text.contains("<ins>oat </ins>milk") && !page.text.contains("own words"), "\(page.text)")
    #expect(try web.get("/undo", as: other).text.contains("There is nothing to undo"))
    for (form, sender) in [(owners, guest), (owners, other), (page, other)] {
      #expect(try web.post(web.action(in: form), [], as: sender).status == 403)
    }
    #expect(try web.text("Shopping.txt") == "oat milk\n")
    #expect(try web.post(web.action(in: page), [], as: guest).status == 303)
    #expect(try web.text("Shopping.txt") == "milk\n" && web.text("Own.txt") == "own words\n")
    #expect(try web.get("/undo", as: guest).text.contains("There is nothing to undo"))
    #expect(try web.post(web.action(in: page), [], as: guest).status == 403)
  }

  // An edit of an older text is merged: what the guest did is the edit, not the merge.
  @Test func `A guest undoes an edit that was merged`() throws {
    let guest = try web.comeIn(invite("Grandma"))
    try web.folder.write("milk\n\n\n\ntea\n", to: "Shopping.txt")
    _ = try web.notebook.save()
    let form = try web.page(web.address("Shopping.txt") + "/edit", as: guest)
    try web.folder.write("milk\n\n\n\ngreen tea\n", to: "Shopping.txt")
    _ = try web.notebook.save()
    _ = try web.save("oat milk\n\n\n\ntea\n", by: form, as: guest)
    #expect(try web.text("Shopping.txt") == "oat milk\n\n\n\ngreen tea\n")
    let page = try web.get("/undo", as: guest)
    #expect(
      page.text.contains("<ins>oat </ins>milk") && !page.text.contains("green"), "\(page.text)")
    #expect(try web.post(web.action(in: page), [], as: guest).status == 303)
    #expect(try web.text("Shopping.txt") == "milk\n\n\n\ngreen tea\n")
  }

  // "If a guest was removed and is invited again under the same name, the texts are still in the same browser."
  @Test func `A guest who is invited again has the same drafts, and no other`() throws {
    func drafts(_ name: String) throws -> String {
      try web.value("data-drafts=\"", in: web.get("/", as: web.comeIn(invite(name))))
    }
    let names = ["Grandma", "Grandma: 2", "Ben"]
    let before = try names.map(drafts)
    for name in names { _ = try GuestBook(stateFolder: web.notebook.stateFolder).remove(name) }
    #expect(try names.map(drafts) == before)
    let all = try before + [web.value("data-drafts=\"", in: web.get("/"))]
    #expect(
      Set(all).count == 4 && !all.contains { one in all.contains { $0.hasPrefix(one + ":") } })
  }

  @Test func `A guest stays one when the page is served again`() throws {
    let guest = try web.comeIn(invite("Grandma"))
    try web.serveAgain()
    #expect(try web.get("/", as: guest).status == 200)
    #expect(try web.get("/").status == 401)
  }

  // "gives nobody access who reads it"
  @Test func `The file of the guests lets nobody in`() throws {
    let token = try invite("Grandpa")
    let guest = try web.comeIn(invite("Grandma"))
    let path = web.notebook.stateFolder.path + "/guests"
    let text = String(decoding: try readFile(path), as: UTF8.self)
    let secrets = [token, String(guest.cookie.dropFirst(6)), String(guest.root.dropFirst())]
    #expect(text.contains("Grandma") && secrets.allSatisfy { !text.contains($0) })
    #expect(try run(["stat", "-c", "%a", path]).lines == ["600"])
    for word in text.split(whereSeparator: \.isWhitespace).map(String.init) {
      for path in [word, String(word.prefix(26))] {
        let answer = try web.client.send(
          WebFixture.request("GET", "/\(path)/", host: web.host, ["Cookie: notes=" + word]))
        #expect(answer.status != 200)
      }
      let link = WebFixture.request("GET", "/guest/" + word, host: web.host)
      #expect(try web.client.send(link).status != 200)
    }
  }

  @Test func `One guest's cookie is good for one guest's path`() throws {
    let grandma = try web.comeIn(invite("Grandma"))
    let grandpa = try web.comeIn(invite("Grandpa", as: .reader))
    for (cookie, root) in [
      (grandpa.cookie, grandma.root), (grandma.cookie, web.root), (web.cookie, grandma.root),
      ("notes=", grandma.root), ("notes=aaaa", grandma.root),
    ] {
      let browser = WebFixture.Browser(cookie: cookie, root: root)
      #expect(try web.get("/", as: browser).status == 401)
    }
  }

  @Test func `Another site cannot take a link`() throws {
    let token = try invite()
    for headers in [
      ["Origin: https://evil.example"], [], ["Origin: null"],
      ["Origin: http://" + web.host, "Sec-Fetch-Site: cross-site"],
    ] {
      let request = WebFixture.request(
        "POST", "/guest/" + token, host: web.host,
        headers + ["Content-Type: application/x-www-form-urlencoded", "Content-Length: 8"],
        body: "name=Eve")
      #expect(try web.client.send(request).status == 403)
    }
    // But a link in a mail can be opened.
    let opened = WebFixture.request(
      "GET", "/guest/" + token, host: web.host, ["Sec-Fetch-Site: cross-site"])
    #expect(try web.client.send(opened).status == 200)
    #expect(try book.guests().isEmpty)
  }

  @Test func `Guessed links, paths and cookies are refused`() throws {
    let guest = try web.comeIn(invite("Grandma"))
    let statuses = try (0..<200).map { number -> Int in
      let guess = String(repeating: "a", count: 49) + String(100 + number)
      let paths = ["/guest/" + guess, guest.root + "/", "/" + guess.prefix(26) + "/"]
      return try web.client.send(
        WebFixture.request(
          "GET", paths[number % 3], host: web.host, ["Cookie: notes=" + guess])
      ).status
    }
    #expect(Set(statuses).isSubset(of: [401, 429]) && statuses.contains(401))
    #expect(try web.get("/", as: guest).status == 200)
  }

  @Test func `There are no more guests and links than the book has room for`() throws {
    for number in 0..<64 { _ = try invite("Guest \(number)") }
    #expect(throws: GuestError.tooMany(64)) { try invite() }
    _ = try book.remove("Guest 7")
    _ = try invite()
  }

  @Test func `One guest's pages take the place of that guest's alone`() throws {
    let guest = try web.comeIn(invite("Grandma"))
    var sockets: [Int32] = []
    defer { for socket in sockets { close(socket) } }
    for browser in [web.browser] + Array(repeating: guest, count: 8) {
      let socket = try web.client.connect()
      sockets.append(socket)
      web.client.write(
        "GET \(browser.root)/events HTTP/1.1\r\nHost: \(web.host)\r\nCookie: \(browser.cookie)\r\n\r\n",
        to: socket)
      _ = try web.client.read(from: socket) {
        String(decoding: $0, as: UTF8.self).contains("ready")
      }
    }
    for socket in sockets[1...2] { _ = try web.client.read(from: socket) }
    try web.folder.write("oats\n", to: "Shopping.txt")
    _ = try web.notebook.save()
    for socket in [sockets[0]] + sockets[3...] {
      _ = try web.client.read(from: socket) {
        String(decoding: $0, as: UTF8.self).contains("changed")
      }
    }
  }
}
