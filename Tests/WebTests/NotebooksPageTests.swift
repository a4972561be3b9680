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
@Suite(.serialized) struct NotebooksPageTests {
  private let shelf: NotebooksFixture
  private var folder: TemporaryFolder { shelf.folder }
  private var browser: WebFixture.Browser { shelf.browser }
  private var home: String { shelf.root(of: "Home") }
  private var work: String { shelf.root(of: "Work") }

  init() throws { shelf = try NotebooksFixture(["Home", "Work"]) }

  @Test func `The first page lists them, and each has its notes`() throws {
    let list = try shelf.get(browser.root + "/")
    #expect(list.status == 200 && list.headers["content-security-policy"] != nil)
    for (path, name) in [(home, "Home"), (work, "Work")] {
      #expect(
        list.text.contains(
          "href=\"\(path)/\">\n<span class=\"row-top\"><span class=\"row-title\" dir=\"auto\">\(name) &amp; &lt;b&gt;</span>"
        ),
        "\(list.text)")
      let page = try shelf.get(path + "/").text
      #expect(
        page.contains("\(name) plan") && page.contains("href=\"\(browser.root)/\"")
          && page.contains("<span>Notebooks</span>")
      )
      #expect(page.contains("data-root=\"\(path)\""))
    }
    #expect(try shelf.get(browser.root + "/style.css").status == 200)
    #expect(try !shelf.get(home + "/").text.contains("Work plan"))
    // Drafts are kept by the notebook.
    let drafts = try [home, work].map { path in
      try #require(shelf.get(path + "/").text.firstMatch(of: #/data-drafts="([^"]+)"/#)).1
    }
    #expect(drafts[0] != drafts[1])
  }

  @Test func `What is written goes into the notebook whose page it is`() throws {
    #expect(try shelf.post(work + "/new", "title=New&text=x").status == 303)
    #expect(try folder.text("Work/New.txt") == "x\n")
    #expect(access(folder["Home/New.txt"], F_OK) != 0)
  }

  @Test func `A guest of one sees nothing of the others`() throws {
    let ben = try shelf.guest(of: "Work", "Ben")
    #expect(try shelf.get(ben.root + "/", ben.cookie).text.contains("Work plan"))
    let note = try #require(
      try Notebook.open(at: folder["Home"]).history.notes().first { $0.path == "Home plan.txt" })
    let name = shelf.pathName("Home")
    for path in [
      home + "/", browser.root + "/", work + "/", "\(home)/n/\(note.id)", "/\(name)/",
    ] {
      #expect(try shelf.get(path, ben.cookie).status == 401, "\(path)")
    }
    for path in ["/n/\(note.id)", "/\(name)/", "/\(name)/n/\(note.id)"] {
      let answer = try shelf.get(ben.root + path, ben.cookie)
      #expect(answer.status == 404 && !answer.text.contains("only in Home"), "\(path)")
    }
    #expect(try shelf.post(home + "/new", "title=Evil&text=x", ben.cookie).status == 401)
    #expect(
      try shelf.post(ben.root + "/\(name)/new", "title=Evil&text=x", ben.cookie).status == 404)
    // One of that name in another notebook is another one.
    let other = try shelf.guest(of: "Home", "Ben")
    #expect(try shelf.get(other.root + "/", other.cookie).text.contains("Home plan"))
    #expect(try shelf.get(other.root + "/", ben.cookie).status == 401)
    #expect(try !shelf.get(ben.root + "/", ben.cookie).text.contains("<span>Notebooks</span>"))
  }

  @Test func `Paths that are no notebook's lead nowhere, and forms of other sites neither`() throws
  {
    for path in ["/x", "/homehome", "/../etc", "/new", "/devices"] {
      #expect(try shelf.get(browser.root + path).status == 404, "\(path)")
    }
    #expect(try shelf.post(browser.root + "/", "x=y").status == 404)
    let body = "title=Evil&text=x"
    let foreign = WebFixture.request(
      "POST", work + "/new", host: shelf.host,
      [
        "Cookie: " + browser.cookie, "Origin: https://evil.example",
        "Content-Type: application/x-www-form-urlencoded", "Content-Length: \(body.utf8.count)",
      ], body: body)
    #expect(try shelf.client.send(foreign).status == 403)
    #expect(try shelf.get(browser.root + "/", "notes=x").status == 401)
    #expect(access(folder["Work/Evil.txt"], F_OK) != 0)
  }

  @Test func `Pages are told of their own notebook, and a guest's leave with that guest alone`()
    throws
  {
    let ben = try shelf.guest(of: "Work", "Ben")
    let sockets = try [
      shelf.follow(home, browser.cookie), shelf.follow(work, browser.cookie),
      shelf.follow(ben.root, ben.cookie),
    ]
    defer { for socket in sockets { close(socket) } }
    try shelf.save("Work", "eggs\n")
    try shelf.wait(sockets[1])
    try shelf.wait(sockets[2])
    // Home's book of guests, which has no Ben, ends nothing of Ben's.
    let homeGuest = try shelf.guest(of: "Home", "Eve")
    _ = try shelf.book(of: "Home").remove("Eve")
    #expect(try shelf.get(homeGuest.root + "/", homeGuest.cookie).status == 401)
    try shelf.save("Home", "oats\n")
    try shelf.wait(sockets[0])
    try shelf.save("Work", "figs\n")
    try shelf.wait(sockets[2])
    _ = try shelf.book(of: "Work").remove("Ben")
    // Ends when the server closes.
    _ = try shelf.client.read(from: sockets[2])
  }

  // "with --lan too": guests alone, each of one notebook.
  @Test func `On the network guests of each notebook come in, and the list is not there`() throws {
    let origin = "https://desk.local:\(shelf.server.port)"
    func curl(_ words: String...) throws -> Answer? {
      let resolve = "desk.local:\(shelf.server.port):127.0.0.2"
      let result = try run(["curl", "-sSki", "-m", "60", "--resolve", resolve] + words)
      return Answer(result.output)
    }
    for path in [browser.root + "/", work + "/"] {
      #expect(try curl("-H", "Cookie: " + browser.cookie, origin + path)?.status == 403)
    }
    for name in ["Home", "Work"] {
      let token = try shelf.book(of: name).invite("Ben", as: .reader).token
      let opened = try #require(
        try curl("-H", "Origin: " + origin, "--data", "name=", origin + "/guest/" + token))
      let set = try #require(opened.headers["set-cookie"])
      #expect(set.hasPrefix("__Host-notes-") && set.contains("; Secure"))
      let root = try #require(opened.text.firstMatch(of: #/url=(\/[a-z0-9]+)\//#)).1
      let page = try curl("-H", "Cookie: " + set.prefix { $0 != ";" }, "\(origin)\(root)/")
      #expect(page?.text.contains("\(name) plan") == true, "\(name)")
    }
  }
}
