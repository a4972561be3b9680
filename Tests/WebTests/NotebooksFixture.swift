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

/// All notebooks of a device that are served, and its user's browser.
final class NotebooksFixture {
  let folder: TemporaryFolder
  let server: WebServer
  let client: HTTPClient
  private(set) var browser = WebFixture.Browser(cookie: "", root: "")

  /// With notebooks of these names.
  init(_ names: [String], limits: WebLimits = WebLimits()) throws {
    folder = try TemporaryFolder()
    try #require(mkdir(folder["keys"], 0o700) == 0)
    for name in names { try Self.add(name, in: folder) }
    server = try WebServer(
      .all, dataFolder: folder["keys"], port: 0,
      network: WebNetwork(name: "desk.local", addresses: ["127.0.0.2"], isNamePublished: true),
      limits: limits)
    client = HTTPClient(port: server.port)
    let link = try #require(server.link)
    let path = "/" + link.split(separator: "/").dropFirst(2).joined(separator: "/")
    browser = try WebFixture.Browser(
      client.send(WebFixture.request("GET", path, host: "127.0.0.1:\(server.port)")))
  }

  deinit { server.stop() }

  private static func id(_ name: String) -> String {
    String((name.uppercased() + String(repeating: "2", count: 18)).prefix(18))
  }

  /// Makes a notebook, as `notes init` does.
  func add(_ name: String) throws { try Self.add(name, in: folder) }

  private static func add(_ name: String, in folder: TemporaryFolder) throws {
    _ = try Notebook.prepare(at: folder[name])
    let notebook = try Notebook.adopt(
      at: folder[name],
      as: NotebookIdentity(
        id: id(name), name: "\(name) & <b>",
        device: DeviceIdentity(name: "Ann", deviceID: "ABC234")))
    try folder.write("only in \(name)\n", to: "\(name)/\(name) plan.txt")
    _ = try notebook.save()
    KnownNotebooks(dataFolder: folder["keys"]).add(notebook)
  }

  var host: String { "127.0.0.1:\(server.port)" }

  /// The part of a notebook's paths.
  func pathName(_ name: String) -> String { Self.id(name).prefix(16).lowercased() }

  /// What its pages are below.
  func root(of name: String) -> String { "\(browser.root)/\(pathName(name))" }

  func book(of name: String) -> GuestBook {
    GuestBook(stateFolder: StateFolder(ofNotebookIn: folder[name]))
  }

  func get(_ path: String, _ cookie: String? = nil) throws -> Answer {
    try client.send(
      WebFixture.request("GET", path, host: host, ["Cookie: " + (cookie ?? browser.cookie)]))
  }

  func post(_ path: String, _ body: String, _ cookie: String? = nil) throws -> Answer {
    let headers = [
      "Cookie: " + (cookie ?? browser.cookie), "Origin: http://" + host,
      "Content-Type: application/x-www-form-urlencoded", "Content-Length: \(body.utf8.count)",
    ]
    return try client.send(WebFixture.request("POST", path, host: host, headers, body: body))
  }

  /// A guest's browser.
  func guest(of name: String, _ guest: String) throws -> WebFixture.Browser {
    let token = try book(of: name).invite(guest, as: .writer).token
    return try WebFixture.Browser(post("/guest/" + token, "name=", ""))
  }

  /// A page that follows what happens.
  func follow(_ root: String, _ cookie: String? = nil) throws -> Int32 {
    let socket = try client.connect()
    client.write(
      "GET \(root)/events HTTP/1.1\r\nHost: \(host)\r\nCookie: \(cookie ?? browser.cookie)\r\n\r\n",
      to: socket)
    _ = try client.read(from: socket) { String(decoding: $0, as: UTF8.self).contains("ready") }
    return socket
  }

  /// Until the page is told that something changed.
  func wait(_ socket: Int32) throws {
    let told = try client.read(from: socket) {
      String(decoding: $0, as: UTF8.self).contains("changed")
    }
    #expect(!told.isEmpty)
  }

  func save(_ name: String, _ text: String) throws {
    try folder.write(text, to: "\(name)/\(name) plan.txt")
    _ = try Notebook.open(at: folder[name]).save()
  }
}
