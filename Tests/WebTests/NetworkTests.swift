import Glibc
import Membership
import Notebook
import QRCodes
import System
import TestSupport
import Testing

@testable import Web

/// The page on the network, as curl and others meet it: notes-security(7), "The page on the network".
@Suite(.serialized) struct NetworkTests {
  private let web: WebFixture
  /// Another address of this machine, in the place of one that others reach.
  private static let address = "127.0.0.2"
  private static let name = "desk.local"

  init() throws { web = try WebFixture(network: Self.network) }

  private static var network: WebNetwork {
    WebNetwork(name: name, addresses: [address], isNamePublished: true)
  }

  private var origin: String { "https://\(Self.name):\(web.server.port)" }

  /// The certificate that people install, as it is offered, without trusting it yet.
  private func authority() throws -> String {
    let file = web.folder["authority.crt"]
    let got = try curl(["-k", "-o", file, origin + "/authority.crt"], trusts: false)
    try #require(got.isSuccess, "\(got)")
    let pem = web.folder["authority.pem"]
    let made = try run(["openssl", "x509", "-inform", "DER", "-in", file, "-out", pem])
    try #require(made.isSuccess, "\(made)")
    return pem
  }

  /// curl, which says the answer's head as well.
  private func curl(_ options: [String], trusts: Bool = true) throws -> ProcessResult {
    let resolve = "\(Self.name):\(web.server.port):\(Self.address)"
    let trust = try trusts ? ["--cacert", authority()] : []
    return try run(["curl", "-sS", "-m", "60", "--resolve", resolve] + trust + options)
  }

  private func ask(
    _ path: String, _ headers: [String] = [], form: String? = nil
  ) throws -> Answer {
    let words = headers.flatMap { ["-H", $0] } + (form.map { ["--data", $0] } ?? [])
    let result = try curl(["-i"] + words + [origin + path])
    return try #require(Answer(result.output), "\(result)")
  }

  /// A guest's browser, let in by a link.
  private func guest(_ name: String = "Grandma") throws -> WebFixture.Browser {
    let path = try web.server.invite().path
    let opened = try ask(path, ["Origin: " + origin], form: "name=" + name)
    let set = try #require(opened.headers["set-cookie"], "\(opened)")
    let root = try #require(opened.text.firstMatch(of: #/url=(\/[a-z0-9]+)\//#)?.1)
    return WebFixture.Browser(cookie: String(set.prefix { $0 != ";" }), root: String(root))
  }

  @Test func `A guest comes in, reads and writes over TLS`() throws {
    let path = try web.server.invite().path
    let first = try ask(path)
    let fingerprint = try #require(web.server.network?.authorityFingerprint)
    #expect(first.status == 200 && first.text.contains("Your name"))
    // "on the page's first view"
    #expect(first.text.contains(fingerprint) && first.text.contains("href=\"/authority.crt\""))
    let shown = try run([
      "openssl", "x509", "-in", authority(), "-noout", "-fingerprint", "-sha256",
    ])
    #expect(shown.text == "sha256 Fingerprint=\(fingerprint)\n")
    let opened = try ask(path, ["Origin: " + origin], form: "name=Grandma")
    let cookie = try #require(opened.headers["set-cookie"])
    #expect(
      cookie.wholeMatch(
        of:
          #/__Host-notes-[0-9a-f]{16}=[a-z2-7]{52}; Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=34560000/#
      ) != nil, "\(cookie)")
    let root = try #require(opened.text.firstMatch(of: #/url=(\/[a-z0-9]+)\//#)?.1)
    let browser = ["Cookie: " + cookie.prefix { $0 != ";" }]
    #expect(try ask("\(root)/", browser).text.contains("Shopping"))
    let made = try ask(
      "\(root)/new", browser + ["Origin: " + origin], form: "title=Plan&text=from%20afar")
    #expect(made.status == 303, "\(made)")
    #expect(try web.text("Plan.txt") == "from afar\n")
    // The link is used up: it leads to the same pages, for whoever has the cookie.
    let again = try ask(path)
    #expect(again.status == 200 && again.headers["set-cookie"] == nil)
    #expect(again.text.contains("url=\(root)/\""))
  }

  @Test func `The name and the private addresses are one page, each with its own origin`() throws {
    let page = try #require(web.server.network)
    #expect(page.origins == [origin, "https://\(Self.address):\(web.server.port)"])
    let browser = try guest()
    // The page of one of its hosts may not be asked by that of another.
    let other = try ask(
      browser.root + "/new", ["Cookie: " + browser.cookie, "Origin: " + page.origins[1]],
      form: "title=Evil&text=x")
    #expect(other.status == 403)
    let plain = try ask(
      browser.root + "/new",
      ["Cookie: " + browser.cookie, "Origin: http://\(Self.name):\(web.server.port)"],
      form: "title=Evil&text=x")
    #expect(plain.status == 403)
    #expect(
      try ServedPage.origins(stateFolder: web.notebook.stateFolder) == [
        "http://" + web.host, origin,
      ])
  }

  @Test func `Who does not know the authority is warned, and who does sees no warning`() throws {
    let stranger = try curl([origin + "/"], trusts: false)
    #expect(stranger.status == .exited(60), "\(stranger)")
    #expect(try curl(["-o", "/dev/null", origin + "/"]).isSuccess)
    let kept = try run(["stat", "-c", "%a", web.folder["keys/page-authority.pem"]]).text
    #expect(kept == "600\n")
  }

  @Test func `Plain HTTP, and TLS of former years, are refused`() throws {
    let plain = try curl(["http://\(Self.name):\(web.server.port)/"])
    #expect(!plain.isSuccess && plain.output.isEmpty, "\(plain)")
    let old = try curl(["--tls-max", "1.1", "--ciphers", "ALL:@SECLEVEL=0", origin + "/"])
    #expect(old.status == .exited(35), "\(old)")
    for version in ["--tlsv1.2", "--tlsv1.3"] {
      #expect(try curl([version, "-o", "/dev/null", origin + "/"]).isSuccess)
    }
    #expect(try curl(["--tls-max", "1.2", "-o", "/dev/null", origin + "/"]).isSuccess)
  }

  @Test func `Other names that lead here are refused`() throws {
    for host in ["evil.example", "127.0.0.1:\(web.server.port)", "desk.local:1", "localhost"] {
      #expect(try ask("/", ["Host: " + host]).status == 421)
    }
    // Names have no case.
    #expect(try ask("/", ["Host: DESK.local:\(web.server.port)"]).status == 401)
    // Nor is the network's name one of this machine's own page.
    let local = WebFixture.request("GET", "/", host: "\(Self.name):\(web.server.port)")
    #expect(try web.client.send(local).status == 421)
  }

  @Test func `The user of the device is let in on this machine alone`() throws {
    let fresh = try WebFixture(network: Self.network, letsIn: false)
    let link = try #require(fresh.server.link)
    let path = "/" + link.split(separator: "/").suffix(2).joined(separator: "/")
    let resolve = "\(Self.name):\(fresh.server.port):\(Self.address)"
    let tried = try run([
      "curl", "-sSki", "--resolve", resolve, "https://\(Self.name):\(fresh.server.port)\(path)",
    ])
    #expect(Answer(tried.output)?.status == 403, "\(tried)")
    // The link is still good where it belongs.
    #expect(fresh.server.link == link)
    for name in [
      "notes", "__Host-notes-" + (try SecretText.mark(of: String(web.root.dropFirst()))),
    ] {
      let value = web.cookie.drop { $0 != "=" }
      let answer = try ask(web.root + "/", ["Cookie: " + name + value])
      #expect(answer.status == 403 && !answer.text.contains("Shopping"))
    }
  }

  @Test func `A guest's cookie is for the origin that gave it, and for that guest`() throws {
    let (one, other) = (try guest("Ann"), try guest("Bob"))
    #expect(one.cookie.prefix { $0 != "=" } != other.cookie.prefix { $0 != "=" })
    #expect(try ask(one.root + "/", ["Cookie: " + other.cookie]).status == 401)
    #expect(try ask(one.root + "/", ["Cookie: \(other.cookie); \(one.cookie)"]).status == 200)
    // Without the prefix that browsers guard, it lets nobody in.
    let value = one.cookie.drop { $0 != "=" }
    #expect(try ask(one.root + "/", ["Cookie: notes" + value]).status == 401)
    _ = try GuestBook(stateFolder: web.notebook.stateFolder).remove("Ann")
    #expect(try ask(one.root + "/", ["Cookie: " + one.cookie]).status == 401)
  }

  @Test func `A link that nobody used is taken back`() throws {
    let made = try web.server.invite()
    #expect(try ask(made.path).status == 200)
    web.server.withdraw(made.invitation)
    #expect(try ask(made.path).status == 401)
  }

  @Test func `Five hundred open connections of a stranger keep neither guest nor user out`() throws
  {
    let browser = try guest()
    var client = web.client
    client.host = Self.address
    var sockets: [Int32] = []
    defer { for socket in sockets { close(socket) } }
    for number in 0..<500 {
      let socket = try client.connect()
      sockets.append(socket)
      if number.isMultiple(of: 3) { client.write("\u{16}\u{3}\u{1}\u{2}", to: socket) }
      if number % 3 == 1 { client.write("GET / HTTP/1.1\r\n\r\n", to: socket) }
    }
    #expect(try ask(browser.root + "/", ["Cookie: " + browser.cookie]).text.contains("Shopping"))
    #expect(try web.get("/").text.contains("Shopping"))
  }

  // "a handshake … 10 seconds"
  @Test func `A handshake that is not finished in time is closed`() throws {
    var limits = WebLimits()
    limits.headTime = 1
    let web = try WebFixture(limits: limits, network: Self.network)
    var client = web.client
    client.host = Self.address
    for part in ["", "\u{16}\u{3}\u{1}\u{2}"] {
      let socket = try client.connect()
      client.write(part, to: socket)
      #expect(try client.read(from: socket).isEmpty)
      close(socket)
    }
  }

  @Test func `Garbage within a connection ends it, and it alone`() throws {
    let script = """
      import socket, ssl, sys
      context = ssl.create_default_context(cafile=sys.argv[1])
      raw = socket.create_connection(("\(Self.address)", int(sys.argv[2])), 60)
      incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
      tls = context.wrap_bio(incoming, outgoing, server_hostname="\(Self.name)")
      while True:
          try:
              tls.do_handshake()
              break
          except ssl.SSLWantReadError:
              raw.sendall(outgoing.read())
              incoming.write(raw.recv(65536))
      raw.sendall(outgoing.read())
      tls.write(b"GET / HTTP/1.1\\r\\nHost: \(Self.name):" + sys.argv[2].encode() + b"\\r\\n")
      raw.sendall(outgoing.read() + b"\\x17\\x03\\x03\\x00\\x20" + bytes(32))
      while True:
          part = raw.recv(65536)
          if not part:
              break
          incoming.write(part)
      try:
          print(tls.read(100))
      except ssl.SSLError as error:
          print(error.reason)
      """
    let result = try run(["python3", "-c", script, authority(), "\(web.server.port)"])
    #expect(result.text.contains("BAD_RECORD_MAC"), "\(result)")
    #expect(try ask("/").status == 401)
  }

  @Test func `A machine without a private address says so, and public ones are none`() throws {
    #expect(throws: WebNetworkError.self) {
      _ = try WebFixture(network: WebNetwork(name: "desk.local", addresses: []))
    }
    for address in [
      "10.1.2.3", "172.16.0.1", "172.31.9.9", "192.168.0.9", "169.254.3.3", "fd00::1",
    ] {
      #expect(PrivateAddress.isPrivate(address))
    }
    for address in ["192.0.2.2", "172.15.0.1", "172.32.0.1", "11.0.0.1", "2001:db8::1", "::1", "x"]
    {
      #expect(!PrivateAddress.isPrivate(address))
    }
    #expect(WebNetwork.ofThisMachine().addresses.allSatisfy(PrivateAddress.isPrivate))
  }

  @Test func `A camera reads the code`() throws {
    let link = origin + (try web.server.invite().path)
    let code = try #require(QRCode(link))
    // A picture of it: a block of 4 by 4 for each module.
    var rows: [String] = []
    for line in code.lines {
      let cells = line.replacing(#/\x1B\[[0-9;]*m/#, with: "")
      #expect(cells.count == code.width && line.hasPrefix("\u{1B}[30;107m"))
      for halves in ["▀█", "▄█"] {
        let row = cells.map { halves.contains($0) ? "1" : "0" }
        let wide = row.map { String(repeating: $0 + " ", count: 4) }.joined()
        rows += Array(repeating: wide, count: 4)
      }
    }
    let text = "P1\n\(4 * code.width) \(rows.count)\n" + rows.joined(separator: "\n") + "\n"
    try web.folder.write(text, to: "code.pbm")
    // scripts/deps full installs what reads it.
    if TestEnvironment.isFull {
      let read = try run(["zbarimg", "--raw", "-q", web.folder["code.pbm"]])
      #expect(read.text == link + "\n", "\(read)")
    }
    #expect(QRCode(String(repeating: "x", count: 5_000)) == nil)
  }
}
