import Git
import History
import Notebook
import TestSupport
import Testing
import WorkTree

@testable import Web

/// notes-web(1), "What a save is made on": a form is for the version and the text that it was shown with,
/// whatever a browser fills in again, and when.
@Suite(.serialized) struct BoundPagesTests {
  let web: WebFixture
  let note: String

  init() throws {
    web = try WebFixture()
    note = try web.address("Shopping.txt")
  }

  private func write(_ text: String) throws {
    try web.folder.write(text, to: "Shopping.txt")
    _ = try web.notebook.save()
  }

  private func location(_ answer: Answer) throws -> String {
    #expect(answer.status == 303, "\(answer)")
    return String(try #require(answer.headers["location"]).dropFirst(web.root.count))
  }

  @Test func `The address of a page for editing is for ever that of its text`() throws {
    let address = try location(web.get(note + "/edit"))
    let first = try web.get(address)
    try write("milk\neggs\n")
    let again = try web.get(address)
    #expect(again.text.contains(">\nmilk\n</textarea>"))
    #expect(try web.action(in: again) == web.action(in: first))
    // What was typed before goes on that text, and the other's line stays.
    #expect(try location(web.save("oats\nmilk\n", by: again)).hasSuffix("?done=merged"))
    #expect(try web.text("Shopping.txt") == "oats\nmilk\neggs\n")
    // The page now has another address, another form and another field.
    let fresh = try web.page(note + "/edit")
    #expect(try web.action(in: fresh) != web.action(in: first))
    let names = try [first, fresh].map {
      try web.value("<textarea id=\"text\" class=\"write\" name=\"", in: $0)
    }
    #expect(names[0] != names[1])
  }

  @Test func `A text of another page's field is refused`() throws {
    let first = try web.page(note + "/edit")
    try write("milk\neggs\n")
    let fresh = try web.page(note + "/edit")
    let name = try web.value("<textarea id=\"text\" class=\"write\" name=\"", in: first)
    let mixed = try web.post(web.action(in: fresh), [(name, "milk\nbread\n")])
    #expect(mixed.status == 400)
    #expect(try web.text("Shopping.txt") == "milk\neggs\n")
  }

  @Test func `A text that was in the folder alone is shown again, and no other one of the store`()
    throws
  {
    try web.folder.write("milk\nin vim\n", to: "Shopping.txt")
    let address = try location(web.get(note + "/edit"))
    try web.folder.write("milk\nin vim\nmore\n", to: "Shopping.txt")
    let page = try web.get(address)
    #expect(page.text.contains(">\nmilk\nin vim\n</textarea>"))
    #expect(try location(web.save("milk\n", by: page)).contains("?done="))
    #expect(try web.text("Shopping.txt").contains("more\n"))
    let secret = try web.notebook.repository.write(blob: Array("of nobody\n".utf8))
    let tip = try #require(try web.tip)
    #expect(try web.get("\(note)/edit/\(tip.hex)/\(secret.hex)").status == 404)
  }

  /// What a script is told, and what the text it holds is made of from then on.
  @Test func `What is typed after a save is made on what was typed before`() throws {
    let form = try web.page(note + "/edit")
    try write("milk\neggs\n")
    let name = try web.value("<textarea id=\"text\" class=\"write\" name=\"", in: form)
    let said = try web.post(
      web.action(in: form), [(name, "bread\nmilk\n")], as: nil, ["Accept: application/json"])
    #expect(said.status == 200 && said.text.hasPrefix(#"{"done":"merged","page":"\#(note)","#))
    #expect(try web.text("Shopping.txt") == "bread\nmilk\neggs\n")
    // The writer has not seen the eggs, and takes back the own line.
    let field = "text-" + (try web.value(#""blob":""#, in: said))
    let edit = try #require(said.text.firstMatch(of: #/"edit":"([^"]+)"/#)).1
    let again = try web.post(String(edit), [(field, "bread, sliced\nmilk\n")])
    #expect(try location(again).hasSuffix("?done=merged"))
    #expect(try web.text("Shopping.txt") == "bread, sliced\nmilk\neggs\n")
    #expect(try web.notebook.history.conflicts().isEmpty)
  }

  @Test func `What takes the place of a text is refused where the page showed another one`() throws
  {
    let first = try #require(try web.tip).hex
    try write("milk\neggs\n")
    let forms = try [note + "/delete", "\(note)/v/\(first)"].map {
      try web.action(in: web.get($0))
    }
    try write("milk\neggs\npills\n")
    for form in forms {
      let answer = try web.post(form, [])
      #expect(answer.status == 409 && answer.text.contains("has changed since"), "\(form)")
      #expect(try web.text("Shopping.txt") == "milk\neggs\npills\n")
    }
    // Seen, it is done.
    #expect(try web.post(web.action(in: web.get("\(note)/v/\(first)")), []).status == 303)
    #expect(try web.text("Shopping.txt") == "milk\n")
    #expect(try web.post(web.action(in: web.get(note + "/delete")), []).status == 303)
    #expect(try web.get(note).text.contains("This note is deleted."))
  }

  @Test func `A title that somebody else has changed is not changed back`() throws {
    let form = try web.action(in: web.get(note + "/rename"))
    _ = try web.notebook.rename("Shopping.txt", to: "Errands.txt")
    #expect(try location(web.post(form, [("title", "Shopping")])).hasSuffix("?done=same"))
    #expect(try web.post(form, [("title", "Groceries")]).status == 409)
    #expect(try web.text("Errands.txt") == "milk\n")
    let fresh = try web.action(in: web.get(note + "/rename"))
    #expect(try web.post(fresh, [("title", "Groceries")]).status == 303)
    #expect(try web.text("Groceries.txt") == "milk\n")
  }

  @Test func `What was chosen for a conflict is not chosen for the next one`() throws {
    func conflict(_ ours: String, _ theirs: String, on base: ObjectID) throws {
      try write(ours)
      try web.meet("Ben", [("Shopping.txt", theirs)], on: base)
    }
    let base = try #require(try web.tip)
    try conflict("oat milk\n", "soy milk\n", on: base)
    let page = try web.page(note + "/settle")
    let choice = "choice-0" + (try web.value("name=\"choice-0", in: page))
    let form = try web.action(in: page)
    let fields = [(choice, "own"), (choice.replacing("choice", with: "own"), "rice milk")]
    #expect(try location(web.post(form, fields)).hasSuffix("?done=settled"))
    #expect(try web.text("Shopping.txt") == "rice milk\n")
    let settled = try #require(try web.tip)
    #expect(try location(web.post(form, fields)).hasSuffix("?done=settled"))
    #expect(try web.tip == settled)
    try conflict("goat milk\n", "no milk\n", on: settled)
    let fresh = try web.page(note + "/settle")
    #expect(try web.action(in: fresh) != form && !fresh.text.contains(choice))
    // The former page's text is made on the former conflict, and nobody's is taken back by it.
    _ = try web.post(form, fields)
    let text = try web.text("Shopping.txt")
    #expect(text.contains("goat milk\n") && text.contains("no milk\n"), "\(text)")
    #expect(try !web.notebook.history.conflicts().isEmpty)
  }
}
