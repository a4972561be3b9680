import TestSupport
import Testing

/// notes-watch(1), --all: "The watcher skips, with a warning, a notebook [...] from which this device was removed."
@Suite(.timeLimit(.minutes(5))) struct WatchRemovedTests {
  private let ada: Shell
  private let bob: Shell

  /// Bob has a notebook of his own, and is a member of Ada's, which they sync at a hub.
  init() throws {
    (ada, bob) = (try Shell(), try Shell())
    let hub = ada.folder["hub.git"]
    try ada.folder.write("one\n", to: "notes/One.txt")
    try ada.initialise()
    try #require(try run(["git", "init", "-q", "--bare", "-b", "main", hub]).isSuccess)
    try #require(try ada.notes("remote", "add", "home", hub).isSuccess)
    let invited = try ada.notes("invite", "--hub", "home")
    let link = try #require(invited.lines.first { $0.hasPrefix("notes://join/") }, "\(invited)")
    let joined = try bob.notes("join", link, "../desk", "--yes", "--name", "bob")
    try #require(joined.isSuccess, "\(joined)")
    try #require(try ada.notes("sync", "--hub").isSuccess)
    try #require(try bob.notes("sync", "--hub", in: "desk").isSuccess)
    try bob.initialise()
  }

  private func remove() throws {
    let removed = try ada.notes("members", "remove", "bob", "--yes")
    try #require(removed.isSuccess, "\(removed)")
    try #require(try ada.notes("sync", "--hub").isSuccess)
  }

  private func expectSaved(_ note: String, by watcher: RunningProcess) throws {
    try bob.folder.write("mine\n", to: "notes/\(note)")
    _ = try watcher.line { $0.contains(#""type":"version""#) && $0.contains(note) }
  }

  @Test func `A notebook from which this device was removed is skipped, and the others go on`()
    throws
  {
    try remove()
    // It learns of it.
    _ = try bob.notes("sync", "--hub", in: "desk")
    let watcher = try RunningProcess(
      [BuiltBinary.notes(), "watch", "--all", "--no-discovery", "--json"], in: bob.folder.path,
      environment: bob.environment)
    _ = try watcher.line { $0.contains(#""listening""#) }
    let told = try watcher.errorLine { $0.contains("warning") }
    #expect(told.contains("desk is skipped: ") && told.contains("removed"), "\(told)")
    try expectSaved("A.txt", by: watcher)
    watcher.send(15)
    try watcher.wait()
    // Without the other it is the error.
    removeTree(bob.folder["notes"])
    let alone = try bob.notes("watch", "--all", "--no-discovery", in: "desk")
    #expect(alone.status == .exited(5) && alone.errorText.contains("removed"), "\(alone)")
  }

  @Test func `A removal that the watcher learns ends nothing in the others`() throws {
    let watcher = try RunningProcess(
      [BuiltBinary.notes(), "watch", "--all", "--no-discovery", "--json"], in: bob.folder.path,
      environment: bob.environment)
    _ = try watcher.line { $0.contains(#""listening""#) }
    try remove()
    try bob.folder.write("by bob\n", to: "desk/B.txt")
    _ = try watcher.line { $0.contains(#""type":"members_changed""#) || $0.contains("removed") }
    try expectSaved("A.txt", by: watcher)
    try expectSaved("B.txt", by: watcher)
    watcher.send(15)
    try watcher.wait()
  }
}
