import Git
import History
import Membership
import Notebook
import System
import TestSupport
import Testing
import WorkTree

@testable import Web

/// notes-web(1), "Files": attachments are shown and added, and nothing that they hold becomes the page's.
@Suite(.serialized) struct FilesTests {
  private let web: WebFixture

  init() throws {
    web = try WebFixture()
    try web.folder.write("![a dog](dog.jpg) [song](song.mp3) [[dog.jpg]]\n", to: "Trip.md")
    try web.folder.write(ImageMetadataTests.jpeg(), to: "dog.jpg")
    try web.folder.write("ID3 0123456789", to: "song.mp3")
    try web.folder.write("<svg onload=\"alert(1)\"/>", to: "evil.svg")
    try web.folder.write("<script>alert(1)</script>", to: "evil.html")
    _ = try web.notebook.save()
  }

  private func address(_ path: TreePath) throws -> String {
    let file = try #require(try web.notebook.history.files().first { $0.path == path })
    return "/files/\(file.id)"
  }

  private func bytes(
    of path: TreePath, _ headers: [String] = [], as browser: WebFixture.Browser? = nil
  ) throws -> Answer {
    let browser = browser ?? web.browser
    let target = try browser.root + address(path) + "/bytes"
    return try web.client.send(
      WebFixture.request(
        "GET", target, host: web.host, ["Cookie: " + browser.cookie] + headers))
  }

  /// What the script sends of a file; the bytes are ASCII.
  private func send(
    _ piece: String, from start: Int = 0, of size: Int? = nil, named name: String,
    beside note: TreePath? = nil, more: String = "", upload: String = "0123456789abcdef",
    type: String = "application/octet-stream", as browser: WebFixture.Browser? = nil
  ) throws -> Answer {
    let browser = browser ?? web.browser
    let beside = try note.map { try "&beside=" + web.address($0).dropFirst(3) } ?? ""
    let query =
      "name=\(Fields.encoded(name))&size=\(size ?? piece.utf8.count)&from=\(start)&upload=\(upload)"
    let headers = [
      "Cookie: " + browser.cookie, "Origin: http://" + web.host, "Accept: application/json",
      "Content-Type: " + type, "Content-Length: \(piece.utf8.count)",
    ]
    return try web.client.send(
      WebFixture.request(
        "POST", "\(browser.root)/files/add?\(query)\(beside)\(more)", host: web.host, headers,
        body: piece))
  }

  private func reader() throws -> WebFixture.Browser {
    let book = GuestBook(stateFolder: web.notebook.stateFolder)
    return try web.comeIn(book.invite("Rita", as: .reader).token)
  }

  // MARK: Shown

  @Test func `Attachments are listed, and images are shown in the text`() throws {
    let list = try web.get("/files")
    for path in ["dog.jpg", "song.mp3", "evil.svg", "evil.html"] as [TreePath] {
      #expect(try list.text.contains("\(web.root)\(address(path))\""), "\(path)")
    }
    let (page, dog) = (try web.get(web.address("Trip.md")).text, try address("dog.jpg"))
    let image = "<img src=\"\(web.root)\(dog)/bytes\" alt=\"dog.jpg\" loading=\"lazy\">"
    #expect(page.contains("<a href=\"\(web.root)\(dog)\">\(image)a dog</a>"), "\(page)")
    #expect(page.contains("<a href=\"\(web.root)\(dog)\">\(image)</a>"))
    #expect(try page.contains("<a href=\"\(web.root)\(address("song.mp3"))\">song</a>"))
    #expect(try web.get(address("song.mp3")).text.contains("<audio controls"))
    #expect(try web.get(address("dog.jpg")).text.contains("<img src="))
    #expect(try !web.get(address("evil.svg")).text.contains("<img"))
  }

  @Test func `An image of more than the limit is a link`() throws {
    var limits = WebLimits()
    limits.imageBytes = 10
    let web = try WebFixture(limits: limits)
    try web.folder.write("[[dog.jpg]]\n", to: "Trip.txt")
    try web.folder.write(ImageMetadataTests.jpeg(), to: "dog.jpg")
    _ = try web.notebook.save()
    let page = try web.get(web.address("Trip.txt")).text
    #expect(page.contains(">dog.jpg</a>") && !page.contains("<img"))
  }

  // notes-security(7): "A browser never treats an attachment as a page or a script"
  @Test(
    arguments: [
      ("dog.jpg", "image/jpeg", "inline"), ("song.mp3", "audio/mpeg", "inline"),
      ("evil.svg", "application/octet-stream", "attachment"),
      ("evil.html", "application/octet-stream", "attachment"),
    ] as [(TreePath, String, String)])
  func `An attachment has a safe type and a policy of its own`(
    path: TreePath, type: String, use: String
  ) throws {
    let answer = try bytes(of: path)
    #expect(answer.status == 200 && answer.headers["content-type"] == type)
    #expect(
      answer.headers["content-security-policy"]
        == "default-src 'none'; sandbox; frame-ancestors 'none'")
    #expect(answer.headers["x-content-type-options"] == "nosniff")
    #expect(answer.headers["content-disposition"]?.hasPrefix(use + "; filename*=UTF-8''") == true)
    let foreign = try bytes(of: path, ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"])
    #expect(foreign.status == 403)
  }

  @Test(
    arguments: [
      ("bytes=4-6", 206, "012", "bytes 4-6/14"), ("bytes=11-", 206, "789", "bytes 11-13/14"),
      ("bytes=-2", 206, "89", "bytes 12-13/14"),
      ("bytes=-99", 206, "ID3 0123456789", "bytes 0-13/14"),
      ("bytes=0-999999999999", 206, "ID3 0123456789", "bytes 0-13/14"),
      ("bytes=14-", 416, "", "bytes */14"), ("bytes=-0", 416, "", "bytes */14"),
      ("bytes=5-4", 200, "ID3 0123456789", nil), ("bytes=0-1,3-4", 200, "ID3 0123456789", nil),
      ("bytes=-", 200, "ID3 0123456789", nil), ("lines=1-2", 200, "ID3 0123456789", nil),
      ("bytes=99999999999999999999-", 200, "ID3 0123456789", nil),
      ("bytes=+1-2", 200, "ID3 0123456789", nil),
    ] as [(String, Int, String, String?)])
  func `A player seeks`(range: String, status: Int, text: String, content: String?) throws {
    let answer = try bytes(of: "song.mp3", ["Range: " + range])
    #expect(answer.status == status && answer.text == text)
    #expect(answer.headers["content-range"] == content)
    #expect(answer.headers["content-length"] == "\(text.utf8.count)")
  }

  @Test func `A large file comes whole, to whoever reads slowly too`() throws {
    let text = String(repeating: "0123456789abcdef", count: 3 << 16)
    try web.folder.write("ID3" + text, to: "long.mp3")
    _ = try web.notebook.save()
    let answer = try bytes(of: "long.mp3")
    #expect(answer.text == "ID3" + text)
  }

  @Test(arguments: ["/files/../Trip.md", "/files/dog.jpg", "/files/0123456789ab/bytes"])
  func `No other file is shown`(path: String) throws { #expect(try web.get(path).status == 404) }

  @Test func `A note is no attachment`() throws {
    let note = try web.address("Trip.md").dropFirst(3)
    #expect(try web.get("/files/\(note)/bytes").status == 404)
  }

  // MARK: Added

  @Test func `A file comes in pieces, and goes on where it was cut`() throws {
    let first = try send("ID3 ", of: 8, named: "a.mp3", beside: "Trip.md")
    #expect(first.text == "{\"from\":4}")
    // A piece that was sent twice, or too early, changes nothing.
    #expect(try send("ID3 ", of: 8, named: "a.mp3", beside: "Trip.md").text == "{\"from\":4}")
    #expect(try send("x", from: 6, of: 8, named: "a.mp3").text == "{\"from\":4}")
    for _ in 0..<2 {
      let last = try send("song", from: 4, of: 8, named: "a.mp3", beside: "Trip.md")
      #expect(last.text == "{\"link\":\"[a.mp3](a.mp3)\"}")
    }
    #expect(try web.text("a.mp3") == "ID3 song")
    let guest = try reader()
    #expect(try bytes(of: "a.mp3", as: guest).text == "ID3 song")
  }

  @Test func `A name that is taken gets a number, and the same file none`() throws {
    let names = try ["ID3 a", "ID3 b", "ID3 a"].enumerated().map { number, text in
      try send(text, named: "my song.mp3", upload: "0123456789abcdef\(number)").text
    }
    #expect(names == ["my song", "my song 2", "my song"].map { "{\"link\":\"[[\($0).mp3]]\"}" })
  }

  @Test(arguments: [
    ("note.txt", "hello", 415), ("evil.svg", "<svg/>", 415), ("evil.html", "<p>", 415),
    ("run.sh", "#!/bin/sh", 415), ("x.desktop", "[Desktop Entry]", 415),
    (".gitattributes", "*", 415),
    ("none", "x", 415), ("a.mp3.exe", "MZ", 415), ("a.jpg", "<script>", 415),
    ("a.png", "GIF89a", 415),
    ("a.pdf", "MZ", 415), ("a.mp4", "\0\0\0\u{18}ftypmp42", 409), (".mp3", "ID3", 409),
    ("", "ID3", 400),
  ])
  func `A file that the page does not take is refused`(name: String, text: String, status: Int)
    throws
  {
    let before = try web.tip
    let answer = try send(text, named: name)
    #expect(answer.status == status, "\(answer)")
    #expect(try web.tip == before)
  }

  @Test(arguments: [
    "a\u{202E}gpj.mp3", "a\n.mp3", "../../etc/x.mp3", "/tmp/x.mp3", ".git/hooks/x.mp3", "a\\b.mp3",
    "a]](b).mp3",
  ])
  func `A name is no path and no link`(name: String) throws {
    let answer = try send("ID3", named: name)
    let made = try web.notebook.history.files().filter { $0.path.description.hasSuffix(".mp3") }
    #expect(made.allSatisfy { $0.path.parent == nil && !HiddenScalars.areIn($0.title, .name) })
    #expect(answer.status == 409 || answer.text.contains("[[") && made.count == 2, "\(answer)")
  }

  @Test func `Sizes and pieces are held to what was said`() throws {
    let most = WebLimits().fileBytes
    #expect(try send("ID3", of: most + 1, named: "a.mp3").status == 413)
    #expect(try send("ID3", of: 2, named: "a.mp3").status == 400)
    #expect(try send("ID3", from: -1, named: "a.mp3").status == 400)
    #expect(try send("ID3", named: "a.mp3", upload: "short").status == 400)
    #expect(try send("ID3", named: "a.mp3", more: "&beside=..").status == 404)
    for type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
      #expect(try send("ID3", named: "a.mp3", type: type).status == 415)
    }
    // As octets a form is none.
    #expect(try web.text("Shopping.txt") == "milk\n")
  }

  @Test func `A reader adds nothing`() throws {
    let guest = try reader()
    #expect(try send("ID3", named: "a.mp3", as: guest).status == 403)
    #expect(try bytes(of: "song.mp3", as: guest).status == 200)
  }

  @Test func `Uploads that were begun take no more memory than they may`() throws {
    let uploads = Uploads()
    func begin(_ name: String, _ visitor: String) throws {
      _ = try uploads.take(
        .init(name: name, visitor: visitor, start: 0, size: 9, bytes: [1]))
    }
    for number in 0..<9 { try begin("\(number)", "/a") }
    for number in 0..<9 { try begin("\(number)", "/b") }
    #expect(throws: Refusal.self) { try begin("0", "/c") }
  }
}
