import Glibc
import TestSupport
import Testing

@testable import notes

/// notes-invite(1), --mine: another device of the same person.
@Suite(.timeLimit(.minutes(5))) struct InviteMineTests {
  private let laptop: Shell
  private let phone: Shell

  init() throws {
    laptop = try Shell()
    phone = try Shell()
    try laptop.folder.write("one\n", to: "notes/A.txt")
    try laptop.initialise()
  }

  private func names(at shell: Shell, in place: String = "notes") throws -> [String] {
    try shell.notes("members", "--json", in: place).lines.map { line in
      try "\(Shell.field("person_name", of: line)): \(Shell.field("device_name", of: line))"
    }
  }

  private func sync() throws {
    let (serve, port) = try laptop.listening("serve")
    let synced = try phone.notes("sync", "--no-discovery", "--at", "127.0.0.1:\(port)")
    try #require(synced.isSuccess || synced.status == .exited(3), "\(synced)")
    serve.send(SIGTERM)
    try serve.wait()
  }

  @Test func `A code makes another device of the same person`() throws {
    let invitation = try laptop.invite("--mine")
    let joined = try phone.join(invitation.code, invitation.port, as: "phone")
    try #require(joined.isSuccess, "\(joined)")
    #expect(joined.text.contains("\n  another device of laptop\n"), "\(joined)")
    let told = try invitation.process.wait().lines.first { $0.contains(#""type":"joined""#) }
    #expect(try Shell.field("name", of: told ?? "") == "laptop (phone)")
    #expect(try names(at: laptop) == ["laptop: laptop", "laptop: phone"])
    // This device comes first.
    #expect(try names(at: phone) == ["laptop: phone", "laptop: laptop"])
  }

  @Test func `Labels, log and blame say the person, and the device of a person with several`()
    throws
  {
    let invitation = try laptop.invite("--mine")
    try #require(try phone.join(invitation.code, invitation.port, as: "phone").isSuccess)
    try invitation.process.wait()
    #expect(
      try laptop.notes("members", "rename", "laptop", "ada").text
        == "laptop is now called ada. Other devices learn it at their next sync.\n")
    try sync()
    try phone.folder.write("by the phone\n", to: "notes/B.txt")
    try phone.folder.write("phone's\n", to: "notes/A.txt")
    try laptop.folder.write("laptop's\n", to: "notes/A.txt")
    for shell in [laptop, phone] { try #require(try shell.notes("save").isSuccess) }
    try sync()
    let note = try laptop.folder.text("notes/A.txt")
    for label in ["ada (phone) · ", "ada (laptop) · "] { #expect(note.contains(label), "\(note)") }
    #expect(try phone.folder.text("notes/A.txt") == note)
    for shell in [laptop, phone] {
      let log = try shell.notes("log", "--json", "B").text
      #expect(log.contains(#""author":"ada (phone)""#), "\(log)")
      #expect(try shell.notes("blame", "B").text.contains("ada (phone)"))
    }
    // A version from before is shown by today's name, and says that of then.
    let first = try #require(try laptop.notes("log", "--json", "A").lines.last)
    #expect(first.contains(#""author":"ada (laptop)","author_then":"laptop""#), "\(first)")
    // Both devices go by the person's name.
    #expect(
      try phone.notes("members", "remove", "ada", "--yes").errorText
        .hasPrefix("notes: error: only an admin of the notebook may do this\n"))
  }

  @Test func `The name of the new device is free among the person's`() throws {
    try phone.join(laptop, as: "phone")
    let tablet = try Shell()
    let invitation = try laptop.invite("--mine")
    let joined = try tablet.join(invitation.code, invitation.port, as: "phone")
    // Another person's device has that name.
    #expect(joined.isSuccess && joined.errorText.isEmpty, "\(joined)")
    let again = try laptop.invite("--mine")
    let third = try Shell().join(again.code, again.port, as: "laptop")
    #expect(
      third.errorText.contains(
        "Another device of the notebook is called laptop; this one is called laptop 2 there"))
    try again.process.wait()
    #expect(
      try names(at: laptop).sorted() == [
        "laptop: laptop", "laptop: laptop 2", "laptop: phone", "phone: phone",
      ])
    let both = try laptop.notes("members", "remove", "laptop (phone)", "--yes")
    #expect(both.text.hasPrefix("Removed laptop (phone). "), "\(both)")
  }

  @Test func `The watcher holds such an invitation open as well`() throws {
    let watcher = try laptop.listening("watch").process
    let (invite, code, port) = try laptop.invite(byWatcher: true, "--mine")
    try #require(try phone.join(code, port, as: "phone").isSuccess)
    try invite.wait()
    #expect(try names(at: laptop) == ["laptop: laptop", "laptop: phone"])
    watcher.send(SIGTERM)
    try watcher.wait()
  }

  @Test func `A file makes one, too`() throws {
    let file = laptop.folder["home.invitation"]
    try #require(try laptop.notes("invite", "--mine", "--file", file).isSuccess)
    let asked = try phone.notes("join", file, "../phone", "--yes", "--device-name", "Laptop")
    try #require(asked.isSuccess, "\(asked)")
    let answered = try laptop.notes(
      "invitations", "answer", laptop.folder["home.request"], "--yes")
    #expect(answered.isSuccess, "\(answered)")
    #expect(try names(at: laptop) == ["laptop: laptop", "laptop: Laptop 2"])
  }

  // notes-invite(1), --mine: "With --hub or --file any member can ask for a device of its own".
  @Test func `A member asks for its own phone, at a hub and by a file`() throws {
    let hub = laptop.folder["hub.git"]
    try #require(try run(["git", "init", "-q", "--bare", "-b", "main", hub]).isSuccess)
    let (anna, tablet) = (try Shell(), try Shell())
    try anna.join(laptop, as: "anna")
    for shell in [laptop, anna] {
      try #require(try shell.notes("remote", "add", "home", hub).isSuccess)
      try #require(try shell.notes("sync", "--hub").isSuccess)
    }
    let other = try anna.notes("invite", "--hub", "home")
    #expect(try errorKind(of: anna.notes("invite", "--hub", "home", "--json")) == "not_an_admin")
    #expect(other.errorText.contains("run the command on laptop"), "\(other)")
    let admin = try anna.notes("invite", "--mine", "--hub", "home", "--role", "admin")
    #expect(
      admin.status == .exited(64)
        && admin.errorText.contains("this device is a writer: it cannot ask for an admin"),
      "\(admin)")

    let invited = try anna.notes("invite", "--mine", "--hub", "home")
    #expect(invited.text.contains("after 'notes config own-devices true' there"), "\(invited)")
    #expect(invited.text.contains("Open this link on one other device of yours"), "\(invited)")
    #expect(try anna.notes("invitations").text.contains("own device, by anna"))
    let link = try #require(invited.lines.first { $0.hasPrefix("notes://join/") })
    let asked = try phone.notes("join", link, "../phone", "--yes", "--device-name", "phone")
    try #require(asked.isSuccess, "\(asked)")
    #expect(asked.text.contains("This device becomes another device of anna.\n"), "\(asked)")
    let told = try laptop.notes("sync", "--hub")
    #expect(
      told.errorText.contains("warning: anna asks at home to let in another device, phone ("),
      "\(told)")
    let refused = try laptop.notes("config", "own-devices", "maybe")
    #expect(refused.errorText.contains("neither true nor false"), "\(refused)")
    try #require(try laptop.notes("config", "own-devices", "true").isSuccess)
    #expect(try laptop.notes("config", "own-devices").text == "true\n")
    let synced = try laptop.notes("sync", "--hub")
    #expect(synced.text.contains("anna (phone) is now a member, as writer"), "\(synced)")
    #expect(try phone.notes("sync", in: "phone").text.contains("is now a member, as writer"))

    try #require(try laptop.notes("config", "--unset", "own-devices").isSuccess)
    let file = anna.folder["anna.invitation"]
    let made = try anna.notes("invite", "--mine", "--file", file, "--role", "reader")
    #expect(made.text.contains("'notes invitations answer REQUEST', on an admin's device"))
    let files = try tablet.notes("join", file, "../tablet", "--yes", "--device-name", "tablet")
    #expect(files.isSuccess && files.text.contains("\n  another device of anna\n"), "\(files)")
    let answered = try laptop.notes(
      "invitations", "answer", anna.folder["anna.request"], "--yes")
    #expect(answered.text.contains("anna (tablet) is now a member, as reader"), "\(answered)")
    #expect(
      try names(at: laptop).sorted() == [
        "anna: anna", "anna: phone", "anna: tablet", "laptop: laptop",
      ])
    let removed = try laptop.notes("members", "remove", "anna (anna)", "--yes")
    #expect(
      removed.text.contains("are still members") && removed.text.contains("tablet"),
      "\(removed)")
    let all = try laptop.notes("members", "remove", "anna", "--yes")
    #expect(all.text.contains("Removed anna"), "\(all)")
    #expect(try names(at: laptop) == ["laptop: laptop"])
  }

  // notes-invitations(1), answer: "Show the other device that a member asks for".
  @Test func `An admin lets in one device that a member asks for, at a hub and by a code`() throws {
    let hub = laptop.folder["hub.git"]
    try #require(try run(["git", "init", "-q", "--bare", "-b", "main", hub]).isSuccess)
    let (anna, tablet) = (try Shell(), try Shell())
    try anna.join(laptop, as: "anna")
    for shell in [laptop, anna] {
      try #require(try shell.notes("remote", "add", "home", hub).isSuccess)
      try #require(try shell.notes("sync", "--hub").isSuccess)
    }
    let link = try anna.notes("invite", "--mine", "--hub", "home").lines.first {
      $0.hasPrefix("notes://join/")
    }
    let text = try #require(link)
    try #require(
      try phone.notes("join", text, "../phone", "--yes", "--device-name", "phone").isSuccess)
    let told = try laptop.notes("sync", "--hub", "--json").text
    let id = try Shell.field(
      "invitation",
      of: told.split(separator: "\n").map(String.init).first {
        $0.contains(#""type":"device_asked""#)
      } ?? "")
    let command = "'notes invitations answer \(id.prefix(8))' lets it in"
    for name in ["invitations", "members"] {
      let list = try laptop.notes(name).text
      #expect(
        list.contains("anna asks to let in another device, phone (") && list.contains(command),
        "\(list)")
    }
    #expect(try !anna.notes("members").text.contains("asks to let in"))
    let declined = try laptop.notes("invitations", "answer", String(id.prefix(8)))
    #expect(declined.status == .exited(64), "\(declined)")
    let other = try laptop.notes("invitations", "answer", "00000000", "--yes", "--json")
    #expect(try errorKind(of: other) == "no_request", "\(other)")
    let answered = try laptop.notes("invitations", "answer", String(id.prefix(4)), "--yes")
    #expect(answered.text.contains("anna (phone) is now a member, as writer."), "\(answered)")
    #expect(try phone.notes("sync", in: "phone").text.contains("is now a member, as writer"))
    #expect(try !laptop.notes("members").text.contains("asks to let in"))
    for used in [String(id.prefix(8)), text] {
      let late = try laptop.notes("invitations", "cancel", used, "--json")
      #expect(late.errorText.contains(" was already used"), "\(late)")
      #expect(late.errorText.contains("notes members remove \\\"anna (phone)\\\""), "\(late)")
    }

    let (admin, port) = try laptop.listening("watch")
    try #require(try anna.notes("sync", "--no-discovery", "--at", "127.0.0.1:\(port)").isSuccess)
    let code = try anna.invite("--mine")
    #expect(try !tablet.join(code.code, code.port, as: "tablet").isSuccess)
    let asked = try laptop.notes("invitations", "--json").lines.first {
      $0.contains(#""asker_name":"tablet""#)
    }
    let digits = try Shell.field("invitation", of: asked ?? "").prefix(8)
    let twice = try laptop.notes("invitations", "answer", String(digits), "file", "--yes")
    #expect(
      twice.errorText.contains(
        "a device that asks at a hub or in a session needs no answer in a file"), "\(twice)")
    let yes = try laptop.notes("invitations", "answer", String(digits), "--yes", "--json")
    let line = yes.lines.first { $0.contains(#""type":"answered""#) } ?? ""
    #expect(try Shell.field("name", of: line) == "anna (tablet)", "\(yes)")
    let joined = try tablet.join(code.code, code.port, as: "tablet")
    #expect(joined.isSuccess, "\(joined)")
    try code.process.wait()
    admin.send(SIGTERM)
    try admin.wait()
  }

  // notes-invitations(1), cancel: "Another member can cancel its own".
  @Test func `A member cancels its own file, and tells an admin's device in a session`() throws {
    let anna = try Shell()
    try anna.join(laptop, as: "anna")
    let file = anna.folder["anna.invitation"]
    let made = try anna.notes("invite", "--mine", "--file", file, "--json")
    let id = try Shell.field("invitation", of: made.text)
    try #require(
      try phone.notes("join", file, "../phone", "--yes", "--device-name", "phone").isSuccess)
    let cancelled = try anna.notes("invitations", "cancel", String(id.prefix(8)))
    #expect(cancelled.text.contains("at their next sync with this device"), "\(cancelled)")
    #expect(try anna.notes("invitations").text.contains("cancelled"))
    let (serve, port) = try laptop.listening("serve")
    try #require(
      try anna.notes("sync", "--no-discovery", "--at", "127.0.0.1:\(port)").isSuccess)
    serve.send(SIGTERM)
    try serve.wait()
    let answered = try laptop.notes(
      "invitations", "answer", anna.folder["anna.request"], "--yes", "--json")
    #expect(try errorKind(of: answered) == "link_cancelled", "\(answered)")
    #expect(try names(at: laptop).sorted() == ["anna: anna", "laptop: laptop"])
  }

  // notes-security(7), "Devices of one's own": "By a code the asker's device asks the admins' devices in reach".
  @Test(arguments: [false, true])
  func `A member's code lets in its own phone while an admin's device is in reach`(watches: Bool)
    throws
  {
    let anna = try Shell()
    try anna.join(laptop, as: "anna")
    let far = try anna.invite("--mine")
    let alone = try phone.join(far.code, far.port, as: "phone")
    #expect(
      !alone.isSuccess && alone.errorText.contains("no admin's device was reached")
        && alone.errorText.contains("'notes invite --mine --hub NAME' makes a link"), "\(alone)")
    far.process.send(SIGINT)
    try far.process.wait()

    let (admin, port) = try laptop.listening("watch")
    let synced = try anna.notes("sync", "--no-discovery", "--at", "127.0.0.1:\(port)")
    try #require(synced.isSuccess, "\(synced)")
    let watcher = try watches ? anna.listening("watch").process : nil
    let unasked = try anna.invite(byWatcher: watches, "--mine")
    let refused = try phone.join(unasked.code, unasked.port, as: "phone")
    #expect(
      !refused.isSuccess && refused.errorText.contains("notes config own-devices true"),
      "\(refused)")
    #expect(try laptop.notes("invitations").text.contains("asked"))

    // "By a code, all attempts of the new device have one invitation, which an admin's device lists as used".
    try #require(try laptop.notes("config", "own-devices", "true").isSuccess)
    let joined = try phone.join(unasked.code, unasked.port, as: "phone")
    try #require(joined.isSuccess, "\(joined)")
    #expect(joined.text.contains("\n  another device of anna\n"), "\(joined)")
    try unasked.process.wait()
    let offers = try laptop.notes("invitations").text
    #expect(offers.contains("used") && !offers.contains("open"), "\(offers)")
    #expect(try phone.folder.text("notes/A.txt") == "one\n")
    for shell in [laptop, anna] {
      #expect(try names(at: shell).sorted() == ["anna: anna", "anna: phone", "laptop: laptop"])
    }
    for process in [admin, watcher].compactMap(\.self) {
      process.send(SIGTERM)
      try process.wait()
    }
  }

  // notes-security(7), "Devices of one's own": "If the signer becomes an admin, this stays a member's request".
  @Test(arguments: [(false, false), (true, false), (true, true)])
  func `A member's code needs a person's yes, also after the member became an admin`(
    hasAsked: Bool, watches: Bool
  ) throws {
    let anna = try Shell()
    try anna.join(laptop, as: "anna")
    let (admin, port) = try laptop.listening("watch")
    func meet() throws {
      let synced = try anna.notes("sync", "--no-discovery", "--at", "127.0.0.1:\(port)")
      try #require(synced.isSuccess, "\(synced)")
    }
    try meet()
    let watcher = try watches ? anna.listening("watch").process : nil
    let code = try anna.invite(byWatcher: watches, "--mine")
    if hasAsked { #expect(try !phone.join(code.code, code.port, as: "phone").isSuccess) }
    try #require(try laptop.notes("members", "role", "anna", "admin", "--yes").isSuccess)
    try meet()
    for _ in 0..<2 {
      let refused = try phone.join(code.code, code.port, as: "phone")
      #expect(
        refused.errorText.contains("an admin must let in the new device: 'notes invitations'"),
        "\(refused)")
    }
    #expect(try names(at: anna).sorted() == ["anna: anna", "laptop: laptop"])
    // A person answers on the device that has become an admin's.
    let asked = try anna.notes("invitations", "--json").lines.first {
      $0.contains(#""asker_name":"phone""#)
    }
    let digits = try Shell.field("invitation", of: asked ?? "").prefix(8)
    let yes = try anna.notes("invitations", "answer", String(digits), "--yes")
    try #require(yes.isSuccess, "\(yes)")
    let joined = try phone.join(code.code, code.port, as: "phone")
    #expect(joined.isSuccess, "\(joined)")
    #expect(try names(at: anna).sorted() == ["anna: anna", "anna: phone", "laptop: laptop"])
    try code.process.wait()
    for process in [admin, watcher].compactMap(\.self) {
      process.send(SIGTERM)
      try process.wait()
    }
  }
}
