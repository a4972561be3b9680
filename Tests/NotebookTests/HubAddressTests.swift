import Notebook
import NotebookSupport
import Testing

/// notes-hub(7), "Addresses".
@Suite("Names and addresses of hubs")
struct HubAddressTests {
  @Test(
    "addresses are kept as git takes them",
    arguments: [
      ("git@git.example.org:ada/notes.git", "git@git.example.org:ada/notes.git"),
      ("ssh://ada@[::1]:2222/srv/notes.git", "ssh://ada@[::1]:2222/srv/notes.git"),
      ("https://git.example.org/ada/notes.git", "https://git.example.org/ada/notes.git"),
      ("git://git.example.org/notes.git", "git://git.example.org/notes.git"),
      ("/media/stick/notes.git", "/media/stick/notes.git"), ("notes.git", "/home/ada/notes.git"),
      ("../notes.git", "/home/ada/../notes.git"), ("./a:b", "/home/ada/./a:b"),
      ("file:///srv/notes.git", "/srv/notes.git"),
    ])
  func good(text: String, kept: String) throws {
    #expect(try Hub.address(text, from: "/home/ada") == kept)
  }

  @Test(
    "what git would take for an option, a program or a secret is refused",
    arguments: [
      "", "-uyes", "--upload-pack=x", "ext::sh -c id", "fd::17", "http://h/x", "ftp://h/x",
      "ssh://-oProxyCommand=id/x", "-oProxyCommand=id:x", "ada@-oProxyCommand=id:x",
      "https://ada:secret@h/x", "https://h", "ssh:///x", "a\nb:c", "file://h/x", ":x",
      "transport::address",
    ])
  func bad(text: String) {
    #expect(throws: HubDefect.self) { try Hub.address(text, from: "/home/ada") }
  }

  @Test("hubs are kept beside git's remotes, which they leave alone")
  func kept() throws {
    let ada = try Fixture()
    #expect(try ada.notebook.hubs() == [])
    let (home, office) = (
      Hub(name: "home", url: "/srv/a.git"), Hub(name: "office", url: "h:b.git")
    )
    try ada.notebook.add(home)
    try ada.notebook.add(office)
    #expect(try ada.notebook.hubs() == [home, office])
    #expect(try ada.git(["remote", "get-url", "home"]) == "/srv/a.git\n")
    _ = try ada.git(["remote", "add", "upstream", "/srv/c.git"])
    #expect(throws: HubDefect.nameTaken("upstream", url: "/srv/c.git")) {
      try ada.notebook.add(Hub(name: "upstream", url: "/srv/d.git"))
    }
    try ada.notebook.add(Hub(name: "upstream", url: "/srv/c.git"))
    #expect(try ada.notebook.hubs().count == 3)
    try ada.notebook.removeHub(named: "home")
    #expect(throws: HubDefect.noSuchHub("home")) { try ada.notebook.removeHub(named: "home") }
    #expect(try ada.notebook.hubs().map(\.name) == ["office", "upstream"])
    #expect(try ada.git(["remote"]) == "office\nupstream\n")
  }

  @Test(
    "names that are none", arguments: ["", "-a", ".a", "a.", "a..b", "a b", "a/b", "a.lock", "é"])
  func names(name: String) throws {
    let ada = try Fixture()
    #expect(throws: HubDefect.name(name)) {
      try ada.notebook.add(Hub(name: name, url: "/srv/a.git"))
    }
    let long = String(repeating: "a", count: 33)
    #expect(throws: HubDefect.name(long)) {
      try ada.notebook.add(Hub(name: long, url: "/srv/a.git"))
    }
  }
}
