import Glibc
import TestSupport
import Testing

/// notes-join(1): the folder in which a device joins.
@Suite(.timeLimit(.minutes(5))) struct JoinPlaceTests {
  private let ada: Shell
  private let bob: Shell
  private let hub: String

  init() throws {
    ada = try Shell()
    bob = try Shell()
    hub = ada.folder["hub.git"]
    try ada.folder.write("one\n", to: "notes/A.txt")
    try ada.folder.write("secret.txt\n", to: "notes/.gitignore")
    try ada.initialise()
    try #require(try run(["git", "init", "-q", "--bare", "-b", "main", hub]).isSuccess)
    try #require(try ada.notes("remote", "add", "home", hub).isSuccess)
  }

  private func link() throws -> String {
    let result = try ada.notes("invite", "--hub", "home")
    return try #require(result.lines.first { $0.hasPrefix("notes://join/") }, "\(result)")
  }

  private func file(_ name: String = "home") throws -> String {
    let path = ada.folder[name + ".invitation"]
    let made = try ada.notes("invite", "--file", path)
    try #require(made.isSuccess, "\(made)")
    return path
  }

  private func isAbsent(_ name: String) -> Bool { access(bob.folder[name], F_OK) != 0 }

  // notes-join(1): "It also refuses a notebook that this device already has in another folder, and names that folder"
  @Test func `No way in makes a second copy of a notebook`() throws {
    let link = try link()
    let (file, desk) = (try file(), bob.folder["desk"])
    try #require(try bob.notes("clone", hub, "../desk").isSuccess)
    let here = "notes: error: this notebook is already on this device, in \(desk)\n"
    for (given, word) in [(link, "LINK"), (file, "FILE")] {
      let second = try bob.notes("join", given, "../second", "--yes")
      #expect(second.status == .exited(1) && second.errorText.hasPrefix(here), "\(second)")
      #expect(
        second.errorText.contains(
          "to join there, give that folder: 'notes join \(word) \(desk)'"), "\(second)")
      #expect(!second.text.contains("into"), "\(second)")
    }
    #expect(isAbsent("second") && access(ada.folder["home.request"], F_OK) != 0)
    let invitation = try ada.invite()
    let second = try bob.join(invitation.code, invitation.port, as: "desk", in: "notes")
    #expect(second.status == .exited(1) && second.errorText.hasPrefix(here), "\(second)")
    #expect(second.errorText.contains("'notes join CODE \(desk)'"), "\(second)")
    #expect(isAbsent("notes/.git"))
    // The folder that has it is the one in which the device joins, also by another path to it.
    try #require(symlink(desk, bob.folder["way"]) == 0)
    let asked = try bob.notes("join", link, "../way", "--yes")
    #expect(asked.isSuccess && asked.text.contains("has asked to join"), "\(asked)")
    let joined = try bob.join(invitation.code, invitation.port, as: "desk", in: "desk")
    #expect(joined.isSuccess, "\(joined)")
    try invitation.process.wait()
    let again = try bob.notes("join", link, "../second", "--yes")
    #expect(again.errorText.hasPrefix(here), "\(again)")
    #expect(again.errorText.contains("'notes -C \(desk) sync' receives what is new"), "\(again)")
    // A folder that is gone does not count.
    removeTree(desk)
    let third = try bob.notes("join", try self.link(), "../third", "--yes")
    #expect(third.isSuccess && !isAbsent("third"), "\(third)")
  }

  // "Notes already in the folder stay: the command merges them, and the other members receive them. It [...] does not
  // send files that their ignore files and attributes exclude."
  @Test(arguments: ["link", "file"])
  func `Notes in a folder that is given stay, and are merged`(way: String) throws {
    try bob.folder.write("mine\n", to: "desk/Mine.txt")
    try bob.folder.write("two\n", to: "desk/A.txt")
    try bob.folder.write("secret\n", to: "desk/secret.txt")
    let given = try way == "link" ? link() : file()
    let asked = try bob.notes("join", given, "../desk", "--yes", "--device-name", "desk")
    // Both have a note of that name.
    #expect(asked.status == .exited(3), "\(asked)")
    #expect(asked.text.contains("files in this folder become part of the notebook"), "\(asked)")
    #expect(asked.text.contains("This device has asked to join"), "\(asked)")
    let both = try bob.folder.text("desk/A.txt")
    #expect(both.contains("one\n") && both.contains("two\n") && both.contains("<<<<<<<"), "\(both)")
    if way == "link" {
      try #require(try ada.notes("sync", "--hub").isSuccess)
      #expect(try bob.notes("sync", in: "desk").text.contains("is now a member, as writer"))
      _ = try ada.notes("sync", "--hub")
    } else {
      try #require(
        try ada.notes("invitations", "answer", ada.folder["home.request"], "--yes").isSuccess)
      _ = try bob.notes("bundle", "apply", ada.folder["home.answer"], in: "desk")
      try #require(try bob.notes("bundle", "create", "../b.bundle", in: "desk").isSuccess)
      _ = try ada.notes("bundle", "apply", bob.folder["b.bundle"])
    }
    #expect(try ada.folder.text("notes/Mine.txt") == "mine\n")
    #expect(access(ada.folder["notes/secret.txt"], F_OK) != 0)
    #expect(try bob.folder.text("desk/secret.txt") == "secret\n")
  }

  // "On a terminal it first shows the invitation."
  @Test(arguments: ["link", "file", "code"])
  func `The invitation is shown before the question about keys`(way: String) throws {
    try bob.folder.write("key\n", to: "keys/id_rsa")
    var words = ["join"]
    let invitation = way == "code" ? try ada.invite() : nil
    if let invitation {
      words += [
        invitation.code, bob.folder["keys"], "--at", "127.0.0.1:\(invitation.port)",
        "--no-discovery",
      ]
    } else {
      words += [try way == "link" ? link() : file(), bob.folder["keys"]]
    }
    let screen = try bob.screen(notes: words)
    try screen.wait(for: "Take them? [y/N]")
    let shown = try screen.text
    #expect(shown.contains("laptop invites this device"), "\(shown)")
    try screen.type("n\n")
    try screen.wait(for: "left with 1")
    #expect(isAbsent("keys/.git"))
  }

  // "Before it asks or reaches the hub, the command refuses a link"
  @Test func `A folder that cannot be used is refused before the question, and stays as it is`()
    throws
  {
    let link = try link()
    // "home" is the name of a folder here.
    let file = try file("book")
    removeTree(hub)
    func refusal(_ given: String, _ place: String..., in folder: String = ".") throws -> String {
      let words = ["join", given] + place
      let result = try run(
        [BuiltBinary.notes()] + words + ["--yes"], in: bob.folder[folder],
        environment: bob.environment)
      #expect(!result.isSuccess && !result.text.contains("invites this device"), "\(result)")
      return result.errorText
    }
    // The inviter chooses the default name.
    for (given, name) in [(link, "hub"), (file, "book")] {
      try bob.folder.write("mine\n", to: "\(name)/Mine.txt")
      let told = try refusal(given)
      #expect(told.contains("\(name) already exists and is not empty"), "\(told)")
      #expect(told.contains("files in a folder that you give are merged"), "\(told)")
      #expect(isAbsent("\(name)/.git"))
      try bob.folder.write("key\n", to: "keys/id_rsa")
      #expect(try refusal(given, "keys").contains("looks like a key or a credential"))
      try #require(try run(["git", "init", "-q", bob.folder["git"]]).isSuccess)
      try bob.folder.write("mine\n", to: "git/Mine.txt")
      let repository = try refusal(given, "git")
      #expect(repository.contains("ask for a code of 'notes invite'"), "\(repository)")
    }
    // The invitation is a secret, which would become a file of the notebook.
    try bob.folder.write(try readFile(file), to: "in/home.invitation")
    #expect(
      try refusal("home.invitation", ".", in: "in").contains(", so the members would receive it"))
    // Nor may the request become one, which is written beside the name that was given.
    try #require(symlink(file, bob.folder["in/way.invitation"]) == 0)
    #expect(
      try refusal("way.invitation", ".", in: "in").contains(", so the members would receive it"))
    try bob.folder.write(link, to: "in/code")
    let told = try refusal("--code-file", "code", ".", in: "in")
    #expect(told.contains("code is in ") && told.contains("would receive it"), "\(told)")
    // What fails later leaves the folder as it was.
    try bob.folder.write("mine\n", to: "desk/Mine.txt")
    #expect(try bob.notes("join", link, "../desk", "--yes").isSuccess == false)
    #expect(isAbsent("desk/.git") && isAbsent("desk/.git.new"))
    #expect(try bob.folder.text("desk/Mine.txt") == "mine\n")
  }
}
