import Glibc
import TestSupport
import Testing

@testable import notes

/// notes-forget(1).
@Suite("notes forget")
struct ForgetCommandTests {
  private static let secret = "hunter2-pass-9f"
  let shell: Shell

  init() throws {
    shell = try Shell()
    try shell.folder.write("key \(Self.secret)\nmore\n", to: "notes/Wifi.txt")
    try shell.folder.write("milk\n", to: "notes/List.txt")
    try shell.initialise()
    try shell.folder.write("milk\nbread\n", to: "notes/List.txt")
    try shell.notes("save")
  }

  private var leftovers: [String] {
    get throws { try Leftovers(in: shell.folder["notes"]).places(of: Self.secret) }
  }

  /// A stranger's try: a pasted password, gone.
  @Test("A text that is read from standard input is nowhere afterwards")
  func text() throws {
    let trial = try shell.notes("forget", "--text", "--dry-run", input: Self.secret + "\n")
    #expect(
      trial.text
        == "This would remove the text (15 B) from 2 versions: Wifi.txt.\n", "\(trial)")
    #expect(!trial.text.contains(Self.secret))
    #expect(try !leftovers.isEmpty)
    let done = try shell.notes("forget", "--text", "--yes", "--json", input: Self.secret + "\n")
    #expect(done.isSuccess, "\(done)")
    #expect(done.text.contains(#""type":"forgotten","versions":2"#), "\(done)")
    #expect(try leftovers.isEmpty)
    // Nor is it in anything of the program's own.
    #expect(try run(["grep", "-rlF", Self.secret, shell.folder["home"]]).text.isEmpty)
    let log = try shell.notes("log", "--json")
    #expect(log.lines.count == 3, "\(log)")
    #expect(log.text.components(of: #""signature":"rewritten""#) == 2, "\(log)")
    #expect(log.text.components(of: #""signature":"verified""#) == 1, "\(log)")
    #expect(try shell.notes("doctor", "--no-discovery").text.contains("history"))
    #expect(try shell.notes("status").text.contains("Everything is saved"))
    #expect(try shell.notes("undo").isSuccess)
    #expect(try readFile(shell.folder["notes/List.txt"]) == Array("milk\n".utf8))
    #expect(try leftovers.isEmpty)
  }

  @Test("Misuse, and what it cannot take out, are told")
  func refusals() throws {
    let both = try shell.notes("forget", "Wifi", "--text", input: Self.secret)
    #expect(both.errorText.contains("--text cannot be combined with a note"), "\(both)")
    for (first, second, told) in [
      ("--deleted", "--text", "--text and --deleted exclude each other"),
      ("Wifi", "--deleted", "--deleted cannot be combined with a note"),
      ("--attachments-over", "much", "'much' is not a size: write it as 300k, 25m or 1g"),
      ("--attachments-over", "0", "'0' is not a size"),
    ] {
      let refused = try shell.notes("forget", first, second)
      #expect(refused.status == .exited(64) && refused.errorText.contains(told), "\(refused)")
    }
    let asked = try shell.notes("forget", "Wifi")
    #expect(
      asked.errorText.contains("there is no terminal to confirm the forgetting"), "\(asked)")
    try shell.folder.write("x\u{0}only-in-a-picture\n", to: "notes/a.png")
    try #require(try shell.notes("save").isSuccess)
    let attached = try shell.notes(
      "forget", "--text", "--yes", "--json", input: "only-in-a-picture")
    #expect(attached.errorText.contains(#""kind":"cannot_be_taken_out""#), "\(attached)")
    #expect(
      attached.errorText.contains("only attachments or file names contain this text: "),
      "\(attached)")
  }

  @Test("What is deleted goes, and large attachments")
  func kinds() throws {
    let trial = try shell.notes("forget", "--deleted", "--dry-run")
    #expect(trial.errorText.contains("no version contains this text"), "\(trial)")
    try shell.folder.write("x\u{0}" + String(repeating: "x", count: 3_000), to: "notes/a.png")
    try #require(try shell.notes("save").isSuccess)
    try #require(try shell.notes("rm", "Wifi").isSuccess)
    let done = try shell.notes("forget", "--deleted", "--yes")
    #expect(done.isSuccess && done.text.hasPrefix("Forgotten in "), "\(done)")
    #expect(try leftovers.isEmpty)
    let asked = try shell.notes("forget", "--attachments-over", "2k", "--dry-run")
    #expect(
      asked.text == "This would remove attachments over 2.0 KB from 3 versions: a.png.\n",
      "\(asked)"
    )
    #expect(try shell.notes("forget", "--attachments-over", "2k", "--yes").isSuccess)
    #expect(access(shell.folder["notes/a.png"], F_OK) != 0)
    #expect(try shell.notes("doctor", "--no-discovery").text.contains("history"))
  }

  @Test("A note goes, and without a terminal only with --yes")
  func note() throws {
    let asked = try shell.notes("forget", "Wifi")
    #expect(asked.status == .exited(64) && asked.errorText.contains("--yes"), "\(asked)")
    #expect(try shell.notes("forget", "Wifi", "--yes").isSuccess)
    #expect(try leftovers.isEmpty)
    #expect(try shell.notes("list").text.contains("List"))
    let again = try shell.notes("forget", "Wifi", "--yes")
    #expect(again.errorText.contains("there is no note 'Wifi'"), "\(again)")
  }

  /// "Other devices follow when they sync with one that has".
  @Test("Other devices follow, and a remote that is no hub is refused")
  func others() throws {
    let other = try Shell()
    try other.join(shell, as: "phone")
    let there = try other.notes("forget", "Wifi", "--yes")
    #expect(there.errorText.contains("only an admin"), "\(there)")
    let git = ["git", "-C", shell.folder["notes"], "remote"]
    #expect(try run(git + ["add", "origin", shell.folder["hub.git"]]).isSuccess)
    let refused = try shell.notes("forget", "Wifi", "--yes")
    #expect(
      refused.errorText.contains("other repositories would keep the text: origin"), "\(refused)")
    #expect(try run(git + ["remove", "origin"]).isSuccess)
    let none = try shell.notes("forget", "--status")
    #expect(none.text == "Nothing was forgotten in this notebook.\n", "\(none)")
    try other.folder.write("key \(Self.secret)\nmore\nof the phone\n", to: "notes/Wifi.txt")
    let done = try shell.notes("forget", "--text", "--yes", input: Self.secret)
    #expect(done.text.contains("phone follows at the next sync"), "\(done)")
    #expect(try leftovers.isEmpty)
    let before = try shell.notes("forget", "--status")
    #expect(before.text.hasPrefix("Forgotten: a text in 2 versions; the last by "), "\(before)")
    #expect(before.text.hasSuffix("phone has not connected or written since.\n"), "\(before)")
    let serving = try shell.listening("watch")
    defer { serving.process.send(9) }
    let synced = try other.notes(
      "sync", "--no-discovery", "--at", "127.0.0.1:\(serving.port)")
    #expect(synced.isSuccess, "\(synced)")
    let told = "laptop forgot a text in 2 versions; this device has followed\n"
    #expect(synced.text.contains(told), "\(synced)")
    let after = try shell.notes("forget", "--status")
    #expect(after.text.hasSuffix("phone has followed.\n"), "\(after)")
    let json = try other.notes("forget", "--status", "--json")
    #expect(json.text.contains(#""has_followed":true"#), "\(json)")
    #expect(json.text.contains(#""kind":"text","versions":2"#), "\(json)")
    #expect(try Leftovers(in: other.folder["notes"]).places(of: Self.secret).isEmpty)
    #expect(
      try readFile(shell.folder["notes/Wifi.txt"])
        == Array("key [forgotten]\nmore\nof the phone\n".utf8))
    #expect(try other.notes("doctor", "--no-discovery").text.contains("history"))
  }

  private func makeHub(_ settings: [String] = []) throws -> String {
    let hub = shell.folder["hub.git"]
    #expect(try run(["git", "init", "-q", "--bare", hub]).isSuccess)
    try shell.notes("remote", "add", "nas", hub)
    try #require(try shell.notes("sync", "--hub").isSuccess)
    return hub
  }

  /// "Afterwards the command visits the hubs."
  @Test("The hub's branch is replaced by the same command, and --status says so")
  func hub() throws {
    let hub = try makeHub()
    try #require(try run(["git", "-C", hub, "tag", "v1", "HEAD"]).isSuccess)
    let done = try shell.notes("forget", "--text", "--yes", input: Self.secret)
    #expect(done.isSuccess && done.text.contains("Forgotten in 2 versions"), "\(done)")
    #expect(done.errorText.contains("nas no longer has the forgotten text, unless"), "\(done)")
    #expect(done.errorText.contains("refs/tags/v1"), "\(done)")
    let held = try run(["git", "-C", hub, "log", "-p", "main"])
    #expect(held.isSuccess && !held.text.contains(Self.secret), "\(held)")
    #expect(held.text.contains("[forgotten]"), "\(held)")
    try expectFollowedByHub()
    let status = try shell.notes("forget", "--status")
    let kept =
      "Hub nas has followed; its disk keeps the former versions until 'git gc --prune=now' runs there.\n"
    #expect(status.text.hasSuffix(kept), "\(status)")
    let json = try shell.notes("forget", "--status", "--json")
    #expect(json.text.contains(#""hubs":[{"name":"nas","has_followed":true}]"#), "\(json)")
    #expect(try shell.notes("sync", "--hub").isSuccess)
    #expect(try leftovers.isEmpty)
  }

  /// A device that only shares the hub has followed as soon as a version by it arrives.
  private func expectFollowedByHub() throws {
    let made = try shell.notes("invite", "--hub", "nas")
    let link = try #require(made.lines.first { $0.hasPrefix("notes://join/") })
    let other = try Shell()
    try #require(
      try other.notes("join", link, "../desk", "--yes", "--device-name", "desk").isSuccess)
    try #require(try shell.notes("sync", "--hub").isSuccess)
    let before = try shell.notes("forget", "--status")
    #expect(before.text.contains("\ndesk has not connected or written since."), "\(before)")
    try other.folder.write("by desk\n", to: "desk/D.txt")
    try #require(try other.notes("sync", in: "desk").isSuccess)
    try #require(try shell.notes("sync", "--hub").isSuccess)
    let after = try shell.notes("forget", "--status")
    #expect(after.text.contains("\ndesk has followed."), "\(after)")
  }

  /// "A hub also keeps the text if it does not allow its branch to be replaced".
  @Test("A hub that refuses is named, and that it still has it")
  func refusingHub() throws {
    let hub = try makeHub()
    let setting = ["git", "-C", hub, "config", "receive.denyNonFastForwards"]
    try #require(try run(setting + ["true"]).isSuccess)
    let done = try shell.notes("forget", "--text", "--yes", "--json", input: Self.secret)
    #expect(done.text.contains(#""type":"forgotten""#), "\(done)")
    #expect(done.errorText.contains(#""kind":"hub_keeps_forgotten""#), "\(done)")
    #expect(done.errorText.contains("nas still has it: the hub does not allow"), "\(done)")
    #expect(try leftovers.isEmpty)
    let status = try shell.notes("forget", "--status")
    #expect(status.text.hasSuffix("Hub nas is not known to have followed.\n"), "\(status)")
    let doctor = try shell.notes("doctor", "--no-discovery").text
    #expect(doctor.contains("no visit to the hub nas is known since something was forgotten"))
    let again = try shell.notes("sync", "--hub")
    #expect(again.errorText.contains("does not allow notes to replace its branch"), "\(again)")
    try #require(try run(setting + ["false"]).isSuccess)
    #expect(try shell.notes("sync", "--hub").isSuccess)
    #expect(try shell.notes("forget", "--status").text.contains("Hub nas has followed; its disk"))
    #expect(try leftovers.isEmpty)
  }

  /// "Versions from before".
  @Test("A bundle from before brings nothing back")
  func bundle() throws {
    try shell.notes("bundle", "create", shell.folder["old.bundle"])
    #expect(try shell.notes("forget", "Wifi", "--yes").isSuccess)
    let applied = try shell.notes("bundle", "apply", shell.folder["old.bundle"])
    #expect(applied.isSuccess, "\(applied)")
    #expect(access(shell.folder["notes/Wifi.txt"], F_OK) != 0)
    #expect(try leftovers.isEmpty)
  }

  @Test("It refuses while a watcher runs")
  func watcher() throws {
    let watcher = try shell.listening("watch")
    defer { watcher.process.send(9) }
    let refused = try shell.notes("forget", "Wifi", "--yes")
    #expect(!refused.isSuccess && refused.errorText.contains("watch"), "\(refused)")
    #expect(try !leftovers.isEmpty)
  }
}

extension String {
  fileprivate func components(of part: String) -> Int { ranges(of: part).count }
}
