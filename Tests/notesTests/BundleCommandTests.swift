import Glibc
import TestSupport
import Testing

/// notes-bundle(1).
@Suite(.timeLimit(.minutes(5))) struct BundleCommandTests {
  private let ada: Shell
  private let bob: Shell
  private let page: JSONPage

  init() throws {
    page = try JSONPage()
    ada = try Shell()
    bob = try Shell()
    try ada.folder.write("one\n", to: "notes/A.txt")
    try ada.initialise()
    try bob.join(ada, as: "bob")
  }

  // "where FILE is -, it is standard output or standard input, and what is said goes to standard error"
  @Test func `A pipe is a sync`() throws {
    try ada.folder.write("two\n", to: "notes/B.txt")
    let made = try run(
      [BuiltBinary.notes(), "bundle", "create", "-", "--since", "bob"], in: ada.folder["notes"],
      environment: ada.environment)
    #expect(made.isSuccess && made.errorText.contains("Wrote 1 version ("), "\(made)")
    #expect(made.errorText.hasSuffix(" to standard output, for bob\n"))
    let taken = try run(
      [BuiltBinary.notes(), "bundle", "apply", "-"], in: bob.folder["notes"],
      environment: bob.environment, input: made.output)
    #expect(taken.text.hasPrefix("bundle: received 1 version; in sync\n"), "\(taken)")
    #expect(try bob.folder.text("notes/B.txt") == "two\n")
    // Who made it failed, and nothing came.
    let empty = try bob.notes("bundle", "apply", "-", "--json", input: "")
    #expect(try errorKind(of: empty) == "no_bundle" && empty.status == .exited(1))
  }

  // notes-bundle(1), apply: "file may be a named pipe; Ctrl-C ends the wait for its writer."
  @Test func `A pipe with a name is read as it is written`() throws {
    let pipe = bob.folder["pipe"]
    try #require(mkfifo(pipe, 0o600) == 0)
    let waiting = try bob.start("bundle", "apply", pipe)
    // A writer may open it as soon as somebody reads it.
    let end = TestSupport.Moment.now + 60
    var writer: Int32 = -1
    while writer < 0, TestSupport.Moment.now < end, waiting.isRunning {
      writer = open(pipe, O_WRONLY | O_NONBLOCK)
      if writer < 0 { sched_yield() }
    }
    try #require(writer >= 0)
    waiting.send(SIGINT)
    let stopped = try waiting.wait()
    close(writer)
    #expect(stopped.status == .exited(130), "\(stopped)")
    try ada.folder.write("two\n", to: "notes/B.txt")
    let bundle = ada.folder["p.bundle"]
    try #require(try ada.notes("bundle", "create", bundle).isSuccess)
    let reading = try bob.start("bundle", "apply", pipe)
    try #require(try run(["sh", "-c", "cat \"$0\" >\"$1\"", bundle, pipe]).isSuccess)
    #expect(try reading.wait().isSuccess)
    #expect(try bob.folder.text("notes/B.txt") == "two\n")
  }

  // notes-bundle(1), EXIT STATUS: 5, "This device … was removed."
  @Test func `Who was removed learns it by a bundle`() throws {
    try #require(try ada.notes("members", "remove", "bob", "--yes").isSuccess)
    try #require(try ada.notes("bundle", "create", "../r.bundle").isSuccess)
    let told = try bob.notes("bundle", "apply", ada.folder["r.bundle"])
    #expect(told.status == .exited(5), "\(told)")
    #expect(told.errorText.contains("this device was removed from the notebook"), "\(told)")
  }

  @Test func `Files are written once, outside of the notebook, and say what is in them`() throws {
    let made = try ada.notes("bundle", "create", "../a.bundle", "--json")
    let object = try #require(try JSONValue.lines(made.text).first)
    let fields = try #require(page.commands["bundle: create"])
    #expect(page.differences(of: object, from: fields, at: "bundle: create").isEmpty)
    #expect(object["file"] == ada.folder["a.bundle"])
    let again = try ada.notes("bundle", "create", "../a.bundle", "--json")
    #expect(try errorKind(of: again) == "target_exists" && again.status == .exited(1))
    #expect(try ada.notes("bundle", "create", "a.bundle").status == .exited(64))
    let mixed = try ada.notes("bundle", "create", "-", "--json")
    #expect(mixed.status == .exited(64))
    #expect(
      mixed.errorText.contains("--json and a bundle cannot both go to standard output"), "\(mixed)")
    let bare = try ada.notes("bundle")
    #expect(bare.status == .exited(64) && bare.errorText.contains("say what to do with a bundle"))
    let shown = try run(
      ["script", "-qefc", "\(BuiltBinary.notes()) bundle create -", "/dev/null"],
      in: ada.folder["notes"], environment: ada.environment)
    #expect(shown.text.contains("a terminal cannot show a bundle"), "\(shown)")
    // "If the receiver has all versions, the bundle contains only the list of members"
    let nothing = try ada.notes("bundle", "create", "--since", "bob", "../b.bundle")
    #expect(
      nothing.isSuccess && nothing.text.hasPrefix("Wrote only the list of members, no version ("),
      "\(nothing)")
    let never = try bob.notes("bundle", "create", "--since", "nobody", "../c.bundle", "--json")
    #expect(try errorKind(of: never) == "no_such_version")
    #expect(access(bob.folder["c.bundle"], F_OK) != 0)
    for name in ["a.bundle", "b.bundle"] {
      let result = try bob.notes("bundle", "apply", ada.folder[name], "--json")
      let object = try #require(try JSONValue.lines(result.text).last)
      let fields = try #require(page.commands["bundle: apply"])
      #expect(page.differences(of: object, from: fields, at: "bundle: apply").isEmpty)
    }
  }

  @Test func `Of a member that was never met it is not known what it has`() throws {
    let cyd = try Shell()
    try cyd.join(ada, as: "cyd")
    try #require(try ada.notes("bundle", "create", "../m.bundle").isSuccess)
    try #require(try bob.notes("bundle", "apply", ada.folder["m.bundle"]).isSuccess)
    let refused = try bob.notes("bundle", "create", "--since", "cyd", "../c.bundle", "--json")
    #expect(refused.status == .exited(1), "\(refused)")
    #expect(refused.errorText.contains(#""kind":"never_met""#), "\(refused)")
    #expect(refused.errorText.contains("this device has never synced with cyd"))
  }

  @Test func `A time says what the reader has, and a conflict is told`() throws {
    try ada.folder.write("by ada\n", to: "notes/A.txt")
    try bob.folder.write("by bob\n", to: "notes/A.txt")
    let since = try ada.notes("bundle", "create", "../now.bundle", "--since", "today")
    #expect(since.isSuccess && since.text.contains("for whoever has version"), "\(since)")
    #expect(try ada.notes("bundle", "create", "../a.bundle", "--since", "~1").isSuccess)
    let taken = try bob.notes("bundle", "apply", ada.folder["a.bundle"])
    #expect(taken.status == .exited(3), "\(taken)")
    #expect(taken.text.hasSuffix("1 note in conflict: 'notes conflicts' lists it\n"))
  }
}
