import Membership
import TestSupport
import Testing

@testable import Git

/// notes-security(7), "Who made a version" and "Merges that nobody signs", as the commands show it: a member who
/// signs what it forged below, and everybody else's view of that.
@Suite(.timeLimit(.minutes(20))) struct AuthorshipTests {
  let ada: Shell
  let bob: Shell
  let clone: String
  private let hub: String

  init() throws {
    ada = try Shell()
    bob = try Shell()
    try ada.folder.write("one\ntwo\nthree\nfour\nfive\n", to: "notes/A.txt")
    try ada.initialise()
    try bob.join(ada, as: "bob")
    (hub, clone) = (ada.folder["hub.git"], ada.folder["clone"])
    try #require(try run(["git", "init", "-q", "--bare", "-b", "main", hub]).isSuccess)
    for shell in [ada, bob] {
      try #require(try shell.notes("remote", "add", "stick", hub).isSuccess)
      try meet(shell)
    }
    try #require(try run(["git", "clone", "-q", hub, clone]).isSuccess)
  }

  @Test("A name that nothing proves is marked in every view, and a signed one is the certificate's")
  func everyView()
    throws
  {
    let tip = try git("rev-parse", "HEAD")
    try ada.folder.write("one\ntwo\nI owe bob 5\nfour\nfive\n", to: "clone/A.txt")
    _ = try git("add", "--all")
    let tree = try git("write-tree")
    let adas = try address(of: ada)
    // In the name of another below, and by another's name on top.
    let forged = try put(tree, on: [tip], "laptop <\(adas)>")
    let top = try put(tree, on: [forged], "laptop <\(address(of: bob))>", signedBy: key(of: bob))
    _ = try git("push", "-q", "origin", "\(top):main")
    try meet(ada)
    #expect(try ada.folder.text("notes/A.txt").contains("I owe bob 5"))

    let log = try ada.notes("log", "--all")
    #expect(log.text.contains("laptop, unsigned, "), "\(log)")
    let lines = try ada.notes("log", "--all", "--json").lines
    #expect(try Shell.field("author", of: lines[0]) == "bob")
    #expect(try Shell.field("signature", of: lines[0]) == "verified")
    #expect(try Shell.field("signature", of: lines[1]) == "unsigned")
    #expect(try Shell.field("signature", of: #require(lines.last)) == "verified")
    let format = try ada.notes("log", "--all", "--format", "%a").lines
    #expect(format[0] == "bob" && format[1] == "laptop (unsigned)" && format.last == "laptop")
    #expect(try ada.notes("log", "--all", "--by", "bob", "--json").lines.count == 1)
    #expect(try ada.notes("show", String(top.prefix(10))).text.contains("bob"))
    let shown = try ada.notes("show", String(forged.prefix(10)))
    #expect(shown.text.contains("laptop") && shown.text.contains(", unsigned, "), "\(shown)")
    let blame = try ada.notes("blame", "A")
    #expect(blame.text.ranges(of: "laptop (unsigned)").count == 1, "\(blame)")
    let blamed = try ada.notes("blame", "A", "--json").lines
    #expect(try Shell.field("signature", of: blamed[2]) == "unsigned")
    #expect(try Shell.field("signature", of: blamed[0]) == "verified")
    let list = try ada.notes("list")
    #expect(list.text.contains("laptop (unsigned)"), "\(list)")
    #expect(try Shell.field("signature", of: ada.notes("list", "--json").lines[0]) == "unsigned")
    let page = try Page(of: ada)
    try page.expectEarned([forged: false, top: true], "nobody's name")
    let text = try page.get(page.firstNote() + "/text")
    #expect(text.contains(#""by":"laptop (unsigned)""#), "\(text)")
  }

  // "Commands show at most 64 Unicode scalars of a claimed name."
  @Test("A long name pushes no mark away")
  func longName() throws {
    let tip = try git("rev-parse", "HEAD")
    let long = String(repeating: "ada ", count: 2_500)
    func forged(_ line: String, _ person: String, on parent: String, _ key: DeviceKey?) throws
      -> String
    {
      try ada.folder.write("one\ntwo\n\(line)\n", to: "clone/A.txt")
      _ = try git("add", "--all")
      return try put(git("write-tree"), on: [parent], person, signedBy: key)
    }
    let unsigned = try forged("1", "\(long)A <a@example.org>", on: tip, nil)
    let guest = try forged(
      "2", "\(long)B (via bob) <\(address(of: bob))>", on: unsigned, key(of: bob))
    let top = try forged("3", "\(long)C <c@example.org>", on: guest, key(of: bob))
    _ = try git("push", "-q", "origin", "\(top):main")
    try meet(ada)
    for words in [["log", "--all"], ["blame", "A"], ["list"], ["show", unsigned]] {
      let told = try run(
        [BuiltBinary.notes()] + words, in: ada.folder["notes"], environment: ada.environment)
      #expect(told.isSuccess && told.lines.allSatisfy { $0.count < 160 }, "\(told)")
    }
    let authors = try ada.notes("log", "--all", "--format", "%a").lines.prefix(3)
    for (author, end) in zip(authors, ["… (via bob)", "… (via bob)", "… (unsigned)"]) {
      #expect(author.hasSuffix(end), "\(author)")
    }
  }

  @Test("A side of a conflict is its signer's, whatever name it gives itself")
  func conflictSides() throws {
    let tip = try git("rev-parse", "HEAD")
    try ada.folder.write("one\ntwo\nbob's, as laptop\nfour\nfive\n", to: "clone/A.txt")
    _ = try git("add", "--all")
    let top = try put(
      git("write-tree"), on: [tip], "laptop <\(address(of: bob))>", signedBy: key(of: bob))
    _ = try git("push", "-q", "origin", "\(top):main")
    try ada.folder.write("one\ntwo\nada's\nfour\nfive\n", to: "notes/A.txt")
    let sync = try ada.notes("sync", "--hub")
    #expect(sync.status == .exited(3), "\(sync)")
    for command in ["conflicts", "status"] {
      let told = try ada.notes(command)
      #expect(told.text.contains("bob") && told.text.contains("laptop"), "\(told)")
    }
    let told = try ada.notes("conflicts", "--json").text
    #expect(told.contains(#""name":"bob""#) && told.contains(#""name":"laptop""#), "\(told)")
    // A side that somebody typed is nobody's.
    let text = try ada.folder.text("notes/A.txt")
    try ada.folder.write(text.replacing(" laptop · ", with: " eve · "), to: "notes/A.txt")
    let typed = try ada.notes("conflicts")
    #expect(typed.text.contains("eve (unsigned)"), "\(typed)")
  }

  @Test("A merge that was altered below a signed version is shown as such")
  func alteredMerge() throws {
    try ada.folder.write("ONE\ntwo\nthree\nfour\nfive\n", to: "notes/A.txt")
    try bob.folder.write("one\ntwo\nthree\nfour\nFIVE\n", to: "notes/A.txt")
    for shell in [ada, bob, ada] { try meet(shell) }
    #expect(try ada.folder.text("notes/A.txt") == "ONE\ntwo\nthree\nfour\nFIVE\n")
    _ = try git("fetch", "-q", "origin")
    let merge = try run(["git", "-C", ada.folder["notes"], "rev-parse", "HEAD"]).lines[0]
    _ = try git("fetch", "-q", ada.folder["notes"], "main")
    let parents = try git("rev-parse", "\(merge)^1", "\(merge)^2").split(separator: "\n").map(
      String.init)
    _ = try git("checkout", "-q", "--detach", merge)
    try ada.folder.write("ONE\ntwo\nI owe bob 5\nfour\nFIVE\n", to: "clone/A.txt")
    _ = try git("add", "--all")
    let tree = try git("write-tree")
    let message = try git("log", "-1", "--format=%B", merge)
    let time = try git("log", "-1", "--format=%at", merge)
    let forged = try put(
      tree, on: parents, "notes <merge@notes.invalid>", at: time, message: message + "\n")
    let top = try put(tree, on: [forged], "bob <\(address(of: bob))>", signedBy: key(of: bob))
    _ = try git("push", "-q", "--force", "origin", "\(top):main")
    let sync = try ada.notes("sync", "--hub")
    #expect(sync.errorText.contains("a merge that differs from what notes computes"), "\(sync)")
    #expect(sync.errorText.contains("'notes show \(forged.prefix(10))'"), "\(sync)")
    #expect(try ada.folder.text("notes/A.txt").contains("I owe bob 5"))

    let log = try ada.notes("log")
    #expect(log.text.contains("altered merge, vouched for by bob"), "\(log)")
    let line = try #require(
      try ada.notes("log", "--all", "--json").lines.first {
        $0.contains(#""id":"\#(forged)""#)
      })
    #expect(line.contains(#""altered":true"#), "\(line)")
    #expect(try Shell.field("author", of: line) == "null")
    #expect(try Shell.field("answered_by", of: line) == top)
    let shown = try ada.notes("show", String(forged.prefix(10)))
    #expect(shown.text.contains("altered merge") && shown.text.contains("owe"), "\(shown)")
    let blame = try ada.notes("blame", "A")
    #expect(blame.text.ranges(of: "nobody (altered merge)").count == 1, "\(blame)")
    let blamed = try ada.notes("blame", "A", "--json").lines
    #expect(try Shell.field("altered_merge", of: blamed[2]) == "true")
    #expect(try Shell.field("author", of: blamed[2]) == "null")
    #expect(try Shell.field("answered_by", of: blamed[2]) == top)
    #expect(try Shell.field("altered_merge", of: blamed[0]) == "false")
    let doctor = try ada.notes("doctor", "--no-discovery")
    #expect(doctor.text.contains("contains text that none of its versions has"), "\(doctor)")
    #expect(doctor.text.contains("bob vouches for it"), "\(doctor)")
    // Looking leaves nothing behind.
    #expect(try run(["git", "-C", ada.folder["notes"], "fsck", "--strict"]).isSuccess)
  }

  // notes-security(7), "ON DISK"
  @Test("A repository lets in nobody who may not read the folder")
  func closedRepository() throws {
    func mode(_ place: String) throws -> String {
      try run(["stat", "-c", "%a", ada.folder[place]]).lines[0]
    }
    for (folder, repository) in [("755", "755"), ("700", "700"), ("711", "700"), ("750", "700")] {
      _ = try run(["chmod", folder, ada.folder["notes"]])
      try ada.folder.write(folder + "\n", to: "notes/mode.txt")
      try #require(try ada.notes("save").isSuccess)
      if folder == "750" {
        // The group may read the folder; what was closed stays closed.
        #expect(try mode("notes/.git") == repository)
        _ = try run(["chmod", "755", ada.folder["notes/.git"]])
        try ada.folder.write("again\n", to: "notes/mode.txt")
        try #require(try ada.notes("save").isSuccess)
        #expect(try mode("notes/.git") == "750")
      } else {
        #expect(try mode("notes/.git") == repository)
      }
    }
  }

  // notes-security(7), "Passwords in addresses"
  @Test(
    "A password that somebody wrote into git's settings is shown nowhere",
    arguments: ["https://u%3Apw1234@127.0.0.1:1/x.git", "https://u:pw1234@127.0.0.1:1/x.git"])
  func passwords(url: String) throws {
    #expect(try ada.notes("remote", "add", "home", url).status == .exited(64))
    _ = try run(["git", "-C", ada.folder["notes"], "config", "remote.stick.url", url])
    for words in [
      ["remote", "list"], ["remote", "list", "--json"], ["remote", "show", "stick"],
      ["sync", "--hub"], ["sync", "--hub", "--json"], ["status"], ["status", "--json"],
      ["doctor", "--no-discovery"],
    ] {
      let result = try run(
        [BuiltBinary.notes()] + words, in: ada.folder["notes"], environment: ada.environment)
      #expect(!(result.text + result.errorText).contains("pw1234"), "\(result)")
    }
  }
}

extension AuthorshipTests {
  func git(_ words: String...) throws -> String {
    let result = try run(["git", "-C", clone] + words)
    try #require(result.isSuccess, "\(result)")
    return result.lines.joined(separator: "\n")
  }

  func key(of shell: Shell) throws -> DeviceKey {
    try #require(
      try DeviceKey.load(in: (shell.environment["XDG_DATA_HOME"] ?? "") + "/notes"))
  }

  func address(of shell: Shell) throws -> String {
    try key(of: shell).deviceID.lowercased() + "@notes.invalid"
  }

  /// Stores a commit in the clone.
  func put(
    _ tree: String, on parents: [String], _ person: String, at time: String = "1700000000",
    message: String = "Edit A\n", signedBy key: DeviceKey? = nil
  ) throws -> String {
    let lines =
      ["tree \(tree)"] + parents.map { "parent \($0)" } + [
        "author \(person) \(time) +0000", "committer \(person) \(time) +0000", "", message,
      ]
    let content = Array(lines.joined(separator: "\n").utf8)
    let signed = try key.map {
      SignedCommit(content: content, signature: try VersionSignature(over: content, by: $0).armored)
        .serialized
    }
    let file = ada.folder["forged"]
    try writeFile(file, signed ?? content)
    return try git("hash-object", "-t", "commit", "-w", file)
  }
}
