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

/// notes-web(1), "Writing together".
@Suite(.serialized) struct WritingTests {
  let web: WebFixture
  let note: String

  init() throws {
    web = try WebFixture()
    note = try web.address("Shopping.txt")
  }

  private func guest(_ name: String, as role: Role = .writer) throws -> WebFixture.Browser {
    try web.comeIn(
      GuestBook(stateFolder: web.notebook.stateFolder).invite(nil, as: role).token, name: name)
  }

  private func value(_ name: String, in answer: Answer) throws -> String {
    let found = try #require(answer.text.firstRange(of: "\"\(name)\":\""))
    return String(answer.text[found.upperBound...].prefix { $0 != "\"" })
  }

  @Test func `A page that edits goes on from the text that the note has now`() throws {
    let before = try web.get(note + "/text")
    #expect(before.headers["content-type"] == "application/json")
    #expect(
      before.text.contains("\"text\":\"milk\\n\"")
        && before.text.contains("\"isInConflict\":false"))
    #expect(try web.page(note + "/edit").text.contains(value("edit", in: before)))
    _ = try web.save("milk\neggs\n", by: web.page(note + "/edit"))
    let after = try web.get(note + "/text")
    #expect(after.text.contains("\"text\":\"milk\\neggs\\n\""))
    // A text that is typed on that is an edit of that.
    let form = "/n/" + (try value("edit", in: after)).dropFirst(3)
    let saved = try web.post(
      form, [("text-" + value("blob", in: after), "milk\neggs\ntea\n")], as: nil,
      ["Accept: application/json"])
    #expect(saved.text.contains("\"done\":\"saved\""))
    #expect(try web.text("Shopping.txt") == "milk\neggs\ntea\n")
  }

  @Test func `Readers get a text and no page to edit it, and a deleted note has neither`() throws {
    let reader = try guest("Ron", as: .reader)
    #expect(try web.get(note + "/text", as: reader).status == 200)
    #expect(try web.get(note + "/edit", as: reader).status == 403)
    _ = try web.notebook.delete(["Shopping.txt"], allowsMassDeletion: true)
    #expect(try web.get(note + "/text").status == 404)
  }

  /// Follows the note's events, as its page does in a browser.
  private func follow(_ kind: String, as browser: WebFixture.Browser) throws -> Int32 {
    let socket = try web.client.connect()
    web.client.write(
      WebFixture.request(
        "GET", browser.root + "/events?\(kind)=\(note.dropFirst(3))", host: web.host,
        ["Cookie: " + browser.cookie]),
      to: socket)
    return socket
  }

  /// Asks again until the page says so, or 60 s are over.
  private func isShown(
    _ text: String, _ wanted: Bool, on page: String, as browser: WebFixture.Browser? = nil
  ) throws -> Bool {
    let end = Instant.now + 60
    while Instant.now < end {
      if try web.page(page, as: browser).text.contains(text) == wanted { return true }
    }
    return false
  }

  // "While you edit a note, the pages of all others say so"
  @Test
  func `Who has a note open is shown in other browsers, and no longer when the page is closed`()
    throws
  {
    let (mia, tom) = (try guest("Mia"), try guest("Tom"))
    let socket = try follow("edit", as: mia)
    for browser in [web.browser, tom] {
      #expect(try isShown("<b>Mia</b> is writing", true, on: note, as: browser))
      #expect(try isShown("<b>Mia</b> is writing", true, on: "/", as: browser))
    }
    #expect(try !web.get(note, as: mia).text.contains("is writing"))
    // "The list shows the faces of the people who write in other browsers"
    for browser in [web.browser, tom] {
      #expect(try web.page("/", as: browser).text.contains("Mia is connected</span>"))
    }
    #expect(try web.get("/", as: mia).text.contains(noFaces))
    close(socket)
    #expect(try isShown("is writing", false, on: note))
    #expect(try isShown(noFaces, true, on: "/"))
  }

  private let noFaces = #"<span id="faces" class="faces" data-live data-presence></span>"#

  // "with the line of the writer's last saved change, if it is at most ten minutes old and still in the text"
  @Test func `The line of a writer's last change is shown, wherever it moves`() throws {
    let mia = try guest("Mia")
    let socket = try follow("edit", as: mia)
    #expect(try isShown("<b>Mia</b> is writing", true, on: note))
    _ = try web.save("milk\neggs\n", by: web.page(note + "/edit", as: mia), as: mia)
    #expect(try isShown("<b>Mia</b> (line 2) is writing", true, on: note))
    _ = try web.save("bread\nmilk\neggs\n", by: web.page(note + "/edit"))
    #expect(try isShown("<b>Mia</b> (line 3) is writing", true, on: note + "/edit"))
    _ = try web.save("bread\nmilk\n", by: web.page(note + "/edit"))
    #expect(try isShown("<b>Mia</b> is writing", true, on: note))
    close(socket)
  }

  // "A note's own pages also name the people who read it in other browsers."
  @Test func `Who reads a note is shown on its own pages, and a reader gets its text`() throws {
    let book = GuestBook(stateFolder: web.notebook.stateFolder)
    let (ben, mia) = (try web.comeIn(book.invite("Ben", as: .reader).token), try guest("Mia"))
    let socket = try follow("read", as: ben)
    for browser in [web.browser, mia] {
      #expect(try isShown("<b>Ben</b> has it open", true, on: note, as: browser))
    }
    #expect(try !web.get(note, as: ben).text.contains("has it open"))
    #expect(try !web.get("/").text.contains("<b>Ben</b>"))
    #expect(try web.get(note + "/text", as: ben).text.contains(#""text":"milk\n""#))
    close(socket)
    #expect(try isShown("has it open", false, on: note))
  }

  // notes-web(1), "What a save is made on": the version that was shown may be a merge that another one has
  // taken the place of.
  @Test func `An edit on a merge that is the tip no longer is saved, and so is a tick`() throws {
    let first = try #require(try web.tip)
    try web.folder.write("- [ ] a\n", to: "List.txt")
    _ = try web.notebook.save()
    try web.meet("Ben", [("Trip.txt", "a\n")], on: first)
    let shown = try #require(try web.tip)
    let form = try web.page(note + "/edit")
    let list = try web.get(web.address("List.txt"))
    try web.meet("Cleo", [("Tour.txt", "b\n")], on: first)
    let tip = try #require(try web.tip)
    #expect(try !web.notebook.repository.isAncestor(shown, of: tip))
    #expect(try web.save("milk\ntea\n", by: form).status == 303)
    #expect(try web.text("Shopping.txt") == "milk\ntea\n")
    let field = try web.value("class=\"tick\" name=\"", in: list)
    #expect(try web.post(web.action(in: list), [(field, "1")]).status == 303)
    #expect(try web.text("List.txt") == "- [x] a\n")
    #expect(try web.text("Trip.txt") == "a\n" && web.text("Tour.txt") == "b\n")
  }

  @Test func `A name is text where it is shown as writing`() throws {
    let names = OpenNotes()
    let page = OpenNote.Page(note: "1", name: "<b>", isEditing: true)
    var open: OpenNote? = OpenNote(page, in: names, watcher: nil)
    #expect(names.names(except: "me", editing: true) == ["1": ["<b>"]])
    #expect(names.names(except: "me", editing: false).isEmpty)
    #expect(names.names(except: "<b>", editing: true).isEmpty)
    #expect(
      RequestContext.isWriting(["<b>", "c"]).markup == "<b>&lt;b&gt;</b>, <b>c</b> are writing")
    withExtendedLifetime(open) {}
    open = nil
    #expect(names.names(except: "me", editing: true).isEmpty)
  }
}
