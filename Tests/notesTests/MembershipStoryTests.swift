import TestSupport
import Testing

@testable import Membership
@testable import notes

/// What becomes of a notebook when devices are lost, stolen or removed: notes-members(1),
/// notes-device(1) and notes-join(1), as shells on several devices see them.
@Suite(.timeLimit(.minutes(20))) struct MembershipStoryTests {
  private let ada: Shell
  private let bob: Shell

  init() throws {
    ada = try Shell()
    bob = try Shell()
    try ada.folder.write("one\n", to: "notes/one.txt")
    try ada.initialise()
  }

  private func sync(_ device: Shell, with other: Shell) throws -> ProcessResult {
    let (serve, port) = try other.listening("serve")
    defer { serve.send(9) }
    return try device.notes("sync", "--at", "127.0.0.1:\(port)")
  }

  @Test("The founder's device is lost: another admin carries on")
  func founderLost() throws {
    try bob.join(ada, as: "bob", role: "admin")
    let carol = try Shell()
    try carol.join(bob, as: "carol")
    #expect(try carol.folder.text("notes/one.txt") == "one\n")
    #expect(try bob.notes("members", "role", "carol", "reader").isSuccess)
    let told = try sync(carol, with: bob)
    #expect(told.isSuccess, "\(told)")
    #expect(try carol.notes("members", "--json").text.contains(#""role":"reader""#))
    // Ada's copies of the certificates are not needed for any of it, but she cannot be removed.
    let founder = try bob.notes("members", "remove", "laptop", "--yes")
    #expect(founder.errorText.contains("the founder's device cannot be changed or removed"))
  }

  @Test("A device removed while away is told at its next contact")
  func removedWhileAway() throws {
    try bob.join(ada, as: "bob")
    #expect(try ada.notes("members", "remove", "bob", "--yes").isSuccess)
    try bob.folder.write("mine\n", to: "notes/mine.txt")
    let told = try sync(bob, with: ada)
    #expect(told.status == .exited(5))
    #expect(
      told.errorText.replacing(/\([A-Z2-7]{8}\)/, with: "(ID)") == """
        notes: error: laptop (ID): this device has been removed from the notebook
        notes: hint: the notes here stay as they are; an admin (laptop) can invite this device again

        """)
    #expect(try bob.folder.text("notes/mine.txt") == "mine\n")
    #expect(try bob.folder.text("notes/one.txt") == "one\n")
    #expect(try bob.notes("save").isSuccess || bob.notes("status").isSuccess)
    // Asked again it is a member again, with what it wrote meanwhile.
    try bob.join(ada, as: "bob")
    #expect(try ada.folder.text("notes/mine.txt") == "mine\n")
  }

  @Test("A device whose disk was lost joins again")
  func diskLost() throws {
    try bob.join(ada, as: "bob")
    func device() throws -> String? {
      try JSONValue.lines(bob.notes("device", "--json").text).first?["device"]
    }
    let before = try #require(try device())
    // The folder alone is gone: the device is the same, and its certificate is found again.
    _ = try run(["rm", "-rf", bob.folder["notes"]])
    try bob.join(ada, as: "bob")
    #expect(try bob.folder.text("notes/one.txt") == "one\n")
    let count = try ada.notes("members", "--json").lines.count
    #expect(count == 2)
    // The whole machine is gone: another device, which gets a name of its own; the old one is removed.
    _ = try run(["rm", "-rf", bob.folder["notes"], bob.folder["home/.local"]])
    try bob.join(ada, as: "bob")
    #expect(try #require(try device()) != before)
    #expect(try ada.notes("members").text.contains("bob 2"))
    #expect(try ada.notes("members", "remove", "bob", "--yes").isSuccess)
    #expect(try sync(bob, with: ada).isSuccess)
  }

  @Test("The founder's folder is lost: another admin lets it in again, as the founder")
  func founderFolderLost() throws {
    try bob.join(ada, as: "bob", role: "admin")
    try ada.folder.write("mine\n", to: "notes/mine.txt")
    #expect(try ada.notes("save").isSuccess && sync(ada, with: bob).isSuccess)
    _ = try run(["rm", "-rf", ada.folder["notes"]])
    try ada.join(bob, as: "laptop")
    #expect(try ada.folder.text("notes/mine.txt") == "mine\n")
    #expect(try ada.notes("members", "--json").lines.count == 2)
    #expect(try ada.notes("members", "role", "bob", "reader").isSuccess)
  }

  @Test("A folder that holds notes is joined without overwriting any")
  func folderWithNotes() throws {
    try makeFolder(bob.folder["notes/sub"])
    try bob.folder.write("other\n", to: "notes/one.txt")
    try bob.folder.write("two\n", to: "notes/sub/two.txt")
    let invitation = try ada.invite()
    let joined = try bob.join(invitation.code, invitation.port, as: "bob")
    // notes-join(1): exit 3, notes are in conflict.
    #expect(joined.status == .exited(3), "\(joined)")
    try invitation.process.wait()
    let text = try bob.folder.text("notes/one.txt")
    #expect(text.contains("\none\n") && text.contains("\nother\n"), "\(text)")
    #expect(try ada.folder.text("notes/one.txt") == text)
    #expect(try ada.folder.text("notes/sub/two.txt") == "two\n")
  }

  // notes-join(1): "a new folder of its name in the current one, with a number where there are files".
  @Test("Without a folder named, nobody's files are given away, and a notebook is joined in place")
  func placeOfANewNotebook() throws {
    try makeFolder(bob.folder["Home"])
    try bob.folder.write("private\n", to: "Home/private.txt")
    func join(in place: String) throws -> String {
      let invitation = try ada.invite()
      let joined = try bob.notes(
        "join", "--code-file", "-", "--yes", "--name", "bob", "--at",
        "127.0.0.1:\(invitation.port)", "--json", in: place, input: invitation.code)
      try #require(joined.isSuccess, "\(joined)")
      try invitation.process.wait()
      return try Shell.field("path", of: try #require(joined.lines.last))
    }
    #expect(try join(in: ".") == bob.folder["Home 2"])
    #expect((try? ada.folder.text("notes/private.txt")) == nil)
    // After the membership was begun anew: in its own folder. Again, it is a member there.
    for isReset in [false, true] {
      if isReset {
        #expect(try ada.notes("members", "reset", "--yes").isSuccess)
        #expect(try join(in: "Home 2") == bob.folder["Home 2"])
      }
      let invitation = try ada.invite()
      defer { invitation.process.send(15) }
      let again = try bob.notes(
        "join", invitation.code, "--yes", "--at", "127.0.0.1:\(invitation.port)", in: ".")
      #expect(again.status == .exited(1), "\(again)")
      #expect(again.errorText.contains(#"'notes -C "\#(bob.folder["Home 2"])" sync'"#), "\(again)")
    }
  }

  // notes-security(7), STARTING OVER: "A former ID in an offer proves nothing"; it is "never implied by --yes".
  @Test("Whoever names a notebook's ID as its former one does not get its notes by a --yes")
  func claimedRenewal() throws {
    try bob.folder.write("private\n", to: "notes/private.txt")
    try #require(bob.notes("init", "--name", "Diary", "--device-name", "bob").isSuccess)
    let diary = try Shell.field("notebook", of: bob.notes("status", "--json").text)
    try ada.folder.write("\(diary)\n", to: "notes/.git/notes/membership/formerly")
    let invitation = try ada.invite()
    func join(_ words: String...) throws -> ProcessResult {
      try bob.notes(
        "join", "--code-file", "-", "--yes", "--name", "bob", "--at",
        "127.0.0.1:\(invitation.port)", "--json", input: invitation.code)
    }
    let refused = try join()
    #expect(refused.status == .exited(1), "\(refused)")
    #expect(refused.text.contains(#""renewal":true,"proved":false}"#), "\(refused)")
    #expect(refused.errorText.contains("the inviting device says that its notebook is the one in "))
    #expect(refused.errorText.contains("choose another folder to keep the two apart"))
    #expect(refused.errorText.contains(#""kind":"renewal_unproved""#))
    #expect(try Shell.field("notebook", of: bob.notes("status", "--json").text) == diary)
    #expect((try? ada.folder.text("notes/private.txt")) == nil)

    // A person is told what leaves the device, and that it is a claim; the answer is not yes.
    let screen = try bob.screen(notes: [
      "join", invitation.code, "--yes", "--name", "bob", "--at", "127.0.0.1:\(invitation.port)",
    ])
    let asked = try screen.wait(for: "Give them all of it? [y/N]")
    #expect(asked.contains("laptop says that this is the notebook in that folder, started over."))
    #expect(asked.contains("Nothing proves it: no admin known here has signed it."))
    #expect(asked.contains("1 note, 1 version."), "\(asked)")
    try screen.press("Enter")
    try screen.wait(for: "left with 1")
    #expect(try Shell.field("notebook", of: bob.notes("status", "--json").text) == diary)
    #expect((try? ada.folder.text("notes/private.txt")) == nil)
    invitation.process.send(2)
    try invitation.process.wait()
  }

  @Test("The key of a lost machine is taken over from its copy, if that is whole")
  func copiedKey() throws {
    try bob.join(ada, as: "bob")
    let copy = bob.folder["key.pem"]
    let exported = try bob.notes(
      "device", "export", copy, "--passphrase-file", "-", input: "correct horse\n")
    #expect(exported.isSuccess)
    let before = try bob.notes("device", "--json").text
    _ = try run(["rm", "-rf", bob.folder["notes"], bob.folder["home/.local"]])
    let whole = try readFile(copy)
    for (damaged, name) in [
      (Array(whole.prefix(200)), "half"), ([], "empty"),
      (whole.map { $0 ^ 1 }, "noise"),
      (Array("-----BEGIN ENCRYPTED PRIVATE KEY-----\n".utf8), "head"),
    ] {
      try writeFile(bob.folder["damaged.pem"], damaged)
      let refused = try bob.notes(
        "device", "import", bob.folder["damaged.pem"], "--passphrase-file", "-", in: ".",
        input: "correct horse\n")
      #expect(refused.status == .exited(1), "\(name)")
      #expect(refused.errorText.contains("contains no device key"), "\(name): \(refused)")
    }
    let imported = try bob.notes(
      "device", "import", copy, "--passphrase-file", "-", in: ".", input: "correct horse\n")
    #expect(imported.isSuccess, "\(imported)")
    try bob.join(ada, as: "bob")
    #expect(try bob.notes("device", "--json").text == before)
    #expect(try ada.notes("members", "--json").lines.count == 2)
  }

  // notes-security(7), PAIRING: the code "is read from standard input, too"; it is in no list of
  // processes, no environment, no log and no file.
  @Test("Secrets are in no list of processes, no environment, no log, no file and no core dump")
  func secrets() throws {
    let log = ada.folder["watch.log"]
    let words = [try BuiltBinary.notes(), "watch", "--verbose", "--json", "--no-discovery"]
    let watch = try RunningProcess(
      ["sh", "-c", "exec \"$@\" >\(log) 2>&1", "sh"] + words + ["--listen", "127.0.0.1:0"],
      in: ada.folder["notes"], environment: ada.environment)
    defer { watch.send(9) }
    let deadline = Moment.now + 80
    while (try? ada.folder.text("watch.log").contains("listening")) != true,
      Moment.now < deadline
    {}
    let invitation = try ada.invite(byWatcher: true)
    let secret = String(invitation.code.dropFirst(3))
    // Given as an argument, it is out of the list of processes while the command waits for an answer.
    let waiting = try RunningProcess(
      [
        "script", "-qec",
        "read code; exec \(try BuiltBinary.notes()) join \"$code\" --at 127.0.0.1:\(invitation.port)",
        "/dev/null",
      ], in: bob.folder.path, environment: bob.environment)
    waiting.writeLine(invitation.code)
    _ = try waiting.line { $0.contains("1 note") }
    let look = try run([
      "sh", "-c", "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'",
    ]).text
    #expect(look.contains("--verbose") && !look.contains(secret))
    // Nor does what a crash would leave hold any.
    for process in [watch, invitation.process] {
      let limits = String(decoding: try readFile("/proc/\(process.pid)/limits"), as: UTF8.self)
      let line = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
      let soft = line?.split(separator: " ").dropFirst(4).first
      #expect(soft == "1" || soft == "0", "\(limits)")
    }
    waiting.writeLine("y")
    try waiting.wait()
    try invitation.process.wait()
    // The two commands may end before the watcher has written what it tells.
    let end = Moment.now + 80
    var logged = ""
    repeat {
      logged = try ada.folder.text("watch.log")
    } while !logged.contains("joined by invitation") && Moment.now < end
    #expect(logged.contains("joined by invitation") && !logged.contains(secret), "\(logged)")
    for shell in [ada, bob] {
      let files = try run(["grep", "-rlaF", secret, shell.folder.path])
      #expect(files.output.isEmpty, "\(files)")
    }
    for list in [try ada.notes("invitations", "--json"), try ada.notes("doctor", "--json")] {
      #expect(!list.text.contains(secret))
    }
  }
}
