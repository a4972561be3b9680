import Glibc
import TestSupport
import Testing

/// notes-invite(1), --file; notes-join(1), of a file; notes-invitations(1), answer.
@Suite(.timeLimit(.minutes(5))) struct FileInvitationTests {
  private let ada: Shell
  private let bob: Shell
  private let page: JSONPage

  init() throws {
    page = try JSONPage()
    ada = try Shell()
    bob = try Shell()
    try ada.folder.write("one\n", to: "notes/A.txt")
    try ada.initialise()
  }

  private var invitation: String { ada.folder["home.invitation"] }
  private var request: String { ada.folder["home.request"] }

  private func invite(as role: String = "writer") throws {
    let made = try ada.notes("invite", "--file", "../home.invitation", "--role", role)
    try #require(made.isSuccess, "\(made)")
  }

  private func ask() throws {
    let asked = try bob.notes("join", invitation, "../desk", "--yes", "--device-name", "desk")
    try #require(asked.isSuccess, "\(asked)")
  }

  private func expect(_ text: String, isLike fields: [JSONPage.Field]?, _ name: String) throws {
    let object = try #require(try JSONValue.lines(text).last)
    #expect(page.differences(of: object, from: try #require(fields), at: name).isEmpty)
  }

  @Test func `Three files make a device a member, and what it wrote meanwhile arrives`() throws {
    try invite()
    let verified = try run(["git", "bundle", "verify", "-q", invitation], in: ada.folder["notes"])
    #expect(verified.isSuccess, "\(verified)")
    let asked = try bob.notes("join", invitation, "../desk", "--yes", "--device-name", "desk")
    #expect(asked.isSuccess, "\(asked)")
    #expect(asked.text.contains("laptop invites this device to Home as writer"), "\(asked)")
    #expect(asked.text.contains(": 1 note\n"), "\(asked)")
    #expect(asked.text.contains("This device has asked to join, and is not a member yet"))
    #expect(asked.text.contains("The admin sees this device's ID, which begins with"))
    #expect(
      try bob.notes("status", in: "desk").text.contains("to an admin, who answers it within 7 days")
    )
    let alone = try bob.notes("sync", in: "desk")
    #expect(alone.errorText.contains("then 'notes bundle apply ANSWER' here"), "\(alone)")
    let unsent = try bob.notes("bundle", "create", "../early.bundle", in: "desk")
    #expect(
      unsent.errorText.contains("is not a member of the notebook\nnotes: hint: send ")
        && unsent.errorText.contains("then 'notes bundle apply ANSWER' here"), "\(unsent)")
    try bob.folder.write("by bob\n", to: "desk/B.txt")
    try ada.folder.write("two\n", to: "notes/A.txt")

    #expect(try ada.notes("invitations").text.contains("open"))
    let unsure = try ada.notes("invitations", "answer", request)
    #expect(unsure.status == .exited(64) && unsure.errorText.contains("add --yes"), "\(unsure)")
    let answered = try ada.notes("invitations", "answer", request, "--yes")
    #expect(answered.text.contains("desk is now a member, as writer. Send "), "\(answered)")
    // "A device that was already admitted may get the answer again."
    let repeated = try ada.notes("invitations", "answer", request, "../again.answer")
    #expect(repeated.text.contains("desk was already a member, as writer. Send "), "\(repeated)")
    let member = try bob.notes("bundle", "apply", ada.folder["home.answer"], in: "desk")
    #expect(member.text.contains("desk is now a member, as writer"), "\(member)")
    #expect(!member.text.contains("not a member yet"))
    #expect(try bob.folder.text("desk/A.txt") == "two\n")

    let back = try bob.notes("bundle", "create", "../b.bundle", in: "desk")
    #expect(back.isSuccess, "\(back)")
    let taken = try ada.notes("bundle", "apply", bob.folder["b.bundle"])
    #expect(taken.isSuccess, "\(taken)")
    #expect(try ada.folder.text("notes/B.txt") == "by bob\n")
    #expect(try ada.notes("invitations").text.contains("used"))
    #expect(
      try errorKind(of: bob.notes("join", invitation, "../desk", "--yes", "--json"))
        == "already_a_member")
    // notes-join(1): "[...] receives the notebook; the link or file still works."
    try #require(try run(["rm", "-rf", bob.folder["desk"]]).isSuccess)
    try #require(unlink(invitation) == 0)
    try invite()
    let cloned = try bob.notes("join", invitation, "../desk", "--yes")
    #expect(cloned.text.contains("it did not use the file, which still works"), "\(cloned)")
    #expect(try bob.notes("status", in: "desk").isSuccess)
  }

  // notes-security(7): "An admin may invite a removed device again [...] The device keeps its folder, and sends what it
  // wrote there since."
  @Test func `A removed device joins again in its folder`() throws {
    func joinByFiles() throws -> ProcessResult {
      try invite()
      let asked = try bob.notes("join", invitation, "--yes", in: "desk")
      try #require(asked.isSuccess, "\(asked)")
      let status = try bob.notes("status", in: "desk").text
      #expect(status.contains("to an admin, who answers it within 7 days"), "\(status)")
      let alone = try bob.notes("sync", in: "desk").errorText
      #expect(alone.contains("who answers it within 7 days"), "\(alone)")
      #expect(try ada.notes("invitations", "answer", request, "--yes").isSuccess)
      let member = try bob.notes("bundle", "apply", ada.folder["home.answer"], in: "desk")
      #expect(member.text.contains("desk is now a member, as writer"), "\(member)")
      for file in [invitation, request, ada.folder["home.answer"]] {
        try #require(unlink(file) == 0)
      }
      return asked
    }
    try #require(try ada.notes("bundle", "create", "../all").isSuccess)
    try #require(
      try bob.notes("clone", ada.folder["all"], "../desk", "--device-name", "desk").isSuccess)
    _ = try joinByFiles()
    try #require(try ada.notes("members", "remove", "desk", "--yes").isSuccess)
    try #require(try ada.notes("bundle", "create", "../news").isSuccess)
    let told = try bob.notes("bundle", "apply", ada.folder["news"], in: "desk")
    #expect(told.errorText.contains("was removed from the notebook"), "\(told)")
    try bob.folder.write("by bob\n", to: "desk/B.txt")
    try #require(try bob.notes("save", in: "desk").isSuccess)

    let asked = try joinByFiles()
    #expect(asked.text.contains("This device has asked to join again, and is not a member yet"))
    try #require(try bob.notes("bundle", "create", "../b.bundle", in: "desk").isSuccess)
    let taken = try ada.notes("bundle", "apply", bob.folder["b.bundle"])
    #expect(taken.isSuccess, "\(taken)")
    #expect(try ada.folder.text("notes/B.txt") == "by bob\n")
  }

  @Test func `Programs are told what the page says`() throws {
    let made = try ada.notes("invite", "--file", "../home.invitation", "--for", "2h", "--json")
    try expect(made.text, isLike: page.events["invitation_file"], "invitation_file")
    let asked = try bob.notes("join", invitation, "../desk", "--yes", "--json")
    try expect(asked.text, isLike: page.events["asked"], "asked")
    let answered = try ada.notes("invitations", "answer", request, "--yes", "--json")
    try expect(answered.text, isLike: page.commands["invitations: answer"], "answer")
    // The answer is made again, in another place, for the device that was let in.
    let again = try ada.notes("invitations", "answer", request, "../again", "--yes", "--json")
    try expect(again.text, isLike: page.commands["invitations: answer"], "answer")
    let kept = try ada.notes("invitations", "answer", request, "--yes", "--json")
    #expect(try errorKind(of: kept) == "target_exists")
    #expect(try bob.notes("bundle", "apply", ada.folder["again"], in: "desk").isSuccess)
  }

  @Test func `A second device at one invitation leaves nothing`() throws {
    try invite()
    try ask()
    let carl = try Shell()
    let second = try carl.notes("join", invitation, "../desk", "--yes")
    #expect(second.status == .exited(5), "\(second)")
    #expect(second.errorText.contains(" is another device's request"), "\(second)")
    #expect(access(carl.folder["desk"], F_OK) != 0)
    // The first one can ask again.
    try #require(try bob.notes("join", invitation, "../desk", "--yes").isSuccess)
  }

  @Test func `Any admin's device answers, and the request is made again in its place`() throws {
    let carl = try Shell()
    try invite(as: "admin")
    try #require(try carl.notes("join", invitation, "../desk", "--yes").isSuccess)
    try #require(try ada.notes("invitations", "answer", request, "--yes").isSuccess)
    try #require(
      try carl.notes("bundle", "apply", ada.folder["home.answer"], in: "desk").isSuccess)
    for file in [invitation, request, ada.folder["home.answer"]] { try #require(unlink(file) == 0) }
    try invite(as: "reader")
    try ask()
    let before = try readFile(request)
    try ask()
    #expect(try readFile(request) == before)
    let answered = try carl.notes("invitations", "answer", request, "--yes", in: "desk")
    #expect(answered.isSuccess, "\(answered)")
    let member = try bob.notes("bundle", "apply", ada.folder["home.answer"], in: "desk")
    #expect(member.text.contains("desk is now a member, as reader"), "\(member)")
  }

  // notes-invitations(1): "The command refuses the request if the file was altered or cut short. It also
  // refuses it if the invitation has expired, was cancelled, is to another notebook or was used by another device."
  @Test func `A request that must not be answered is refused`() throws {
    try invite()
    try ask()
    func kind(_ file: String, by shell: Shell? = nil) throws -> String? {
      try errorKind(
        of: (shell ?? ada).notes("invitations", "answer", file, "../none", "--yes", "--json"))
    }
    let bytes = try readFile(request)
    try writeFile(ada.folder["short"], Array(bytes.dropLast(30)))
    #expect(try kind(ada.folder["short"]) == "request_unreadable")
    for place in stride(from: 0, to: bytes.count, by: 97) {
      var altered = bytes
      altered[place] = altered[place] == UInt8(ascii: "a") ? UInt8(ascii: "b") : UInt8(ascii: "a")
      try writeFile(ada.folder["altered"], altered)
      #expect(try kind(ada.folder["altered"]) == "request_unreadable", "\(place)")
    }
    #expect(try kind(invitation) == "request_unreadable")
    #expect(try kind(ada.folder["away"]) == "system_failed")

    let other = try Shell()
    try other.folder.write("else\n", to: "notes/X.txt")
    try other.initialise()
    #expect(try kind(request, by: other) == "link_of_another")

    let eve = try Shell()
    let asked = try eve.notes("join", invitation, "../desk", "--yes", "--device-name", "eve")
    #expect(asked.errorText.contains(" is another device's request"), "\(asked)")
    try #require(rename(request, ada.folder["bob.request"]) == 0)
    try #require(
      try eve.notes("join", invitation, "../desk", "--yes", "--device-name", "eve").isSuccess)
    #expect(try ada.notes("invitations", "answer", request, "--yes").isSuccess)
    #expect(try kind(ada.folder["bob.request"]) == "link_used")

    try #require(unlink(invitation) == 0)
    try invite()
    let id = try #require(
      try JSONValue.lines(ada.notes("invitations", "--json").text).first { $0["state"] == "open" })
    try #require(unlink(request) == 0)
    let carl = try Shell()
    try #require(try carl.notes("join", invitation, "../desk", "--yes").isSuccess)
    let digits = try #require(id["invitation"]).prefix(8)
    #expect(try ada.notes("invitations", "cancel", String(digits)).isSuccess)
    #expect(try kind(request) == "link_cancelled")
    #expect(access(ada.folder["none"], F_OK) != 0)
  }

  @Test func `An invitation that leads nowhere leaves nothing`() throws {
    func kind(_ file: String) throws -> String? {
      try errorKind(of: bob.notes("join", file, "../desk", "--yes", "--json"))
    }
    try invite()
    let bytes = try readFile(invitation)
    try writeFile(ada.folder["short.invitation"], Array(bytes.dropLast(100)))
    #expect(try kind(ada.folder["short.invitation"]) == "bundle_damaged")
    #expect(try kind(ada.folder["away.invitation"]) == "system_failed")
    #expect(try kind(ada.folder["notes/A.txt"]) == "no_bundle")
    try #require(try ada.notes("bundle", "create", "../plain.bundle").isSuccess)
    #expect(try kind(ada.folder["plain.bundle"]) == "no_invitation")
    // Another secret than the offer's: the file's header is not signed, but the two belong together.
    let name = Array("refs/notebook/invitation/".utf8)
    let start = try #require(bytes.indices.first { bytes[$0...].starts(with: name) }) + name.count
    var altered = bytes
    altered[start] = altered[start] == UInt8(ascii: "a") ? UInt8(ascii: "b") : UInt8(ascii: "a")
    try writeFile(ada.folder["altered.invitation"], altered)
    #expect(try kind(ada.folder["altered.invitation"]) == "no_invitation")
    #expect(access(bob.folder["desk"], F_OK) != 0)
    #expect(access(ada.folder["altered.request"], F_OK) != 0)

    let nowhere = try ada.notes("invite", "--file", "../none/x.invitation")
    #expect(
      nowhere.errorText.hasPrefix(
        "notes: error: cannot write ../none/x.invitation: no such file or directory\n"),
      "\(nowhere)")
    #expect(
      nowhere.errorText.contains("'mkdir -p \(ada.folder["none"])' makes the folder"), "\(nowhere)")
    try #require(try ada.notes("invite", "--file", "../a.file", "--name", "anna").isSuccess)
    let twice = try ada.notes("invite", "--file", "../b.file", "--name", "Anna")
    #expect(twice.status == .exited(1), "\(twice)")
    #expect(
      twice.errorText.contains(" for Anna is still open\nnotes: hint: 'notes invitations cancel "),
      "\(twice)")
    let both = try ada.notes("invite", "--file", "../x", "--hub", "home")
    #expect(
      both.errorText.contains("--file goes with none of --hub, --device and --listen"), "\(both)")
    let short = try ada.notes("invite", "--file", "../x", "--for", "1m")
    #expect(short.errorText.contains("--for is from 1h to 30d with --file"), "\(short)")
    #expect(try ada.notes("invite", "--file", "x").status == .exited(64))
    #expect(
      try errorKind(of: ada.notes("invite", "--file", invitation, "--json")) == "target_exists")
    // 'clone' reads the notes of it, whatever becomes of the invitation.
    #expect(try bob.notes("clone", invitation, "../desk").isSuccess)
    #expect(try bob.notes("join", invitation, "--yes", in: "desk").isSuccess)
  }
}
