import Git
import Membership
import Notebook
import System
import TestSupport
import Testing

@testable import Web

/// What a browser keeps of the page: notes-security(7), "The page as an app". scripts/web-app plays it in a
/// browser.
@Suite(.serialized) struct AppTests {
  private let web: WebFixture
  private static let address = "127.0.0.3"
  private static let files = ["/worker.js", "/app.webmanifest"]

  init() throws {
    web = try WebFixture(
      network: WebNetwork(name: "desk.local", addresses: [Self.address], isNamePublished: true))
  }

  private var origin: String { "https://desk.local:\(web.server.port)" }

  /// A page of a guest at this host, `desk.local` or the address.
  private func ask(
    _ browser: WebFixture.Browser, _ path: String, at host: String = "desk.local",
    form: String? = nil
  ) throws -> Answer {
    let port = web.server.port
    let data = form.map { ["-H", "Origin: https://\(host):\(port)", "--data", $0] } ?? []
    let result = try run(
      [
        "curl", "-sSki", "-m", "60", "--resolve", "desk.local:\(port):\(Self.address)", "-H",
        "Cookie: " + browser.cookie, "https://\(host):\(port)\(browser.root)\(path)",
      ] + data)
    return try #require(Answer(result.output), "\(result)")
  }

  private func guest(_ name: String = "Grandma", as role: Role = .writer) throws
    -> WebFixture.Browser
  {
    let book = GuestBook(stateFolder: web.notebook.stateFolder)
    let token = try book.invite(name, as: role).token
    let secrets = try book.accept(token, name: "").secrets
    let mark = try SecretText.mark(of: secrets.path)
    return WebFixture.Browser(
      cookie: "__Host-notes-\(mark)=\(secrets.cookie)", root: "/" + secrets.path)
  }

  // "The browser does so only for guests, at the machine's name, over TLS: nobody else gets worker, manifest
  // and icons".
  @Test func `A guest's page is an app at the machine's name, and nowhere else`() throws {
    let guest = try guest()
    let page = try ask(guest, "/")
    #expect(page.text.contains("app.webmanifest") && page.text.contains("data-app=\"yes\""))
    let other = try ask(guest, "/", at: Self.address)
    #expect(other.status == 200 && !other.text.contains("data-app"))
    #expect(!other.text.contains("app.webmanifest"))
    for file in Self.files {
      #expect(try ask(guest, file).status == 200)
      #expect(try ask(guest, file, at: Self.address).status == 404)
      // The user of the device, and a guest, on this machine.
      #expect(try web.get(file).status == 404)
      let value = guest.cookie.drop { $0 != "=" }
      let local = WebFixture.Browser(cookie: "notes" + value, root: guest.root)
      #expect(try web.get(file, as: local).status == 404)
    }
    #expect(try web.get("/browser").status == 404)
  }

  // "shown to the guest alone; a stranger learns nothing from them"
  @Test func `Strangers are shown neither worker nor manifest nor icons`() throws {
    let guest = try guest()
    let stranger = WebFixture.Browser(cookie: "x=1", root: guest.root)
    for file in Self.files + ["/icon.svg", "/icon.png", "/browser"] {
      let answer = try ask(stranger, file)
      #expect(answer.status == 401 && !answer.text.contains("Home"))
      let none = WebFixture.Browser(cookie: guest.cookie, root: "")
      #expect(try ask(none, file).status == 401)
    }
  }

  @Test func `The manifest names the notebook, and the guest's path`() throws {
    let guest = try guest()
    let answer = try ask(guest, "/app.webmanifest")
    #expect(answer.headers["content-type"] == "application/manifest+json")
    let script = "import json, sys; m = json.load(sys.stdin); print(m['name'], m['scope'], m['id'])"
    let read = try run(["python3", "-c", script], input: Array(answer.text.utf8))
    #expect(read.text == "Home \(guest.root)/ \(guest.root)/\n", "\(read)")
    // A name may have what ends a string.
    #expect(JSONText.quoted("a\"b\\c\u{1}\u{1F}é") == #""a\"b\\c\u0001\u001fé""#)
  }

  // "carries digits of the SHA-256 of the files that it keeps"
  @Test func `The worker begins with the version of its files, and is a script`() throws {
    let worker = try ask(guest(), "/worker.js")
    #expect(worker.headers["content-type"] == "text/javascript; charset=utf-8")
    #expect(worker.text.firstMatch(of: #/^const version = "[0-9a-f]{16}";\n/#) != nil)
    #expect(worker.headers["content-security-policy"]?.contains("worker-src 'self'") == true)
    #expect(worker.headers["cache-control"] == "no-store")
  }

  // notes-web(1): "less than 100 KiB"
  @Test func `All that the page loads is small`() {
    let files = [
      PackageResources.style_css, PackageResources.page_js, PackageResources.worker_js,
      PackageResources.icon_svg, PackageResources.icon_png,
    ]
    #expect(files.map(\.count).reduce(0, +) < 100 << 10)
  }

  // notes-web(1), "As an app": "the browser keeps the texts of all notes, the newest first, up to 50 MB".
  @Test func `The texts come in parts with marks, as many as there is room for`() throws {
    let guest = try guest()
    try web.folder.write("forum\n\u{202E}\"<b>\n", to: "Rome.txt")
    try web.folder.write(String(repeating: "x", count: (1 << 20) + 1), to: "Long.txt")
    _ = try web.notebook.save()
    let script = """
      import json, sys
      print(*sorted((n["title"], n.get("text", "none")[:8]) for n in json.load(sys.stdin)), sep="\\n")
      """
    func notes(_ most: Int) throws -> [String] {
      try "0123456789abcdef".flatMap { digit in
        let part = try ask(guest, "/texts/\(digit)?most=\(most)")
        #expect(part.status == 200 && part.headers["content-type"] == "application/json")
        return try run(["python3", "-c", script], input: Array(part.text.utf8)).lines
      }.filter { !$0.isEmpty }
    }
    let all = try notes(1_000_000)
    #expect(all.contains(#"('Rome', 'forum\n\u202e"')"#), "\(all)")
    #expect(all.contains("('Long', 'none')"), "\(all)")
    try web.folder.write("\n# Cellar\n\napples\n", to: "Cellar.md")
    _ = try web.notebook.save()
    let titles = try ask(
      guest, "/texts/\(web.address("Cellar.md").dropFirst(3).prefix(1))?most=1000000"
    ).text
    #expect(titles.contains("\"below\":11,"), "\(titles)")
    #expect(try notes(0).allSatisfy { $0.hasSuffix("'none')") })
    #expect(try ask(guest, "/texts/all").text.contains("\"title\":\"Rome\""))
    for path in ["/texts/g0", "/texts/0/1"] { #expect(try ask(guest, path).status == 404) }
  }

  @Test func `The mark of a part changes with its notes, and no other does`() throws {
    let guest = try guest()
    func marks() throws -> [Substring] {
      try ask(guest, "/texts?most=1000000").text.split(separator: ",")
    }
    let before = try marks()
    #expect(before.count == 16)
    #expect(try marks() == before)
    try web.folder.write("another text\n", to: "Shopping.txt")
    _ = try web.notebook.save()
    #expect(try zip(before, marks()).count(where: { $0 != $1 }) == 1)
    let none = try ask(guest, "/texts?most=0").text.split(separator: ",")
    #expect(zip(before, none).contains { $0 != $1 })
  }

  // "a reader keeps no forms"
  @Test func `A reader has no page for editing without a connection`() throws {
    let (reader, writer) = (try guest(as: .reader), try guest("Grandpa"))
    #expect(try ask(reader, "/kept").text.contains("KEPT-TEXT"))
    #expect(try ask(reader, "/kept/edit").status == 403)
    #expect(try !ask(reader, "/kept").text.contains("KEPT-ID"))
    #expect(try ask(writer, "/kept/edit").text.contains("name=\"KEPT-FIELD\""))
  }

  // "A guest may leave, and is then no longer a guest; the browser deletes the cookie"
  @Test(arguments: [Role.writer, .reader])
  func `Whoever leaves is a guest no more`(role: Role) throws {
    let (guest, other) = (try guest(as: role), try guest("Grandpa"))
    #expect(try ask(guest, "/browser").text.contains("action=\"\(guest.root)/leave\""))
    let left = try ask(guest, "/leave", form: "")
    #expect(left.status == 200 && left.text.contains("You have left"), "\(left)")
    let name = guest.cookie.prefix { $0 != "=" }
    #expect(
      left.headers["set-cookie"]
        == "\(name)=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0")
    #expect(try ask(guest, "/").status == 401)
    #expect(try ask(other, "/").status == 200)
    #expect(try web.post("/leave", []).status == 404)
  }
}
