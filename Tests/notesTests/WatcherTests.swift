import TestSupport
import Testing

@testable import notes

/// Commands beside a running 'notes watch', as shells on two devices see them: notes-watch(1), "Other
/// commands".
@Suite(.timeLimit(.minutes(20))) struct WatcherTests {
  private let ada: Shell
  private let bob: Shell

  init() throws {
    ada = try Shell()
    bob = try Shell()
    try ada.initialise()
  }

  private func watch(_ shell: Shell, in place: String = "notes") throws -> RunningProcess {
    try shell.listening("watch", in: place).process
  }

  /// Bob joins by a code that Ada's watcher holds open, and both watch.
  private func watched() throws -> (RunningProcess, RunningProcess) {
    try ada.folder.write("one\n", to: "notes/one.txt")
    let first = try watch(ada)
    let (invite, code, port) = try ada.invite(byWatcher: true)
    let list = try ada.notes("invitations", "--json").text
    #expect(list.contains(#""state":"available""#), "\(list)")
    let joined = try bob.join(code, port, as: "bob")
    try #require(joined.isSuccess, "\(joined)")
    #expect(try bob.folder.text("notes/one.txt") == "one\n")
    let events = try invite.wait().lines.joined()
    for type in ["offered", "joined", "finished"] {
      #expect(events.contains("\"type\":\"\(type)\""), "\(events)")
    }
    #expect(try ada.notes("invitations", "--json").text.contains(#""state":"joined""#))
    // Ada knows where Bob is once he has been there, and Bob where Ada is since he joined.
    let second = try watch(bob)
    _ = try first.line { $0.contains(#""state":"here""#) }
    return (first, second)
  }

  @Test("They ask it, and work by themselves without one")
  func asked() throws {
    let alone = try ada.notes("status", "--json").text
    #expect(alone.contains(#""watched":false,"connected":null"#))
    #expect(!(try ada.notes("status").text.contains("'notes watch' is running")))
    let (first, second) = try watched()
    try ada.folder.write("two\n", to: "notes/two.txt")
    let sync = try ada.notes("sync", "--no-discovery")
    #expect(sync.text.hasPrefix("bob: ") && sync.text.contains("; in sync\n"), "\(sync)")
    #expect(try bob.folder.text("notes/two.txt") == "two\n")
    let json = try ada.notes("sync", "--json").lines
    #expect(json.last?.contains(#""name":"bob""#) == true, "\(json)")
    #expect(json.last?.contains(#""result":"in_sync""#) == true)
    let unknown = try ada.notes("sync", "carol").errorText
    #expect(unknown.contains("no member is called 'carol'"))

    #expect(
      try ada.notes("status").text.contains("\n'notes watch' is running, in sync with bob.\n"))
    let members = try ada.notes("members", "--json").lines
    let line = try #require(members.last)
    #expect(line.contains(#""name":"bob""#) && line.contains(#""in_sync":true"#))
    #expect(line.contains(#""ahead":0,"behind":0,"editing":[]"#), "\(line)")
    #expect(try ada.notes("members").text.contains("here, in sync"))
    #expect(try ada.notes("peers").text.contains("here"))

    second.send(15)
    try second.wait()
    _ = try first.line { $0.contains(#""state":"away""#) }
    try ada.folder.write("three\n", to: "notes/three.txt")
    _ = try first.line { $0.contains(#""type":"version""#) && $0.contains("three.txt") }
    #expect(
      try ada.notes("status").text.contains(
        "\n'notes watch' is running; no other device is connected.\n"))
    let away = try ada.notes("members", "--json").lines.last
    #expect(away?.contains(#""in_sync":false,"ahead":1,"behind":null,"editing":null"#) == true)
    let missed = try ada.notes("sync", "--no-discovery", "--wait", "0.2")
    #expect(missed.status == .exited(4), "\(missed)")
    first.send(15)
    try first.wait()
  }

  // notes-watch(1), --all: "The watcher skips, with a warning, a notebook whose folder is unavailable or which
  // another process watches." "One process at a time watches a notebook; a second process names the first."
  @Test("Who watches all leaves others what they watch, and says so where nothing is left")
  func all() throws {
    let first = try watch(ada)
    try makeFolder(ada.folder["second"])
    #expect(try ada.notes("init", in: "second").isSuccess)
    let second = try RunningProcess(
      [BuiltBinary.notes(), "watch", "--all", "--no-discovery", "--json"], in: ada.folder.path,
      environment: ada.environment)
    _ = try second.line { $0.contains(#""listening""#) }
    let told = try second.errorLine { $0.contains("warning") }
    #expect(told.contains("notes is skipped") && told.contains("is already watched, by process"))
    let third = try ada.notes("watch", "--all", "--no-discovery")
    #expect(third.status == .exited(1), "\(third)")
    #expect(third.errorText.contains("error: \(ada.folder["second"]) is already watched"))
    for process in [first, second] { process.send(15) }
    for process in [first, second] { try process.wait() }
  }

  // notes-watch(1), --all: "One that is made or joined later is watched from then on." "A line that is
  // taken out is not missed by anything but --all, which leaves that notebook alone from then on."
  @Test("Who watches all begins with what is made and joined, and ends with what is taken out")
  func allThatCome() throws {
    let all = try ada.listening("watch", "--all").process
    try makeFolder(ada.folder["second"])
    #expect(try ada.notes("init", in: "second").isSuccess)
    _ = try all.line { $0.contains(#""listening""#) }
    try ada.folder.write("live\n", to: "second/note.txt")
    _ = try all.line { $0.contains(#""type":"version""#) && $0.contains("note.txt") }
    #expect(try ada.notes("status", in: "second").text.contains("'notes watch' is running"))

    try bob.initialise()
    try bob.folder.write("by Bob\n", to: "notes/bob.txt")
    let (invite, code, port) = try bob.invite()
    try #require(try ada.join(code, port, as: "ada", in: "third").isSuccess)
    try invite.wait()
    _ = try all.line { $0.contains(#""listening""#) }
    try ada.folder.write("live\n", to: "third/note.txt")
    _ = try all.line { $0.contains(#""type":"version""#) && $0.contains("note.txt") }

    let list = "home/.local/share/notes/notebooks"
    let lines = try ada.folder.text(list).split(separator: "\n")
    #expect(lines.count == 3)
    try ada.folder.write(lines[1...].joined(separator: "\n") + "\n", to: list)
    _ = try all.line { $0.contains(#""listening""#) }
    #expect(!(try ada.notes("status").text.contains("'notes watch' is running")))
    #expect(try ada.notes("status", in: "second").text.contains("'notes watch' is running"))
    all.send(15)
    #expect(try all.wait().status == .exited(0))
  }

  @Test("Many notes deleted are not synchronised without a word")
  func manyDeleted() throws {
    for number in 0..<12 { try ada.folder.write("\(number)\n", to: "notes/\(number).txt") }
    let (first, second) = try watched()
    #expect(
      try ada.notes("watch", "--pause").text.hasPrefix("Home is paused: it makes versions"))
    _ = try run(["sh", "-c", "rm ?.txt ??.txt"], in: ada.folder["notes"])
    let sync = try ada.notes("sync", "--no-discovery")
    #expect(!sync.isSuccess && sync.errorText.contains("--allow-deletes"), "\(sync)")
    for process in [first, second] { process.send(15) }
    for process in [first, second] { try process.wait() }
  }

  @Test("An invitation that the watcher holds open is taken back in each way")
  func takenBack() throws {
    let watch = try watch(ada)
    let cancelled = try ada.invite(byWatcher: true)
    let digits = String(cancelled.code.prefix(2))
    #expect(try ada.notes("invitations", "cancel", digits).isSuccess)
    #expect(try cancelled.process.wait().errorText.contains("the invitation was cancelled"))
    let interrupted = try ada.invite(byWatcher: true).process
    interrupted.send(2)
    #expect(try interrupted.wait().status == .exited(130))
    let killed = try ada.invite(byWatcher: true).process
    killed.send(9)
    try killed.wait()
    let orphan = try ada.invite(byWatcher: true).process
    let list = try ada.notes("invitations", "--json").lines
    #expect(list.count { $0.contains(#""state":"available""#) } == 1, "\(list)")
    watch.send(15)
    #expect(try orphan.wait().errorText.contains("the watcher of the notebook has stopped"))
    try watch.wait()
  }

  // notes-protocol(7), "invitation".
  @Test("A second notebook is offered through the session that is open")
  func secondNotebook() throws {
    let (first, second) = try watched()
    try makeFolder(ada.folder["second"])
    try ada.folder.write("two\n", to: "second/two.txt")
    #expect(try ada.notes("init", "--device-name", "ada", in: "second").isSuccess)
    let third = try watch(ada, in: "second")
    try ada.offerSecondNotebook(to: bob, byWatcher: true)
    for process in [first, second, third] { process.send(15) }
    for process in [first, second, third] { try process.wait() }
  }

  // notes-security(7), BLOCKING: "it opens no connection to it".
  @Test("Who is blocked or removed is cut off at once, and is back when it may")
  func cutOff() throws {
    let (first, second) = try watched()
    #expect(try ada.notes("members", "block", "bob").isSuccess)
    _ = try first.line { $0.contains(#""state":"away""#) }
    let blocked = try bob.notes("sync", "--no-discovery", "--wait", "0.5")
    #expect(!blocked.isSuccess)
    #expect(try ada.notes("status").text.contains("no other device is connected"))
    #expect(try ada.notes("members", "unblock", "bob").isSuccess)
    _ = try first.line { $0.contains(#""state":"here""#) }
    #expect(try ada.notes("members", "remove", "bob", "--yes").isSuccess)
    _ = try first.line { $0.contains(#""state":"away""#) }
    let told = try second.errorLine { $0.contains("removed") }
    #expect(!told.isEmpty)
    #expect(try bob.folder.text("notes/one.txt") == "one\n")
    for process in [first, second] { process.send(15) }
    for process in [first, second] { try process.wait() }
  }

  // notes-members(1), reset: "the stolen device" gets nothing from a watcher that was running.
  @Test("After a reset the watcher goes on with the new membership alone")
  func reset() throws {
    let (first, second) = try watched()
    let reset = try ada.notes("members", "reset", "--yes", "--json")
    #expect(reset.isSuccess, "\(reset)")
    let notebook = try Shell.field("notebook", of: reset.text)
    _ = try first.line { $0.contains(#""type":"listening""#) }
    #expect(try ada.notes("status", "--json").text.contains(#""watched":true,"connected":[]"#))
    try ada.folder.write("secret\n", to: "notes/secret.txt")
    _ = try first.line { $0.contains(#""type":"version""#) && $0.contains("secret.txt") }
    #expect(!(try bob.notes("sync", "--no-discovery", "--wait", "0.5").isSuccess))
    #expect((try? bob.folder.text("notes/secret.txt")) == nil)
    // Bob's watcher takes the new membership over when Bob joins again in the same folder.
    let invitation = try ada.invite(byWatcher: true)
    let joined = try bob.join(invitation.code, invitation.port, as: "bob")
    #expect(joined.isSuccess, "\(joined)")
    #expect(try bob.folder.text("notes/secret.txt") == "secret\n")
    _ = try second.line { $0.contains(#""type":"listening""#) }
    _ = try first.line { $0.contains(#""state":"here""#) && $0.contains(notebook) }
    for process in [first, second] { process.send(15) }
    for process in [first, second] { try process.wait() }
  }
}
