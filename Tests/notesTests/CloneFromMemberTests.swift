import Glibc
import TestSupport
import Testing

/// notes-clone(1), "A folder that is gone"; notes-device(1), import.
@Suite(.timeLimit(.minutes(5))) struct CloneFromMemberTests {
  private let ada: Shell
  private let bob: Shell

  init() throws {
    ada = try Shell()
    bob = try Shell()
    try ada.folder.write("one\n", to: "notes/A.txt")
    try ada.initialise()
    try bob.join(ada, as: "bob")
  }

  /// Runs `clone --from-member` beside the notebooks of a shell, at an address alone.
  private func fetch(_ shell: Shell, at port: String, _ more: String...) throws -> ProcessResult {
    try run(
      [
        BuiltBinary.notes(), "clone", "--from-member", "--no-discovery", "--at",
        "127.0.0.1:\(port)",
      ] + more, in: shell.folder.path, environment: shell.environment)
  }

  @Test func `A member whose folder is gone fetches it again from another, without a code`() throws
  {
    removeTree(bob.folder["notes"])
    try makeFolder(bob.folder["notes"])
    let told = try bob.notes("device")
    #expect(
      told.text.contains(
        "This device is also a member of Home (as bob), which is not on this machine. To fetch it from a member "
          + "or hub, run 'notes clone --from-member'."
      ),
      "\(told)")
    let watch = try ada.listening("watch")
    let fetched = try fetch(bob, at: watch.port)
    #expect(fetched.isSuccess && fetched.text.contains("Notebook Home in "), "\(fetched)")
    #expect(!fetched.text.contains("not a member"))
    #expect(try bob.folder.text("Home/A.txt") == "one\n")
    try bob.folder.write("by bob\n", to: "Home/B.txt")
    #expect(
      try bob.notes("sync", "--no-discovery", "--at", "127.0.0.1:\(watch.port)", in: "Home")
        .isSuccess)
    #expect(try ada.folder.text("notes/B.txt") == "by bob\n")
    let none = try fetch(bob, at: watch.port, "--json")
    #expect(none.errorText.contains(#""kind":"nothing_to_fetch""#), "\(none)")
    #expect(
      none.errorText.contains("this device knows of no other notebook of which it is a member"),
      "\(none)")
    let named = try fetch(bob, at: watch.port, "home", "again")
    #expect(
      named.errorText.hasPrefix(
        "notes: error: this notebook is already on this device, in \(bob.folder["Home"])\n"),
      "\(named)")
    #expect(named.errorText.contains("'notes -C \(bob.folder["Home"]) sync'"), "\(named)")
    #expect(access(bob.folder["again"], F_OK) != 0)
  }

  @Test func `A membership that was started over, or is over, is not told of`() throws {
    try #require(try ada.notes("members", "remove", "bob", "--yes").isSuccess)
    try #require(try ada.notes("bundle", "create", "../r.bundle").isSuccess)
    #expect(try bob.notes("bundle", "apply", ada.folder["r.bundle"]).status == .exited(5))
    try #require(try ada.notes("members", "reset", "--yes").isSuccess)
    #expect(try !ada.notes("device").text.contains("not on this machine"))
    for shell in [ada, bob] {
      removeTree(shell.folder["notes"])
      try makeFolder(shell.folder["notes"])
    }
    #expect(try !bob.notes("device").text.contains("not on this machine"))
    #expect(
      try ada.notes("device").text.contains(
        "This device is also a member of Home (as laptop), which is not")
    )
  }

  @Test func `The founder's folder, too`() throws {
    let watch = try bob.listening("watch")
    removeTree(ada.folder["notes"])
    let fetched = try fetch(ada, at: watch.port, "home", "again")
    #expect(fetched.isSuccess, "\(fetched)")
    #expect(try ada.folder.text("again/A.txt") == "one\n")
    #expect(try ada.notes("members", in: "again").text.contains("admin"))
    #expect(try ada.notes("members", "rename", "bob", "Robert", in: "again").isSuccess)
  }

  @Test func `A copy of the key on a new machine says what it is a member of, and fetches it`()
    throws
  {
    let copy = bob.folder["copy.pem"]
    let exported = try bob.notes(
      "device", "export", copy, "--passphrase-file", "-", input: "eight letters\n")
    try #require(exported.isSuccess, "\(exported)")
    let pem = try run(["openssl", "pkey", "-in", copy, "-passin", "pass:eight letters", "-noout"])
    #expect(pem.isSuccess, "\(pem)")
    let new = try Shell()
    let imported = try new.notes(
      "device", "import", copy, "--passphrase-file", "-", input: "eight letters\n")
    #expect(
      imported.text.contains(
        "This device is also a member of Home (as bob), which is not on this machine"),
      "\(imported)")
    let listed = try new.notes("notebooks")
    #expect(
      listed.text
        == "This device is also a member of Home (as bob), which is not on this machine. "
        + "To fetch it from a member or hub, run 'notes clone --from-member'.\n", "\(listed)")
    let json = try #require(try JSONValue.lines(new.notes("notebooks", "--json").text).first)
    let fields = try #require(try JSONPage().commands["notebooks"])
    #expect(try JSONPage().differences(of: json, from: fields, at: "notebooks").isEmpty, "\(json)")
    #expect(json["state"] == "absent" && json["name"] == "Home")
    let watch = try ada.listening("watch")
    let fetched = try fetch(new, at: watch.port, "Home", "desk")
    #expect(fetched.isSuccess, "\(fetched)")
    #expect(try new.folder.text("desk/A.txt") == "one\n")

    // "It skips lists of members that the key has not signed, and says so."
    var altered = try readFile(copy)
    let word = Array("name Home".utf8)
    let place = try #require(altered.indices.first { altered[$0...].starts(with: word) })
    altered[place + 5] = UInt8(ascii: "h")
    try writeFile(bob.folder["altered.pem"], altered)
    let other = try Shell()
    let passed = try other.notes(
      "device", "import", bob.folder["altered.pem"], "--passphrase-file", "-",
      input: "eight letters\n")
    #expect(passed.isSuccess && passed.text.contains("'notes clone ADDRESS'"), "\(passed)")
    #expect(passed.errorText.contains("after the key was altered or cut short, and is skipped"))
    #expect(try !other.notes("device").text.contains("Home"))
  }

  @Test func `From a hub, where no member is there`() throws {
    let hub = ada.folder["hub.git"]
    try #require(try run(["git", "init", "-q", "--bare", "-b", "main", hub]).isSuccess)
    for shell in [ada, bob] {
      try #require(try shell.notes("remote", "add", "home", hub).isSuccess)
      try #require(try shell.notes("sync", "--hub").isSuccess)
    }
    removeTree(bob.folder["notes"])
    let fetched = try run(
      [BuiltBinary.notes(), "clone", "--from-member", "--no-discovery", "--wait", "0"],
      in: bob.folder.path, environment: bob.environment)
    #expect(fetched.isSuccess, "\(fetched)")
    #expect(try bob.folder.text("Home/A.txt") == "one\n")
    #expect(try bob.notes("remote", in: "Home").text.contains("home"))
    // A member's key makes a member of a clone, too.
    removeTree(bob.folder["Home"])
    let cloned = try run(
      [BuiltBinary.notes(), "clone", hub, "desk"], in: bob.folder.path,
      environment: bob.environment)
    #expect(cloned.isSuccess && !cloned.text.contains("not a member"), "\(cloned)")
    #expect(try bob.notes("status", "--json", in: "desk").text.contains(#""device_name":"bob""#))
  }

  @Test func `Mistakes are told, and leave nothing`() throws {
    removeTree(bob.folder["notes"])
    let silent = try fetch(bob, at: "1", "--json")
    #expect(silent.status == .exited(4), "\(silent)")
    #expect(access(bob.folder["Home"], F_OK) != 0)
    let alone = try run(
      [BuiltBinary.notes(), "clone", "--from-member", "--no-discovery", "--json"],
      in: bob.folder.path, environment: bob.environment)
    #expect(alone.errorText.contains(#""kind":"no_member_reached""#), "\(alone)")
    #expect(
      alone.status == .exited(4) && alone.errorText.contains("no device of Home could be reached"))
    #expect(access(bob.folder["Home"], F_OK) != 0)
    let unknown = try fetch(bob, at: "1", "Hom", "--json")
    #expect(unknown.errorText.contains(#""kind":"no_such_membership""#), "\(unknown)")
    #expect(
      unknown.errorText.contains("no notebook that can be fetched is called 'Hom'"))
    let named = try fetch(bob, at: "1", "--device-name", "x")
    #expect(named.errorText.contains("with --from-member the device keeps its name"), "\(named)")
    let misplaced = try run(
      [BuiltBinary.notes(), "clone", "/x", "--no-discovery"], in: bob.folder.path,
      environment: bob.environment)
    #expect(
      misplaced.errorText.contains("--at and --no-discovery go with --from-member"), "\(misplaced)")
    let bare = try run(
      [BuiltBinary.notes(), "clone"], in: bob.folder.path, environment: bob.environment)
    #expect(bare.errorText.contains("missing expected argument '<source>'"), "\(bare)")
    try makeFolder(ada.folder["second"])
    try #require(try ada.notes("init", "--name", "Home", in: "second").isSuccess)
    for name in ["notes", "second"] { removeTree(ada.folder[name]) }
    let both = try fetch(ada, at: "1", "home", "--json")
    #expect(both.errorText.contains(#""kind":"ambiguous_membership""#), "\(both)")
    #expect(both.errorText.contains("several notebooks are called home"), "\(both)")
    try makeFolder(ada.folder["notes"])
    let eve = try Shell()
    #expect(try errorKind(of: eve.notes("clone", "--from-member", "--json")) == "no_device_key")
  }
}
