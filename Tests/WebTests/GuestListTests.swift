import Membership
import Notebook
import TestSupport
import Testing

@testable import Web

/// notes-web(1), "Guests": the user of the device invites, changes and removes them on the page.
@Suite(.serialized) struct GuestListTests {
  private let founded: FoundedFixture
  private var web: WebFixture { founded.web }

  init() throws { founded = try FoundedFixture() }

  private var book: GuestBook { GuestBook(stateFolder: web.notebook.stateFolder) }

  @Test func `A guest is invited, seen, made a reader, and removed`() throws {
    let made = try web.post("/devices/guests", [("name", "Grandma"), ("role", "writer")])
    let token = try #require(made.text.firstMatch(of: #/\/guest\/([a-z2-7]{52})</#)?.1)
    #expect(made.status == 200 && made.text.contains("<svg class=\"code\""))
    #expect(made.text.contains("http://\(web.host)/guest/"))
    #expect(try web.get("/devices").text.contains("<b>Grandma</b>"))
    let guest = try web.comeIn(String(token))
    let id = try #require(try book.guests().first).id
    #expect(try web.get("/devices").text.contains("has not opened the page since it was started"))
    #expect(try web.get("/", as: guest).status == 200)
    #expect(try web.get("/devices").text.contains("last here"))
    #expect(try web.get("/devices/guest/" + id).text.contains("Grandma"))
    #expect(try web.post("/devices/guest/\(id)/role", [("role", "reader")]).status == 303)
    #expect(try web.get("/new", as: guest).status == 403)
    #expect(try web.post("/devices/guest/\(id)/remove", []).status == 303)
    #expect(try web.get("/", as: guest).status == 401)
  }

  @Test func `An invitation is cancelled, also one without a name`() throws {
    for name in ["", "Ben"] {
      #expect(try web.post("/devices/guests", [("name", name), ("role", "reader")]).status == 200)
      let page = try web.get("/devices")
      let place = try #require(
        page.text.firstMatch(of: #/\/devices\/guest\/[0-9a-f]{64}\/remove/#)?.0)
      #expect(try web.post(String(place), []).status == 303)
      #expect(try book.invitations().isEmpty)
    }
  }

  @Test(
    arguments: [
      ("/devices/guests", [("role", "admin")], 400), ("/devices/guests", [], 400),
      ("/devices/guests", [("role", "reader"), ("name", "a\nb")], 409),
      ("/devices/guests", [("role", "reader"), ("name", "Grandma")], 409),
      ("/devices/guest/nobody/role", [("role", "reader")], 404),
      ("/devices/guest/nobody/remove", [], 404),
    ] as [(String, [(String, String)], Int)])
  func `What is no guest's is refused`(path: String, fields: [(String, String)], status: Int) throws
  {
    let guest = try web.comeIn(book.invite("Grandma", as: .writer).token)
    let before = try book.guests()
    #expect(try web.post(path, fields).status == status)
    // "this page is for the user of this device alone"
    #expect(try web.post(path, fields, as: guest).status == 403)
    #expect(try web.get("/devices/guest/" + before[0].id, as: guest).status == 403)
    #expect(try book.guests() == before && book.invitations().isEmpty)
  }
}
