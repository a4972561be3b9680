import Git
import Glibc
import History
import Membership
import Notebook
import System
import TestSupport
import Testing

@testable import Web

/// notes-web(1), `--all`: the notebooks of a device, each below a path of its own.
@Suite(.serialized) struct ShelfTests {
  private let folder: TemporaryFolder
  private let server: WebServer
  private let client: HTTPClient
  private let browser: WebFixture.Browser
  private static let ids = ["HOMEHOMEHOMEHOME22", "WORKWORKWORKWORK22"]

  init() throws {
    folder = try TemporaryFolder()
    for (name, id) in zip(["Home", "Work"], Self.ids) {
      _ = try Notebook.prepare(at: folder[name])
      let notebook = try Notebook.adopt(
        at: folder[name],
        as: NotebookIdentity(
          id: id, name: "\(name) & <b>",
          device: DeviceIdentity(name: "Ann", deviceID: "ABC234")))
      try folder.write("only in \(name)\n", to: "\(name)/\(name) plan.txt")
      _ = try notebook.save()
    }
    server = try WebServer(
      folders: [folder["Home"], folder["Work"]], isOfAll: true, dataFolder: folder["keys"], port: 0,
      network: WebNetwork(name: "desk.local", addresses: ["127.0.0.2"], isNamePublished: true))
    client = HTTPClient(port: server.port)
    let link = try #require(server.link)
    let path = "/" + link.split(separator: "/").dropFirst(2).joined(separator: "/")
    browser = try WebFixture.Browser(
      client.send(WebFixture.request("GET", path, host: "127.0.0.1:\(server.port)")))
  }

  private var host: String { "127.0.0.1:\(server.port)" }
  private var home: String { "\(browser.root)/" + Self.ids[0].prefix(16).lowercased() }
  private var work: String { "\(browser.root)/" + Self.ids[1].prefix(16).lowercased() }

  private func get(_ path: String, _ cookie: String? = nil) throws -> Answer {
    try client.send(
      WebFixture.request("GET", path, host: host, ["Cookie: " + (cookie ?? browser.cookie)]))
  }

  private func post(_ path: String, _ body: String, _ cookie: String? = nil) throws -> Answer {
    let headers = [
      "Cookie: " + (cookie ?? browser.cookie), "Origin: http://" + host,
      "Content-Type: application/x-www-form-urlencoded", "Content-Length: \(body.utf8.count)",
    ]
    return try client.send(WebFixture.request("POST", path, host: host, headers, body: body))
  }

  private func guest(of name: String, _ guest: String) throws -> WebFixture.Browser {
    let token = try GuestBook(stateFolder: folder[name] + "/.git/notes").invite(guest, as: .writer)
      .token
    return try WebFixture.Browser(post("/guest/" + token, "name=", ""))
  }

  @Test func `The first page lists them, and each has its notes`() throws {
    let list = try get(browser.root + "/")
    #expect(list.status == 200 && list.headers["content-security-policy"] != nil)
    for (path, name) in [(home, "Home"), (work, "Work")] {
      #expect(
        list.text.contains("<a href=\"\(path)/\">\(name) &amp; &lt;b&gt;</a>"), "\(list.text)")
      let page = try get(path + "/").text
      #expect(
        page.contains("\(name) plan") && page.contains("<a href=\"\(browser.root)/\">Notebooks</a>")
      )
      #expect(page.contains("data-root=\"\(path)\""))
    }
    #expect(try get(browser.root + "/style.css").status == 200)
    #expect(try !get(home + "/").text.contains("Work plan"))
    // Drafts are kept by the notebook.
    let drafts = try [home, work].map { path in
      try #require(get(path + "/").text.firstMatch(of: #/data-drafts="([^"]+)"/#)).1
    }
    #expect(drafts[0] != drafts[1])
  }

  @Test func `What is written goes into the notebook whose page it is`() throws {
    #expect(try post(work + "/new", "title=New&text=x").status == 303)
    #expect(try folder.text("Work/New.txt") == "x\n")
    #expect(access(folder["Home/New.txt"], F_OK) != 0)
  }

  @Test func `A guest of one sees nothing of the others`() throws {
    let ben = try guest(of: "Work", "Ben")
    #expect(try get(ben.root + "/", ben.cookie).text.contains("Work plan"))
    let note = try #require(
      try Notebook.open(at: folder["Home"]).history.notes().first { $0.path == "Home plan.txt" })
    let name = Self.ids[0].prefix(16).lowercased()
    for path in [
      home + "/", browser.root + "/", work + "/", "\(home)/n/\(note.id)", "/\(name)/",
    ] {
      #expect(try get(path, ben.cookie).status == 401, "\(path)")
    }
    for path in ["/n/\(note.id)", "/\(name)/", "/\(name)/n/\(note.id)"] {
      let answer = try get(ben.root + path, ben.cookie)
      #expect(answer.status == 404 && !answer.text.contains("only in Home"), "\(path)")
    }
    #expect(try post(home + "/new", "title=Evil&text=x", ben.cookie).status == 401)
    #expect(try post(ben.root + "/\(name)/new", "title=Evil&text=x", ben.cookie).status == 404)
    // One of that name in another notebook is another one.
    let other = try guest(of: "Home", "Ben")
    #expect(try get(other.root + "/", other.cookie).text.contains("Home plan"))
    #expect(try get(other.root + "/", ben.cookie).status == 401)
    #expect(try !get(ben.root + "/", ben.cookie).text.contains("Notebooks</a>"))
  }

  @Test func `Paths that are no notebook's lead nowhere, and forms of other sites neither`() throws
  {
    for path in ["/x", "/" + Self.ids[0], "/../etc", "/page.js", "/events", "/new", "/devices"] {
      #expect(try get(browser.root + path).status == 404, "\(path)")
    }
    #expect(try post(browser.root + "/", "x=y").status == 404)
    let body = "title=Evil&text=x"
    let foreign = WebFixture.request(
      "POST", work + "/new", host: host,
      [
        "Cookie: " + browser.cookie, "Origin: https://evil.example",
        "Content-Type: application/x-www-form-urlencoded", "Content-Length: \(body.utf8.count)",
      ], body: body)
    #expect(try client.send(foreign).status == 403)
    #expect(try get(browser.root + "/", "notes=x").status == 401)
    #expect(access(folder["Work/Evil.txt"], F_OK) != 0)
  }

  @Test func `Pages are told of their own notebook, and a guest's leave with that guest alone`()
    throws
  {
    func follow(_ root: String, _ cookie: String) throws -> Int32 {
      let socket = try client.connect()
      client.write(
        "GET \(root)/events HTTP/1.1\r\nHost: \(host)\r\nCookie: \(cookie)\r\n\r\n", to: socket)
      _ = try client.read(from: socket) { String(decoding: $0, as: UTF8.self).contains("ready") }
      return socket
    }
    func save(_ name: String, _ text: String) throws {
      try folder.write(text, to: "\(name)/\(name) plan.txt")
      _ = try Notebook.open(at: folder[name]).save()
    }
    let ben = try guest(of: "Work", "Ben")
    let sockets = try [
      follow(home, browser.cookie), follow(work, browser.cookie), follow(ben.root, ben.cookie),
    ]
    defer { for socket in sockets { close(socket) } }
    func wait(_ socket: Int32) throws {
      _ = try client.read(from: socket) { String(decoding: $0, as: UTF8.self).contains("changed") }
    }
    try save("Work", "eggs\n")
    try wait(sockets[1])
    try wait(sockets[2])
    // Home's book of guests, which has no Ben, ends nothing of Ben's.
    let homeGuest = try guest(of: "Home", "Eve")
    _ = try GuestBook(stateFolder: folder["Home/.git/notes"]).remove("Eve")
    #expect(try get(homeGuest.root + "/", homeGuest.cookie).status == 401)
    try save("Home", "oats\n")
    let told = try client.read(from: sockets[0]) {
      String(decoding: $0, as: UTF8.self).contains("changed")
    }
    #expect(!told.isEmpty)
    try save("Work", "figs\n")
    try wait(sockets[2])
    _ = try GuestBook(stateFolder: folder["Work/.git/notes"]).remove("Ben")
    // Ends when the server closes.
    _ = try client.read(from: sockets[2])
  }

  // "with --lan too": guests alone, each of one notebook.
  @Test func `On the network guests of each notebook come in, and the list is not there`() throws {
    let origin = "https://desk.local:\(server.port)"
    func curl(_ words: String...) throws -> Answer? {
      let resolve = "desk.local:\(server.port):127.0.0.2"
      let result = try run(["curl", "-sSki", "-m", "60", "--resolve", resolve] + words)
      return Answer(result.output)
    }
    for path in [browser.root + "/", work + "/"] {
      #expect(try curl("-H", "Cookie: " + browser.cookie, origin + path)?.status == 403)
    }
    for name in ["Home", "Work"] {
      let token = try GuestBook(stateFolder: folder[name] + "/.git/notes").invite(
        "Ben", as: .reader
      )
      .token
      let opened = try #require(
        try curl("-H", "Origin: " + origin, "--data", "name=", origin + "/guest/" + token))
      let set = try #require(opened.headers["set-cookie"])
      #expect(set.hasPrefix("__Host-notes-") && set.contains("; Secure"))
      let root = try #require(opened.text.firstMatch(of: #/url=(\/[a-z0-9]+)\//#)).1
      let page = try curl("-H", "Cookie: " + set.prefix { $0 != ";" }, "\(origin)\(root)/")
      #expect(page?.text.contains("\(name) plan") == true, "\(name)")
    }
  }

  @Test func `A notebook that is away is said to be, and the others stay`() throws {
    try #require(rename(folder["Home"], folder["Elsewhere"]) == 0)
    let list = try get(browser.root + "/").text
    #expect(list.contains("not there now") && list.contains("Work &amp; &lt;b&gt;</a>"))
    #expect(try get(home + "/").status >= 400)
    #expect(try get(work + "/").status == 200)
  }
}
