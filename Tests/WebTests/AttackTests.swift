import Git
import Glibc
import History
import Membership
import NIOHTTP1
import Notebook
import System
import TestSupport
import Testing

@testable import Web

/// The table of attackers of notes-security(7), "What the page lets in": each is refused, and the notebook
/// is as it was.
@Suite(.serialized) struct AttackTests {
  struct Attack: CustomStringConvertible, Sendable {
    let description: String
    let status: Int
    /// Whether who still sends may find the connection closed before it reads the answer.
    var mayClose = false
    let request: @Sendable (WebFixture) throws -> String
  }

  private static let form = "Content-Type: application/x-www-form-urlencoded"

  /// A form that makes a note, as the page would send it but for what is said.
  private static func making(
    _ web: WebFixture, _ headers: [String], host: String? = nil, path: String? = nil,
    body: String = "title=Evil&text=x"
  ) -> String {
    let length = "Content-Length: \(body.utf8.count)"
    return WebFixture.request(
      "POST", path ?? web.root + "/new", host: host ?? web.host, headers + [length], body: body)
  }

  private static func looking(
    _ web: WebFixture, _ path: String, _ headers: [String] = [], method: String = "GET"
  ) -> String {
    WebFixture.request(method, path, host: web.host, ["Cookie: " + web.cookie] + headers)
  }

  static let attacks: [Attack] = [
    Attack(description: "a form of another site", status: 403) { web in
      making(web, ["Cookie: " + web.cookie, "Origin: https://evil.example", form])
    },
    Attack(description: "a form of another port of this machine", status: 403) { web in
      making(
        web,
        ["Cookie: " + web.cookie, "Origin: http://127.0.0.1:1", "Sec-Fetch-Site: same-site", form])
    },
    Attack(description: "a form that names no origin", status: 403) { web in
      making(web, ["Cookie: " + web.cookie, form])
    },
    Attack(description: "a form with a null origin", status: 403) { web in
      making(web, ["Cookie: " + web.cookie, "Origin: null", form])
    },
    Attack(description: "a page asked for by another site", status: 403) { web in
      looking(web, web.root + "/", ["Sec-Fetch-Site: cross-site"])
    },
    Attack(description: "a script file asked for by another site", status: 403) { web in
      looking(web, web.root + "/page.js", ["Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: no-cors"])
    },
    Attack(description: "two origins", status: 403) { web in
      let origin = "Origin: http://" + web.host
      return making(web, ["Cookie: " + web.cookie, origin, "Origin: https://evil.example", form])
    },
    Attack(description: "a name that was rebound to this machine", status: 421) { web in
      let host = "evil.example:\(web.server.port)"
      return making(
        web, ["Cookie: " + web.cookie, "Origin: http://" + host, form], host: host)
    },
    Attack(description: "another name of this machine", status: 421) { web in
      WebFixture.request(
        "GET", web.root + "/", host: "localhost:\(web.server.port)", ["Cookie: " + web.cookie])
    },
    Attack(description: "two hosts", status: 421) { web in
      looking(web, web.root + "/", ["Host: evil.example"])
    },
    Attack(description: "no cookie", status: 401) { web in
      making(web, ["Origin: http://" + web.host, form])
    },
    Attack(description: "a wrong cookie", status: 401) { web in
      making(web, ["Cookie: notes=aaaa", "Origin: http://" + web.host, form])
    },
    Attack(description: "a cookie that begins like the right one", status: 401) { web in
      making(web, ["Cookie: " + web.cookie.dropLast(), "Origin: http://" + web.host, form])
    },
    Attack(description: "the cookie, and another path", status: 401) { web in
      looking(web, "/aaaaaaaaaaaaaaaaaaaaaaaaaa/")
    },
    Attack(description: "the cookie, and no path", status: 401) { web in looking(web, "/") },
    Attack(description: "a guessed token", status: 401) { web in
      looking(web, "/open/" + String(repeating: "a", count: 52))
    },
    Attack(description: "no token", status: 401) { web in looking(web, "/open") },
    Attack(description: "a form as JSON", status: 415) { web in
      making(
        web,
        ["Cookie: " + web.cookie, "Origin: http://" + web.host, "Content-Type: application/json"])
    },
    Attack(description: "a form as plain text", status: 415) { web in
      making(
        web, ["Cookie: " + web.cookie, "Origin: http://" + web.host, "Content-Type: text/plain"])
    },
    Attack(description: "another method", status: 405) { web in
      looking(web, web.root + "/", method: "DELETE")
    },
    Attack(description: "the options of another site's script", status: 405) { web in
      looking(web, web.root + "/new", ["Origin: https://evil.example"], method: "OPTIONS")
    },
    Attack(description: "a path with dots", status: 404) { web in
      looking(web, web.root + "/../../etc/passwd")
    },
    Attack(description: "a path with encoded dots", status: 404) { web in
      looking(web, web.root + "/n/%2e%2e%2f%2e%2e%2fetc%2fpasswd")
    },
    Attack(description: "a path with an encoded NUL", status: 404) { web in
      looking(web, web.root + "/n/%00")
    },
    Attack(description: "a note that is named by its file", status: 404) { web in
      looking(web, web.root + "/n/Shopping.txt")
    },
    Attack(description: "a file of git's", status: 404) { web in
      looking(web, web.root + "/.git/config")
    },
    Attack(description: "an address with a host in it", status: 404) { web in
      looking(web, "http://evil.example/")
    },
    Attack(description: "a version that is a branch's name", status: 404) { web in
      looking(web, try web.root + web.address("Shopping.txt") + "/v/HEAD")
    },
    Attack(description: "a query that is no UTF-8", status: 400) { web in
      looking(web, web.root + "/?q=%ff")
    },
    Attack(description: "a form that says it is too large", status: 413) { web in
      WebFixture.request(
        "POST", web.root + "/new", host: web.host,
        ["Cookie: " + web.cookie, "Origin: http://" + web.host, form, "Content-Length: 9999999999"])
    },
    Attack(description: "a form that is too large and does not say so", status: 413, mayClose: true)
    { web in
      let piece = "10000\r\n" + String(repeating: "x", count: 0x10000) + "\r\n"
      let body = String(repeating: piece, count: 66)
      return WebFixture.request(
        "POST", web.root + "/new", host: web.host,
        [
          "Cookie: " + web.cookie, "Origin: http://" + web.host, form, "Transfer-Encoding: chunked",
        ],
        body: body)
    },
    Attack(description: "too many fields", status: 400) { web in
      let body = (0...Fields.most).map { "f\($0)=" }.joined(separator: "&")
      return making(
        web, ["Cookie: " + web.cookie, "Origin: http://" + web.host, form], body: body)
    },
    Attack(description: "a field twice", status: 400) { web in
      making(
        web, ["Cookie: " + web.cookie, "Origin: http://" + web.host, form],
        body: "title=a&title=b&text=")
    },
    Attack(description: "a title that leads out of the notebook", status: 409) { web in
      making(
        web, ["Cookie: " + web.cookie, "Origin: http://" + web.host, form],
        body: "title=..%2F..%2Fevil&text=x")
    },
    Attack(description: "a title in git's folder", status: 409) { web in
      making(
        web, ["Cookie: " + web.cookie, "Origin: http://" + web.host, form],
        body: "title=.git%2Fhooks%2Fpost-commit&text=x")
    },
    Attack(description: "a title from the root", status: 409) { web in
      making(
        web, ["Cookie: " + web.cookie, "Origin: http://" + web.host, form],
        body: "title=%2Ftmp%2Fevil&text=x")
    },
    Attack(description: "a title with a line break", status: 409) { web in
      making(
        web, ["Cookie: " + web.cookie, "Origin: http://" + web.host, form],
        body: "title=a%0Ab&text=x")
    },
    Attack(description: "a text with a NUL byte", status: 409) { web in
      making(
        web, ["Cookie: " + web.cookie, "Origin: http://" + web.host, form],
        body: "title=a&text=x%00y")
    },
    Attack(description: "an edit on a version of nobody's", status: 404) { web in
      let place = "/edit/\(String(repeating: "a", count: 40))/\(ObjectID.emptyBlob.hex)"
      return making(
        web, ["Cookie: " + web.cookie, "Origin: http://" + web.host, form],
        path: try web.root + web.address("Shopping.txt") + place,
        body: "text-\(ObjectID.emptyBlob.hex)=x")
    },
    Attack(description: "an invitation that another site asks for", status: 403) { web in
      making(
        web, ["Cookie: " + web.cookie, "Origin: https://evil.example", form],
        path: web.root + "/devices/invite", body: "role=admin")
    },
    Attack(description: "an invitation that is asked for by an image", status: 404) { web in
      looking(web, web.root + "/devices/invite?role=admin")
    },
    Attack(description: "an invitation's code for another site", status: 403) { web in
      looking(web, web.root + "/devices/invitation/42", ["Sec-Fetch-Site: cross-site"])
    },
    Attack(description: "a member whom a form without an origin removes", status: 403) { web in
      making(
        web, ["Cookie: " + web.cookie, form],
        path: web.root + "/devices/member/ABCDEFGH/remove", body: "invited=remove")
    },
    Attack(description: "a role that another port's page gives", status: 403) { web in
      making(
        web,
        ["Cookie: " + web.cookie, "Origin: http://127.0.0.1:1", "Sec-Fetch-Site: same-site", form],
        path: web.root + "/devices/member/ABCDEFGH/role", body: "role=admin")
    },
    Attack(description: "a member that is a path", status: 404) { web in
      looking(web, web.root + "/devices/member/..%2F..%2Fkeys/role")
    },
    Attack(description: "the notebook beside this one", status: 404) { web in
      looking(web, web.root + "/notebookid/")
    },
    Attack(description: "two lengths", status: 400) { web in
      making(
        web,
        ["Cookie: " + web.cookie, "Origin: http://" + web.host, form, "Content-Length: 3"])
    },
    Attack(description: "no HTTP", status: 400) { _ in "\u{16}\u{3}\u{1}garbage\r\n\r\n" },
  ]

  @Test(arguments: attacks) func `An attack is refused, and changes nothing`(attack: Attack) throws
  {
    let web = try WebFixture()
    let before = try (web.tip, list(web))
    let answer = try web.client.answer(to: attack.request(web))
    #expect(
      answer?.status == attack.status || attack.mayClose && answer == nil,
      "\(answer.map { "\($0)" } ?? "closed")")
    #expect(answer?.text.contains("milk") != true)
    #expect(try web.tip == before.0 && list(web) == before.1)
    // Who belongs here goes on.
    #expect(try web.get("/").status == 200)
  }

  private func list(_ web: WebFixture) throws -> [String] {
    try run(["find", web.folder.path, "-not", "-path", "*/.git/notes/*"]).lines.sorted()
  }

  @Test func `A head without end is closed`() throws {
    let web = try WebFixture()
    for head in [
      "GET /" + String(repeating: "a", count: 1 << 20),
      "GET / HTTP/1.1\r\nX: " + String(repeating: "a", count: 1 << 20),
    ] {
      let answer = try web.client.answer(to: head)
      #expect([nil, 400, 414, 431].contains(answer?.status))
    }
    let many = (0..<5_000).map { "X-\($0): a\r\n" }.joined()
    #expect(
      try [nil, 400, 431].contains(web.client.answer(to: "GET / HTTP/1.1\r\n" + many)?.status))
    #expect(try web.get("/").status == 200)
  }

  @Test func `The link lets in once`() throws {
    let web = try WebFixture(letsIn: false)
    let link = try #require(web.server.link)
    let path = "/" + link.split(separator: "/").dropFirst(2).joined(separator: "/")
    let request = WebFixture.request("GET", path, host: web.host)
    let first = try web.client.send(request)
    let cookie = try #require(first.headers["set-cookie"])
    #expect(first.status == 200 && cookie.contains("; HttpOnly; SameSite=Strict"))
    #expect(web.server.link == nil)
    // It leads there again, and only the first browser gets the cookie.
    let root = try WebFixture.Browser(first).root
    let again = try web.client.send(request)
    #expect(again.status == 200 && again.headers["set-cookie"] == nil)
    #expect(again.text.contains("url=\(root)/\""))
    let stranger = try web.client.send(WebFixture.request("GET", root + "/", host: web.host))
    #expect(stranger.status == 401 && !stranger.text.contains("Home"))
  }

  @Test func `Wrong tries are slowed down, and the right one is not`() throws {
    let folder = try TemporaryFolder()
    let none = ServedNotebooks(
      .all, dataFolder: folder.path, controlFolder: nil,
      connections: Connections(limits: WebLimits()), limits: WebLimits(), at: [])
    let gate = Gate(port: 4711, none)
    func status(_ path: String, from place: String = "a") -> Int? {
      let head = HTTPRequestHead(
        version: .http1_1, method: .GET, uri: path, headers: ["host": gate.local.hosts[0]])
      let verdict = gate.judge(head, at: gate.local, from: place)
      guard case .refused(let status, _) = verdict else { return nil }
      return status
    }
    let statuses = (0..<1_000).map { status("/open/guess\($0)") }
    #expect(statuses.first == 401 && statuses.contains(429))
    // Who does not guess is told what it needs, whoever guesses elsewhere.
    #expect(status("/open/guess", from: "b") == 401)
    let link = try #require(gate.link)
    #expect(status("/" + link.split(separator: "/").suffix(2).joined(separator: "/")) == nil)
  }

  @Test func `Who is slow is closed`() throws {
    var limits = WebLimits()
    (limits.headTime, limits.formTime) = (4, 4)
    let web = try WebFixture(limits: limits)
    let headers = [
      "Cookie: " + web.cookie, "Origin: http://" + web.host, Self.form, "Content-Length: 100",
    ]
    let body = WebFixture.request(
      "POST", web.root + "/new", host: web.host, headers, body: "title=")
    let sockets = try ["", "GET / HTTP/1.1\r\nHost: ", body].map { part in
      let socket = try web.client.connect()
      web.client.write(part, to: socket)
      return socket
    }
    for socket in sockets {
      #expect(try web.client.read(from: socket).isEmpty)
      close(socket)
    }
    #expect(try web.notebook.history.notes().count == 1)
  }

  // notes-security(7): "One more connection closes one whose visitor was not admitted"
  @Test func `Five hundred open connections keep nobody out`() throws {
    let web = try WebFixture()
    var sockets: [Int32] = []
    defer { for socket in sockets { close(socket) } }
    for number in 0..<500 {
      let socket = try web.client.connect()
      sockets.append(socket)
      if number.isMultiple(of: 2) { web.client.write("GET / HTTP/1.1\r\nHost: a\r\n", to: socket) }
    }
    #expect(try web.get("/").text.contains("Shopping"))
    #expect(try web.post("/new", [("title", "Plan"), ("text", "x")]).status == 303)
    // The oldest had to go.
    for socket in sockets.prefix(500 - WebLimits().connections) {
      #expect(try web.client.read(from: socket).isEmpty)
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func `It is stopped once, however often it is asked to, and a start that fails ends`() throws {
    let web = try WebFixture()
    #expect(throws: (any Error).self) {
      _ = try WebServer(
        .one(folder: web.folder.path), dataFolder: web.folder["keys"], port: web.server.port)
    }
    #expect(throws: (any Error).self) {
      _ = try WebServer(
        .one(folder: web.folder["keys"]), dataFolder: web.folder["keys"], port: 0)
    }
    #expect(try web.get("/").status == 200)
    web.server.stop()
    web.server.stop()
    #expect(throws: (any Error).self) { try web.get("/") }
  }

  @Test func `Every answer tells the browser to be careful`() throws {
    let web = try WebFixture()
    let answers = try [
      web.get("/"), web.get("/nothing"), web.post("/new", [("title", "")]),
      web.client.send(WebFixture.request("GET", "/", host: web.host)),
      web.client.send(WebFixture.request("GET", "/", host: "evil.example")),
    ]
    for answer in answers {
      for (name, value) in Response.guards { #expect(answer.headers[name.lowercased()] == value) }
      #expect(answer.headers["set-cookie"] == nil)
    }
    let policy = try #require(answers[0].headers["content-security-policy"])
    #expect(policy.hasPrefix("default-src 'none';") && !policy.contains("unsafe"))
  }
}
