import Git
import Glibc
import History
import Notebook
import TestSupport
import Testing
import WorkTree

@testable import Web

/// What the pages show and do, without any script.
@Suite(.serialized) struct PageTests {
  let web: WebFixture

  init() throws { web = try WebFixture() }

  private func location(_ answer: Answer) throws -> String {
    #expect(answer.status == 303, "\(answer)")
    let target = try #require(answer.headers["location"])
    return String(target.dropFirst(web.root.count))
  }

  @Test func `The list has the notes, and a search finds them`() throws {
    try web.folder.write("forum\n", to: "trips/Rome.md")
    _ = try web.notebook.save()
    try web.folder.write("colosseum\n", to: "trips/Rome.md")
    _ = try web.notebook.save()
    let list = try web.get("/").text
    #expect(
      list.contains(">Shopping</span>") && list.contains(">Rome</span>")
        && list.contains(">trips</bdi>"))
    let found = try web.get("/?q=colos").text
    #expect(found.contains(">Rome</span>") && !found.contains(">Shopping</span>"))
    #expect(found.contains("<mark>colos</mark>seum"))
    #expect(try web.get("/?q=forum").text.contains("No notes match."))
    let former = try web.get("/?q=forum&history=on").text
    #expect(former.contains(">Rome</span>") && former.contains("in an older version"))
  }

  @Test func `A note is made, edited, renamed, deleted and brought back`() throws {
    let made = try location(web.post("/new", [("title", "trips/Oslo"), ("text", "fjord\r\nski")]))
    #expect(try web.text("trips/Oslo.txt") == "fjord\nski\n")
    let note = String(made.prefix { $0 != "?" })
    #expect(try web.get(note).text.contains("fjord\nski\n"))
    // Whoever has not heard the answer sends it again; another text by that title is refused.
    let again = try location(web.post("/new", [("title", "trips/Oslo"), ("text", "fjord\r\nski")]))
    #expect(again == made)
    #expect(try web.post("/new", [("title", "trips/Oslo"), ("text", "sea")]).status == 409)
    let edited = try web.save("fjord\r\nsauna\r\n", by: web.page(note + "/edit"))
    #expect(try location(edited).hasSuffix("?done=saved"))
    #expect(try web.text("trips/Oslo.txt") == "fjord\nsauna\n")
    let versions = try web.get(note + "/versions").text
    #expect(versions.contains("<del>ski</del>") && versions.contains("<ins>sauna</ins>"))
    #expect(versions.contains("<b>Ann</b>"))
    let rename = try web.action(in: web.get(note + "/rename"))
    _ = try location(web.post(rename, [("title", "Norway")]))
    #expect(try web.text("Norway.txt") == "fjord\nsauna\n")
    _ = try location(web.post(web.action(in: web.get(note + "/delete")), []))
    #expect(try web.get("/deleted").text.contains(">Norway</span>"))
    #expect(try web.get(note).text.contains("sauna"))
    _ = try location(web.post(note + "/restore", []))
    #expect(try web.text("Norway.txt") == "fjord\nsauna\n")
  }

  @Test func `A version is restored and copied`() throws {
    try web.folder.write("milk\neggs\n", to: "Shopping.txt")
    _ = try web.notebook.save()
    let note = try web.address("Shopping.txt")
    let first = try web.notebook.history.version(named: "~1", of: "Shopping.txt")
    let page = try web.get("\(note)/v/\(first.id.hex)")
    #expect(page.text.contains("<pre class=\"text\" dir=\"auto\">milk\n</pre>"))
    let copy = try location(web.post("\(note)/copy/\(first.id.hex)", []))
    #expect(copy.hasSuffix("?done=copied"))
    #expect(try web.get(String(copy.prefix { $0 != "?" })).text.contains("milk\n"))
    _ = try location(web.post("\(note)/copy/\(first.id.hex)", []))
    let names = try web.notebook.history.notes().map(\.path.description).sorted()
    #expect(names.count { $0.contains(#/^Shopping \(\d{4}-\d\d-\d\d \d\d\.\d\d\)\.txt$/#) } == 1)
    #expect(names.count { $0.hasPrefix("Shopping (") && $0.hasSuffix(", 2).txt") } == 1)
    _ = try location(web.post(web.action(in: page), []))
    #expect(try web.text("Shopping.txt") == "milk\n")
    let undo = try web.get("/undo")
    #expect(undo.text.contains("Restore Shopping"))
    _ = try location(web.post(web.action(in: undo), []))
    #expect(try web.text("Shopping.txt") == "milk\neggs\n")
  }

  @Test func `Two requests that come at once are both answered`() throws {
    func request(_ path: String, _ connection: String) -> String {
      "GET \(web.root)\(path) HTTP/1.1\r\nHost: \(web.host)\r\nCookie: \(web.cookie)\r\n"
        + "Connection: \(connection)\r\n\r\n"
    }
    let socket = try web.client.connect()
    defer { close(socket) }
    web.client.write(request("/", "keep-alive") + request("/deleted", "close"), to: socket)
    let text = String(decoding: try web.client.read(from: socket), as: UTF8.self)
    #expect(text.split(separator: "HTTP/1.1 200 ").count == 2, "\(text)")
  }

  // notes-web(1): "What a save is made on".
  @Test func `A save is merged with what came since, and neither text is lost`() throws {
    let note = try web.address("Shopping.txt")
    let form = try web.page(note + "/edit")
    try web.folder.write("eggs\nmilk\n", to: "Shopping.txt")
    _ = try web.notebook.save()
    #expect(try location(web.save("milk\nbread\n", by: form)).hasSuffix("?done=merged"))
    #expect(try web.text("Shopping.txt") == "eggs\nmilk\nbread\n")
    // Whoever has not heard the answer sends it again.
    let tip = try web.tip
    #expect(try location(web.save("milk\nbread\n", by: form)).hasSuffix("?done=same"))
    #expect(try web.tip == tip)
    // And one that was typed on the old version all the same.
    _ = try location(web.save("oat milk\n", by: form))
    let texts = try versionTexts("Shopping.txt")
    for text in ["milk\n", "eggs\nmilk\n", "milk\nbread\n", "oat milk\n"] {
      #expect(texts.contains(text), "\(text) is not in the history")
    }
  }

  @Test func `An edit meets what an editor wrote into the file and did not save`() throws {
    let note = try web.address("Shopping.txt")
    let form = try web.page(note + "/edit")
    try web.folder.write("milk\nin vim\n", to: "Shopping.txt")
    #expect(try location(web.save("in the browser\nmilk\n", by: form)).hasSuffix("?done=merged"))
    #expect(try web.text("Shopping.txt") == "in the browser\nmilk\nin vim\n")
  }

  @Test func `An edit of a note that was deleted or renamed meanwhile is kept`() throws {
    for deletes in [true, false] {
      let web = try WebFixture()
      let note = try web.address("Shopping.txt")
      let form = try web.page(note + "/edit")
      if deletes {
        _ = try web.notebook.delete(["Shopping.txt"], allowsMassDeletion: true)
      } else {
        _ = try web.notebook.rename("Shopping.txt", to: "Errands.txt")
      }
      #expect(try web.save("milk\ncheese\n", by: form).status == 303)
      #expect(try web.text(deletes ? "Shopping.txt" : "Errands.txt") == "milk\ncheese\n")
    }
  }

  private func versionTexts(_ path: TreePath) throws -> Set<String> {
    var texts: Set<String> = []
    try web.notebook.history.forEachVersion(of: path, includesDerived: true) { version in
      for blob in version.changes.compactMap(\.new) {
        texts.insert(String(decoding: try web.notebook.repository.blob(blob), as: UTF8.self))
      }
      return true
    }
    return texts
  }

  @Test(arguments: [
    ("older", "", "top\nANN\nmiddle\n"), ("newer", "", "top\nBEN\nmiddle\n"),
    ("both", "", "top\nANN\nBEN\nmiddle\n"), ("own", "both of us", "top\nboth of us\nmiddle\n"),
  ])
  func `A conflict is settled block by block`(choice: String, own: String, expected: String) throws
  {
    try web.folder.write("top\none\nmiddle\n", to: "Plan.txt")
    let base = try #require(try web.notebook.save().version)
    try web.folder.write("top\nANN\nmiddle\n", to: "Plan.txt")
    web.notebook.clock = Clock { (1_700_000_000, 0) }
    _ = try web.notebook.save()
    try web.meet("Ben", [("Plan.txt", "top\nBEN\nmiddle\n")], on: base)
    let note = try web.address("Plan.txt")
    #expect(try web.get("/").text.contains("two texts"))
    #expect(try web.get(note).text.contains("Choose which to keep"))
    let page = try web.page(note + "/settle")
    #expect(page.text.contains("Ben") && page.text.contains("Place 1 of 1"))
    let fields = try ["choice-0", "own-0"].map { $0 + (try web.value("name=\"\($0)", in: page)) }
    let sent = Array(zip(fields, [choice, own]))
    #expect(try location(web.post(web.action(in: page), sent)).hasSuffix("?done=settled"))
    let text = try web.text("Plan.txt")
    if choice == "both" {
      #expect(["top\nANN\nBEN\nmiddle\n", "top\nBEN\nANN\nmiddle\n"].contains(text))
    } else {
      #expect(text == expected)
    }
    #expect(try web.notebook.history.conflicts().isEmpty)
  }

  // notes-security(7): "The page shows notes as text."
  @Test func `Script in a title, a text, a folder and a device's name is text`() throws {
    let script = RenderingTests.script.split(separator: "/").joined()
    let first = try #require(try web.tip)
    try web.meet(script, [("<b>/\(script).txt", "\(RenderingTests.script)\n")], on: first)
    let path = TreePath("<b>/\(script).txt")
    let note = try web.address(path)
    let version = try #require(try web.notebook.history.versions(of: path).next())
    let pages = [
      "/", "/?q=alert", note, note + "/edit", note + "/versions", note + "/rename",
      note + "/delete", "\(note)/v/\(version.commit.id.hex)", "/undo",
    ]
    for page in pages {
      let answer = try web.page(page)
      #expect(answer.status == 200, "\(page)")
      #expect(!answer.text.contains("<script>") && !answer.text.contains("<b>/"), "\(page)")
      #expect(answer.text.components("<script").count == 2, "\(page)")
    }
    #expect(try web.get(note + "/versions").text.contains("&lt;script&gt;"))
  }

  @Test func `What cannot be done shows the typed text again`() throws {
    let answer = try web.post("/new", [("title", "Shopping"), ("text", "typed <here>\r\n")])
    #expect(answer.status == 409 && answer.text.contains("typed &lt;here&gt;"))
    #expect(answer.text.contains("There is a note Shopping.txt already."))
    #expect(try web.text("Shopping.txt") == "milk\n")
  }

  @Test func `A text that is too long for the page is shown in part and not edited`() throws {
    try web.folder.write(String(repeating: "x\n", count: 600_000), to: "Long.txt")
    _ = try web.notebook.save()
    let note = try web.address("Long.txt")
    #expect(try web.get(note).text.contains("These are the first 1024 KiB"))
    #expect(try web.page(note + "/edit").status == 413)
  }
}

extension String {
  fileprivate func components(_ separator: String) -> [String] {
    var (parts, rest) = ([String](), self[...])
    while let found = rest.firstRange(of: separator) {
      parts.append(String(rest[..<found.lowerBound]))
      rest = rest[found.upperBound...]
    }
    return parts + [String(rest)]
  }
}
