import Glibc
import TestSupport
import Testing

/// notes-list(1), "New notes".
@Suite struct NewsTests {
  private let ada: Shell
  private let bob: Shell

  init() throws {
    ada = try Shell()
    bob = try Shell()
    try ada.folder.write("milk\n", to: "notes/Shopping.txt")
    try ada.folder.write("soup\n", to: "notes/Recipes.txt")
    try ada.initialise()
    try bob.join(ada, as: "bob")
  }

  private func sync() throws {
    let served = try ada.listening("serve")
    let result = try bob.notes("sync", "--at", "127.0.0.1:\(served.port)")
    #expect(result.isSuccess, "\(result)")
    served.process.send(2)
    try served.process.wait()
  }

  private func news(_ shell: Shell) throws -> [String] {
    try shell.notes("list", "--new", "--sort", "title", "--json").lines.map { line in
      #expect(line.contains(#""new":true"#))
      return String(line.split(separator: #""title":""#)[1].prefix { $0 != "\"" })
    }
  }

  @Test func `What others changed is new until it is looked at`() throws {
    #expect(try bob.notes("list", "--new").text == "No note is new.\n")
    try ada.folder.write("milk\neggs\n", to: "notes/Shopping.txt")
    try ada.folder.write("tea\n", to: "notes/Tea.txt")
    try bob.folder.write("mine\n", to: "notes/Mine.txt")
    try sync()
    #expect(try news(bob) == ["Shopping", "Tea"])
    #expect(try news(ada) == ["Mine"])
    // What was written here meanwhile does not hide it.
    try bob.folder.write("mine too\n", to: "notes/Mine.txt")
    try bob.notes("save")
    #expect(try news(bob) == ["Shopping", "Tea"])
    #expect(try bob.notes("list").lines.filter { $0.contains(" * ") }.count == 2)
    try bob.notes("show", "Tea", "--json")
    #expect(try news(bob) == ["Shopping", "Tea"])
    try bob.notes("show", "Tea")
    #expect(try news(bob) == ["Shopping"])
    // Whoever writes a note has seen it.
    try bob.folder.write("milk\neggs\nham\n", to: "notes/Shopping.txt")
    try bob.notes("save")
    #expect(try news(bob) == [])
    try sync()
    #expect(try news(ada) == ["Mine", "Shopping"])
    #expect(try ada.notes("list", "--mark-seen", "Shop").isSuccess)
    #expect(try news(ada) == ["Mine"])
    #expect(try ada.notes("list", "--mark-seen").isSuccess)
    #expect(try ada.notes("list", "--new").text == "No note is new.\n")
    let both = try bob.notes("list", "--new", "--deleted")
    #expect(both.status == .exited(64))
    let refusal = "--new and --mark-seen cannot be used with --deleted or --attachments"
    #expect(both.errorText.contains(refusal), "\(both)")
  }

  // notes-list(1), "New notes": "neither what was looked at last nor what this device wrote"
  @Test func `A text written or seen here is not new by another name, or back again`() throws {
    try ada.folder.write("tea\n", to: "notes/Tea.txt")
    try ada.notes("save")
    try sync()
    try bob.notes("list", "--mark-seen")
    try bob.notes("rm", "Tea")
    try bob.notes("undo")
    try sync()
    #expect(try news(ada) == [])
    try bob.notes("mv", "Tea", "Green tea")
    try sync()
    #expect(try news(ada) == [])
    try ada.notes("mv", "Green tea", "Black tea")
    try sync()
    #expect(try news(bob) == [])
  }

  @Test func `The browser marks what is new, and choosing it is looking at it`() throws {
    try ada.folder.write("milk\neggs\n", to: "notes/Shopping.txt")
    try sync()
    let screen = try bob.screen(notes: ["browse"])
    try screen.wait(for: "* Shopping")
    #expect(try news(bob) == ["Shopping"])
    // By its name: notes of one second stand in the order of their names.
    try screen.type("/Shopping\r")
    let deadline = Moment.now + 160
    while try news(bob) != [], Moment.now < deadline { sched_yield() }
    #expect(try news(bob) == [])
    try screen.type("q")
    try screen.wait(for: "left with 0")
  }
}
