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

/// notes-web(1), "All notebooks": they come and go while they are served.
@Suite(.serialized, .timeLimit(.minutes(20))) struct NotebooksPageChangesTests {
  /// The list, as soon as it names these notebooks and no others.
  private func wait(for names: [String], in shelf: NotebooksFixture) throws {
    let end = Instant.now + 120
    func shown() throws -> [String] {
      try shelf.get(shelf.browser.root + "/").text.matches(
        of: #/dir="auto">(\w+) &amp; &lt;b&gt;<\/span>/#
      )
      .map { String($0.1) }
    }
    while try shown() != names, Instant.now < end {}
    #expect(try shown() == names)
  }

  // "A notebook that is made, joined or cloned meanwhile is served from then on."
  @Test func `One that is made meanwhile is served, with guests of its own, and told`() throws {
    let shelf = try NotebooksFixture([])
    let root = shelf.browser.root
    let empty = try shelf.get(root + "/")
    #expect(empty.status == 200 && empty.text.contains("No notebook yet"))
    let list = try shelf.follow(root)
    defer { close(list) }
    try shelf.add("Home")
    try shelf.wait(list)
    try wait(for: ["Home"], in: shelf)
    try shelf.add("Work")
    try shelf.wait(list)
    try wait(for: ["Home", "Work"], in: shelf)
    // 'notes web guests invite' finds the page there.
    let origins = try ServedPage.origins(stateFolder: StateFolder(shelf.folder["Work/.git/notes"]))
    #expect(origins.first == "http://" + shelf.host && origins.count == 2)
    let ben = try shelf.guest(of: "Work", "Ben")
    let page = try shelf.follow(ben.root, ben.cookie)
    defer { close(page) }
    try shelf.save("Work", "figs\n")
    try shelf.wait(page)
    #expect(try shelf.get(ben.root + "/", ben.cookie).text.contains("Work plan"))
    #expect(try shelf.get(shelf.root(of: "Home") + "/", ben.cookie).status == 401)
  }

  // "While a notebook's folder is gone, the notebook is not in the list; it keeps its guests."
  @Test func `One whose folder was moved is not shown, and is again when it is back`() throws {
    let shelf = try NotebooksFixture(["Home", "Work"])
    let (home, root) = (shelf.root(of: "Home"), shelf.browser.root)
    let ben = try shelf.guest(of: "Home", "Ben")
    let note = try #require(
      try Notebook.open(at: shelf.folder["Home"]).history.notes().first
    ).id
    try #require(rename(shelf.folder["Home"], shelf.folder["Elsewhere"]) == 0)
    try wait(for: ["Work"], in: shelf)
    for (path, cookie) in [
      (home + "/", nil), ("\(home)/n/\(note)/edit", nil), (ben.root + "/", ben.cookie),
      (ben.root + "/events", ben.cookie),
    ] {
      let answer = try shelf.get(path, cookie)
      // Not 401, which has a phone delete what it keeps.
      #expect(answer.status == 503 && answer.text.contains("is unavailable"), "\(path)")
    }
    let id = String(repeating: "a", count: 40)
    #expect(try shelf.post("\(home)/n/\(note)/edit/\(id)/\(id)", "text-\(id)=x").status == 503)
    // Whoever is no guest is told nothing.
    for (path, cookie) in [(ben.root, "notes=x"), (home, ben.cookie), ("/aaaa", ben.cookie)] {
      #expect(try shelf.get(path + "/", cookie).status == 401)
    }
    #expect(try shelf.get(shelf.root(of: "Work") + "/").status == 200)
    try #require(rename(shelf.folder["Elsewhere"], shelf.folder["Home"]) == 0)
    try wait(for: ["Home", "Work"], in: shelf)
    #expect(try shelf.get(ben.root + "/", ben.cookie).status == 200)
    _ = try shelf.book(of: "Home").remove("Ben")
    #expect(try shelf.get(ben.root + "/", ben.cookie).status == 401)
    #expect(try shelf.get(root + "/nothing").text.contains("All notebooks"))
  }

  @Test func `One whose folder is deleted goes by itself, and is followed when it is back`() throws
  {
    let shelf = try NotebooksFixture(["Home", "Work"])
    let ben = try shelf.guest(of: "Home", "Ben")
    try #require(
      try run(["cp", "-a", shelf.folder["Home"], shelf.folder["Backup"]]).isSuccess)
    let list = try shelf.follow(shelf.browser.root)
    defer { close(list) }
    try #require(try run(["rm", "-r", shelf.folder["Home"]]).isSuccess)
    try shelf.wait(list)
    try wait(for: ["Work"], in: shelf)
    try #require(rename(shelf.folder["Backup"], shelf.folder["Home"]) == 0)
    // A page that is open asks again by itself.
    let page = try shelf.follow(ben.root, ben.cookie)
    defer { close(page) }
    try shelf.save("Home", "oats\n")
    try shelf.wait(page)
    // Now it is watched again.
    try shelf.save("Home", "rice\n")
    try shelf.wait(page)
    try wait(for: ["Home", "Work"], in: shelf)
  }

  @Test func `One that is taken off the list is served no longer, and the others go on`() throws {
    let shelf = try NotebooksFixture(["Home", "Work"])
    let ben = try shelf.guest(of: "Home", "Ben")
    let page = try shelf.follow(ben.root, ben.cookie)
    defer { close(page) }
    let lines = try shelf.folder.text("keys/notebooks").split(separator: "\n")
    try shelf.folder.write("x /nowhere\nrelative\n\(lines[1])\n", to: "keys/notebooks")
    // Ends when the server closes.
    _ = try shelf.client.read(from: page)
    try wait(for: ["Work"], in: shelf)
    #expect(try shelf.get(ben.root + "/", ben.cookie).status == 401)
    let gone = try shelf.get(shelf.root(of: "Home") + "/")
    #expect(gone.status == 404 && gone.text.contains("no such notebook any more"))
    try shelf.add("Third")
    try wait(for: ["Work", "Third"], in: shelf)
  }

  // notes-security(7): "One more connection closes one whose visitor was not admitted"
  @Test func `Five hundred pages that follow the list keep nobody out`() throws {
    let shelf = try NotebooksFixture(["Home"])
    var sockets: [Int32] = []
    defer { for socket in sockets { close(socket) } }
    for number in 0..<500 {
      let socket = try shelf.client.connect()
      sockets.append(socket)
      let cookie = number.isMultiple(of: 2) ? shelf.browser.cookie : "notes=x"
      shelf.client.write(
        "GET \(shelf.browser.root)/events HTTP/1.1\r\nHost: \(shelf.host)\r\nCookie: \(cookie)\r\n\r\n",
        to: socket)
    }
    try shelf.add("Work")
    try wait(for: ["Home", "Work"], in: shelf)
    #expect(try shelf.post(shelf.root(of: "Work") + "/new", "title=New&text=x").status == 303)
  }
}
