import Git
import Glibc
import History
import Membership
import Notebook
import System
import TestSupport
import Testing
import WorkTree

@testable import Web

/// A notebook that is served, and a browser that was let in.
final class WebFixture {
  let folder: TemporaryFolder
  let notebook: Notebook
  private(set) var server: WebServer
  private let limits: WebLimits
  private(set) var cookie = ""
  /// The path below which the pages are.
  private(set) var root = ""
  private var clones: [TemporaryFolder] = []

  /// Where a watcher's socket would be.
  var controlFolder: String { folder[".git/control"] }

  init(
    device: String = "Ann", limits: WebLimits = WebLimits(), network: WebNetwork? = nil,
    letsIn: Bool = true
  ) throws {
    folder = try TemporaryFolder()
    notebook = try Self.notebook(device, in: folder.path)
    try folder.write("milk\n", to: "Shopping.txt")
    _ = try notebook.save()
    self.limits = limits
    server = try WebServer(
      .one(folder: folder.path), dataFolder: folder["keys"], controlFolder: folder[".git/control"],
      port: 0, network: network, limits: limits)
    if letsIn { try letIn() }
  }

  deinit { server.stop() }

  private static func notebook(_ device: String, in folder: String) throws -> Notebook {
    _ = try Notebook.prepare(at: folder)
    return try Notebook.adopt(
      at: folder,
      as: NotebookIdentity(
        id: "notebookid", name: "Home",
        device: DeviceIdentity(name: device, deviceID: "ABC234")))
  }

  /// Opens the link, as a browser does.
  func letIn() throws {
    let link = try #require(server.link)
    let path = String(link.drop { $0 != ":" }.dropFirst().drop { $0 != ":" }.drop { $0 != "/" })
    let opened = try client.send(Self.request("GET", path, host: host))
    #expect(opened.status == 200)
    let browser = try Browser(opened)
    (cookie, root) = (browser.cookie, browser.root)
  }

  var host: String { "127.0.0.1:\(server.port)" }
  var client: HTTPClient { HTTPClient(port: server.port) }

  static func request(
    _ method: String, _ target: String, host: String, _ headers: [String] = [], body: String = ""
  ) -> String {
    let lines = ["\(method) \(target) HTTP/1.1", "Host: \(host)"] + headers
    return (lines + ["Connection: close", "", body]).joined(separator: "\r\n")
  }

  /// What a browser that was let in keeps.
  struct Browser {
    var cookie: String
    var root: String

    init(cookie: String, root: String) { (self.cookie, self.root) = (cookie, root) }

    /// By an answer that lets in.
    init(_ opened: Answer) throws {
      let set = try #require(opened.headers["set-cookie"])
      cookie = String(set.prefix { $0 != ";" })
      let end = try #require(set.firstRange(of: "Path=")).upperBound
      root = String(set[end...].prefix { $0 != ";" })
    }
  }

  /// The one of the device's user.
  var browser: Browser { Browser(cookie: cookie, root: root) }

  /// A page, as the browser asks for it.
  func get(_ path: String, as browser: Browser? = nil) throws -> Answer {
    let browser = browser ?? self.browser
    return try client.send(
      Self.request("GET", browser.root + path, host: host, ["Cookie: " + browser.cookie]))
  }

  /// A form, as the browser sends it.
  func post(
    _ path: String, _ fields: [(String, String)], as browser: Browser? = nil,
    _ more: [String] = []
  ) throws -> Answer {
    let browser = browser ?? self.browser
    let body = fields.map { "\($0.0)=\(Fields.encoded($0.1))" }.joined(separator: "&")
    let headers = [
      "Cookie: " + browser.cookie, "Origin: http://" + host,
      "Content-Type: application/x-www-form-urlencoded", "Content-Length: \(body.utf8.count)",
    ]
    return try client.send(
      Self.request("POST", browser.root + path, host: host, headers + more, body: body))
  }

  /// Says who has a link for a guest.
  func introduce(_ token: String, name: String) throws -> Answer {
    try post(
      "", [("name", name)], as: Browser(cookie: "other=1", root: "/guest/" + token))
  }

  /// A guest's browser.
  func comeIn(_ token: String, name: String = "") throws -> Browser {
    try Browser(introduce(token, name: name))
  }

  /// Ends the server, and starts another one. Not at its port, which may be somebody's by then.
  func serveAgain() throws {
    let next = try WebServer(
      .one(folder: folder.path), dataFolder: folder["keys"], port: 0, limits: limits)
    server.stop()
    server = next
  }

  /// The address of a note, below `root`.
  func address(_ path: TreePath) throws -> String {
    let note = try #require(try notebook.history.notes().first { $0.path == path })
    return "/n/\(note.id)"
  }

  /// A page that another one leads to, as the browser goes on.
  func page(_ path: String, as browser: Browser? = nil) throws -> Answer {
    let answer = try get(path, as: browser)
    guard answer.status == 303, let next = answer.headers["location"] else { return answer }
    return try get(String(next.dropFirst((browser ?? self.browser).root.count)), as: browser)
  }

  /// What begins so in a page, up to the next quotation mark, without a visitor's root in front.
  func value(_ start: String, in page: Answer) throws -> String {
    try value(start, in: page.text[...])
  }

  private func value(_ start: String, in text: Substring) throws -> String {
    let start = try #require(text.firstRange(of: start)).upperBound
    let value = text[start...].prefix { $0 != "\"" }
    guard value.first == "/" else { return String(value) }
    return String(value.dropFirst().drop { $0 != "/" })
  }

  /// Where a page's form is sent to, below a visitor's root.
  func action(in page: Answer) throws -> String {
    // The menu above has a form of its own.
    let main = try #require(page.text.firstRange(of: "<main")).lowerBound
    return try value("<form method=\"post\" action=\"", in: page.text[main...])
  }

  /// Sends a text by a page for editing.
  func save(_ text: String, by form: Answer, as browser: Browser? = nil) throws -> Answer {
    let name = try value("<textarea id=\"text\" class=\"write\" name=\"", in: form)
    return try post(action(in: form), [(name, text)], as: browser)
  }

  func text(_ name: String) throws -> String { try folder.text(name) }

  var tip: ObjectID? { get throws { try notebook.state().tip } }

  /// What another device writes on a version of this notebook, merged here.
  func meet(_ name: String, _ files: [(String, String)], on version: ObjectID) throws {
    let other = try TemporaryFolder()
    clones.append(other)
    let git = ["git", "-C", other.path]
    try #require(try run(["git", "clone", "-q", folder.path, other.path]).isSuccess)
    try #require(try run(git + ["reset", "-q", "--hard", version.hex]).isSuccess)
    let theirs = try Self.notebook(name, in: other.path)
    for (name, text) in files { try other.write(text, to: name) }
    let made = try #require(try theirs.save().version)
    try #require(
      try run(["git", "-C", folder.path, "fetch", "-q", other.path, "HEAD"]).isSuccess)
    _ = try notebook.merge([made])
  }
}

/// What a server answered.
struct Answer {
  let status: Int
  let headers: [String: String]
  let text: String

  /// Nil where the connection was closed without a word.
  init?(_ bytes: [UInt8]) {
    let whole = String(decoding: bytes, as: UTF8.self)
    guard let end = whole.firstRange(of: "\r\n\r\n") else { return nil }
    let lines = whole[..<end.lowerBound].split(separator: "\r\n")
    status = lines.first.flatMap { Int($0.dropFirst(9).prefix(3)) } ?? 0
    headers = Dictionary(
      lines.dropFirst().compactMap { line in
        line.firstIndex(of: ":").map {
          (line[..<$0].lowercased(), String(line[$0...].dropFirst(2)))
        }
      }
    ) { first, _ in first }
    text = String(whole[end.upperBound...])
  }
}

/// Plain sockets: what a test sends is what the server gets.
struct HTTPClient {
  let port: Int
  var host = "127.0.0.1"
  /// In seconds.
  static let patience = 60.0

  func connect() throws -> Int32 {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    inet_pton(AF_INET, host, &address.sin_addr)
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else {
      close(socket)
      throw SystemError("connect", "\(host):\(port)")
    }
    return socket
  }

  /// Sends as much as the other end takes; false where it took less.
  @discardableResult
  func write(_ text: String, to socket: Int32) -> Bool {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// What comes until the other end closes, or `isEnough`.
  func read(
    from socket: Int32, until isEnough: ([UInt8]) -> Bool = { _ in false }
  ) throws -> [UInt8] {
    let end = Instant.now + Self.patience
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while !isEnough(bytes) {
      guard !Poll.wait(for: [socket], until: end).isEmpty else {
        throw SystemError("recv", "no end of \(bytes.count) bytes", code: ETIMEDOUT)
      }
      let count = recv(socket, &buffer, buffer.count, 0)
      guard count > 0 else { return bytes }
      bytes += buffer[..<count]
    }
    return bytes
  }

  func answer(to request: String) throws -> Answer? {
    let socket = try connect()
    defer { close(socket) }
    write(request, to: socket)
    return Answer(try read(from: socket))
  }

  func send(_ request: String) throws -> Answer { try #require(try answer(to: request)) }

  private func send(
    _ socket: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32
  ) -> Int { Glibc.send(socket, bytes, count, flags) }
}

extension Fields {
  /// A value for a query: all but letters, digits and `-._~` as `%XX`.
  static func encoded(_ text: String) -> String {
    text.utf8.map { byte in
      let isPlain =
        byte < 0x80
        && (Character(UnicodeScalar(byte)).isLetter || Character(UnicodeScalar(byte)).isNumber
          || "-._~".utf8.contains(byte))
      let digits = String(byte, radix: 16, uppercase: true)
      return isPlain
        ? String(UnicodeScalar(byte)) : "%" + (digits.count == 1 ? "0" + digits : digits)
    }.joined()
  }
}
