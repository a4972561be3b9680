import Glibc
import History
import Notebook
import QRCodes
import State
import TestSupport
import Testing

@testable import notes

/// notes-invite(1), --hub, and notes-join(1), of a link.
@Suite(.timeLimit(.minutes(5))) struct LinkJoinTests {
  private let ada: Shell
  private let bob: Shell
  private let hub: String

  init() throws {
    ada = try Shell()
    bob = try Shell()
    hub = ada.folder["hub.git"]
    try ada.folder.write("one\n", to: "notes/A.txt")
    try ada.initialise()
    try #require(try run(["git", "init", "-q", "--bare", "-b", "main", hub]).isSuccess)
    try #require(try ada.notes("remote", "add", "home", hub).isSuccess)
  }

  /// The link, which the command prints alone on a line.
  private func invite(as role: String = "writer", until time: String = "7d") throws -> String {
    let result = try ada.notes("invite", "--hub", "home", "--role", role, "--for", time)
    try #require(result.isSuccess, "\(result)")
    let link = try #require(result.lines.first { $0.hasPrefix("notes://join/") })
    #expect(!link.contains(" "))
    return link
  }

  @Test func `A person in another place joins by a link, and writes`() throws {
    let link = try invite()
    #expect(link.contains("/writer/"))
    let asked = try bob.notes("join", link, "../desk", "--yes", "--device-name", "desk")
    #expect(asked.isSuccess, "\(asked)")
    #expect(asked.text.contains("invites this device to a notebook as writer"))
    #expect(asked.text.contains(": 1 note\n"))
    #expect(asked.text.contains("This device has asked to join, and is not a member yet"))
    #expect(try bob.folder.text("desk/A.txt") == "one\n")
    #expect(
      try bob.notes("status", in: "desk").text.contains(
        "at its next visit to origin, within 7 days"))
    let list = try bob.notes("members", in: "desk").text
    #expect(list.contains("has asked to join, and is not a member yet"), "\(list)")
    try bob.folder.write("by bob\n", to: "desk/B.txt")
    #expect(try bob.notes("sync", in: "desk").isSuccess)
    #expect(try ada.notes("doctor", "--no-discovery").text.contains("the hub home was visited"))
    let open = try ada.notes("invitations")
    #expect(open.text.contains("open") && open.text.contains("writer"), "\(open)")

    let answered = try ada.notes("sync", "--hub")
    #expect(answered.text.contains("desk is now a member, as writer, by an invitation at home"))
    let used = try ada.notes("invitations", "--json")
    #expect(used.text.contains(#""state":"used""#) && used.text.contains(#""names":["desk"]"#))
    let member = try bob.notes("sync", in: "desk")
    #expect(member.text.contains("desk is now a member, as writer"), "\(member)")
    #expect(!member.text.contains("not a member yet"))
    let fact = "desk never connected, and no version by it is here"
    #expect(
      try ada.notes("doctor", "--no-discovery").text.contains(
        "\(fact); it became a member just now"))
    // notes-doctor(1): "If no version arrived and the device has been a member for a week or more, the check
    // gives advice"
    let later = CheckContext(
      notebook: try Notebook.open(at: ada.folder["notes"]),
      now: TimeText.now + 8 * 86_400)
    let advice = Check.meetings.findings(in: later).first { $0.level == .advice }
    #expect(advice?.message == fact && advice?.remedy?.contains("if it has home as a hub") == true)
    #expect(try ada.notes("sync", "--hub").isSuccess)
    #expect(
      try ada.notes("doctor", "--no-discovery").text.contains(
        "desk never connected directly; its newest version (just now) arrived by a hub"))
    #expect(try ada.folder.text("notes/B.txt") == "by bob\n")
    // A device that only shares a hub with this one is not missed.
    let meeting = try ada.notes("members")
    #expect(meeting.lines.contains { $0.hasPrefix("desk ") && $0.hasSuffix("  wrote just now") })
    let peers = try ada.notes("peers", "--no-discovery", "--wait", "0").lines
    #expect(
      peers.contains { $0.hasPrefix("desk ") && $0.hasSuffix("  wrote just now") }, "\(peers)")
    let both = try ada.notes("sync", "--no-discovery", "--wait", "0")
    #expect(both.isSuccess && !both.text.contains("not there"), "\(both)")
    let undone = try ada.notes("undo", "--dry-run").text
    #expect(undone.hasSuffix("after the next sync also there.\n"), "\(undone)")
    #expect(try ada.notes("blame", "B").text.contains("desk"))
    #expect(try bob.notes("members", in: "desk").text.contains("desk"))
    let again = try bob.notes("join", link, "../desk", "--yes", "--json")
    #expect(again.errorText.contains(#""kind":"already_a_member""#), "\(again)")
    #expect(again.errorText.contains("this device is already a member of the notebook"))
    #expect(
      again.errorText.contains("'notes -C \(bob.folder["desk"]) sync' receives what is new"),
      "\(again)")
  }

  // notes-join(1): "In a copy of the notebook, the command visits the hub before it leaves a request."
  @Test func `An older copy learns from the hub that it is a member, before it uses up a link`()
    throws
  {
    let (link, other, carl) = (try invite(), try invite(), try Shell())
    try #require(try bob.notes("join", link, "../desk", "--yes").isSuccess)
    try #require(try carl.notes("join", other, "../desk", "--yes").isSuccess)
    try #require(try ada.notes("sync", "--hub").isSuccess)
    let again = try bob.notes("join", other, "--yes", "--json", in: "desk")
    #expect(try errorKind(of: again) == "already_a_member", "\(again)")
    let synced = try ada.notes("sync", "--hub")
    #expect(synced.isSuccess && !synced.errorText.contains("several devices"), "\(synced)")
    // A stranger's older copy is told that the link was used.
    let (third, eve) = (try invite(), try Shell())
    try #require(try eve.notes("join", third, "../desk", "--yes").isSuccess)
    try #require(try ada.notes("invitations", "cancel", third).isSuccess)
    let used = try eve.notes("join", other, "--yes", "--json", in: "desk")
    #expect(try errorKind(of: used) == "link_used", "\(used)")
  }

  // notes-join(1): "If the current folder is in another notebook, the new folder is beside that."
  @Test func `A link opened in another notebook makes a folder beside it`() throws {
    let link = try invite()
    try bob.folder.write("x\n", to: "mine/X.txt")
    try #require(try bob.notes("init", in: "mine").isSuccess)
    let joined = try bob.notes("join", link, "--yes", in: "mine")
    #expect(joined.isSuccess, "\(joined)")
    #expect(try bob.folder.text("hub/A.txt") == "one\n")
    let carl = try Shell()
    try carl.folder.write("x\n", to: "A.txt")
    let taken = try carl.notes("join", invite(), "../A.txt", "--yes")
    #expect(taken.errorText.contains("A.txt is not a folder"), "\(taken)")
  }

  // notes-join(1): "A device that has its key and lacks only the folder is still a member: it receives the notebook, and
  // the link or file still works."
  @Test func `A member's device that lost its folder does not use up a link`() throws {
    try #require(try bob.notes("join", invite(), "../desk", "--yes").isSuccess)
    try #require(try ada.notes("sync", "--hub").isSuccess)
    try #require(try bob.notes("sync", in: "desk").isSuccess)
    let (link, carl) = (try invite(), try Shell())
    for json in [false, true] {
      try #require(try run(["rm", "-rf", bob.folder["desk"]]).isSuccess)
      let cloned =
        try json
        ? bob.notes("join", link, "../desk", "--yes", "--json")
        : bob.notes("join", link, "../desk", "--yes")
      #expect(cloned.isSuccess, "\(cloned)")
      let words =
        json ? #""type":"cloned""# : "This device was already a member: it did not use the link"
      #expect(cloned.text.contains(words), "\(cloned)")
      #expect(!cloned.text.contains("asked"), "\(cloned)")
    }
    try #require(
      try carl.notes("join", link, "../desk", "--yes", "--device-name", "carl").isSuccess)
    #expect(try ada.notes("sync", "--hub").text.contains("carl is now a member"))
  }

  // notes-doctor(1): "In the last 90 days this device connected to the founder's device, or got a version from it."
  @Test func `A founder that only shares a hub is not missed while it writes`() throws {
    let link = try invite(as: "admin")
    try #require(
      try bob.notes("join", link, "../desk", "--yes", "--device-name", "desk").isSuccess)
    try #require(try ada.notes("sync", "--hub").isSuccess)
    try #require(try bob.notes("sync", in: "desk").isSuccess)
    let desk = try Notebook.open(at: bob.folder["desk"])
    func advice(inDays days: Int64) -> String? {
      let context = CheckContext(notebook: desk, now: TimeText.now + days * 86_400)
      return Check.membership.findings(in: context).first { $0.level == .advice }?.message
    }
    #expect(advice(inDays: 80) == nil)
    let told = try #require(advice(inDays: 100))
    let wrote = "laptop, the founder's device, wrote its newest version here "
    #expect(told.hasPrefix(wrote), "\(told)")
    // The founder connected once, long before it wrote that version.
    let (laptop, state) = (
      try Notebook.open(at: ada.folder["notes"]).identity.device.deviceID, desk.stateFolder
    )
    try makeFolder(state[.seen])
    try #require(try run(["touch", "-d", "@1700000000", "\(state[.seen])/\(laptop)"]).isSuccess)
    #expect(advice(inDays: 100)?.hasPrefix(wrote) == true)
  }

  // notes-invite(1): "If the terminal is wide enough, the command also draws notes join LINK as a code for a
  // camera."
  @Test(arguments: [(120, true), (40, false)])
  func `The line to run is drawn for a camera where the terminal is wide enough`(
    columns: Int, isDrawn: Bool
  ) throws {
    var terminal = ada.environment
    (terminal["TERM"], terminal["LC_ALL"]) = ("xterm", "C.UTF-8")
    terminal["NOTES"] = try BuiltBinary.notes()
    let script = "stty cols \(columns); exec \"$NOTES\" invite --hub home"
    let result = try run(
      ["script", "-qefc", script, "/dev/null"], in: ada.folder["notes"], environment: terminal)
    try #require(result.isSuccess, "\(result)")
    let lines = result.text.split(whereSeparator: \.isNewline).map(String.init)
    let link = try #require(lines.first { $0.hasPrefix("notes://join/") })
    let drawn = lines.filter { $0.hasPrefix("\u{1B}[30;107m") }
    guard isDrawn else {
      #expect(drawn.isEmpty)
      return
    }
    let code = try #require(QRCode("notes join \(link)"))
    #expect(drawn == code.lines)
    #expect(code.width <= 80)
  }

  @Test(arguments: [
    (119, "119 s"), (120, "2 min"), (7_169, "119 min"), (7_199, "2 hours"), (7_200, "2 hours"),
    (170_999, "47 hours"), (172_799, "2 days"), (172_800, "2 days"), (604_799, "7 days"),
    (30 * 86_400, "30 days"),
  ])
  func `The time that is left is told in the largest fitting unit`(seconds: Int64, told: String) {
    #expect(TimeText.left(until: 1_000 + seconds, now: 1_000) == told)
  }

  // notes-join(1): "The command refuses a link if the folder contains another notebook".
  @Test func `A folder from before the membership was started over is told so`() throws {
    let former = try invite()
    try #require(try bob.notes("join", former, "../desk", "--yes").isSuccess)
    try #require(try ada.notes("sync", "--hub").isSuccess)
    try #require(try bob.notes("sync", in: "desk").isSuccess)
    try #require(try ada.notes("members", "reset", "--yes").isSuccess)
    try #require(try ada.notes("sync", "--hub").isSuccess)
    let link = try invite()
    let unknown = try bob.notes("join", link, "../desk", "--yes", "--json")
    #expect(unknown.errorText.contains(#""kind":"already_a_notebook""#), "\(unknown)")
    #expect(
      unknown.errorText.contains(
        "has another notebook, or this one from before its membership was started over"))
    _ = try bob.notes("sync", in: "desk")
    let known = try bob.notes("join", link, "../desk", "--yes")
    #expect(known.status == .exited(1) && known.errorText.contains("has this notebook from before"))
    #expect(known.errorText.contains("started its membership over"), "\(known)")
    #expect(known.errorText.contains("hint: to join in a new folder, run 'notes join LINK DIR'"))
    #expect(try bob.folder.text("desk/A.txt") == "one\n")
    #expect(try bob.notes("join", link, "../new", "--yes").isSuccess)
  }

  // notes-invitations(1): "the first digits of the ID of the link or file. It shows the state, the role, the device or
  // person that joined or is invited, who made a link or file"
  @Test func `Links are told apart by their IDs`() throws {
    let made = try ada.notes("invite", "--hub", "home", "--name", "anna", "--name", "ben").text
    let form = /Invitation ([0-9a-f]{8}), for (\w+):\n(notes:\S+)\n/
    let shown = made.matches(of: form).map(\.output)
    try #require(shown.map { String($0.2) } == ["anna", "ben"], "\(made)")
    #expect(made.contains("may not work elsewhere: \(hub) is a folder of this machine"), "\(made)")
    let all = try ada.notes("invitations").lines
    for (_, id, name, _) in shown {
      let line = try #require(all.first { $0.hasPrefix("\(id)…") })
      #expect(line.contains("for \(name), by laptop") && line.hasSuffix("7 days left"), "\(line)")
    }
    var narrow = ada.environment
    narrow.merge(["LC_ALL": "C.UTF-8", "NO_COLOR": "1", "NOTES": try BuiltBinary.notes()]) { $1 }
    let screen = try run(
      ["script", "-qefc", "stty cols 40; exec \"$NOTES\" invitations", "/dev/null"],
      in: ada.folder["notes"], environment: narrow
    ).text.split(whereSeparator: \.isNewline)
    #expect(screen.count == 2 && screen.allSatisfy { $0.count <= 40 }, "\(screen)")
    #expect(screen.allSatisfy { $0.contains("…  open  ") && $0.contains("  for ") }, "\(screen)")
    let json = try ada.notes("invitations", "--json").lines
    let anna = try #require(json.first { $0.contains(#""person":"anna""#) })
    #expect(anna.contains(#""inviter":"laptop""#) && anna.contains(#""mine":false"#), "\(anna)")

    let (_, id, _, link) = shown[0]
    for name in ["desk", "tablet"] {
      let asked = try bob.notes("join", "\(link)", "../\(name)", "--yes", "--device-name", name)
      try #require(asked.isSuccess, "\(asked)")
      bob.environment["XDG_DATA_HOME"] = bob.folder["other"]
    }
    let told = try ada.notes("sync", "--hub").errorText
    #expect(told.contains("used the link of invitation \(id) at home: "), "\(told)")
    #expect(told.contains("'notes invitations cancel \(id)' cancels the link"), "\(told)")
    #expect(try ada.notes("invitations").text.contains("\(id)…  shared"))
    let cancelled = try ada.notes("invitations", "cancel", "\(id)…")
    #expect(cancelled.text.hasPrefix("Cancelled: \(id).\n"), "\(cancelled)")
    let second = try ada.notes("invitations", "--json").lines.filter { $0.contains(#""open""#) }
    #expect(second.count == 1 && second[0].contains(#""person":"ben""#), "\(second)")
  }

  @Test func `What stands around a link does not matter, and the signed role is told`() throws {
    let link = try invite(as: "reader")
    #expect(try ada.notes("members", "rename", "laptop", "ada").isSuccess)
    let named = try invite()
    #expect(named.contains("/ada/"), "\(named)")
    let altered = "“Notes" + link.dropFirst(5).replacing("/reader/", with: "/admin/") + "”."
    let asked = try bob.notes("join", altered, "../desk", "--yes")
    #expect(asked.text.contains("The link says: laptop invites this device to a notebook as admin"))
    #expect(
      asked.text.contains("The invitation is for a reader, whatever the link says."), "\(asked)")
    // A hub's hints are for its owner, unless a person joins.
    let other = try invite()
    removeTree(hub)
    let away = try Shell().notes("join", other, "../new", "--yes")
    #expect(away.errorText.contains("ask ada how to reach \(hub) from here"), "\(away)")
  }

  @Test func `A clone that is there already joins by a link`() throws {
    let link = try invite(as: "reader", until: "2h")
    try #require(try bob.notes("clone", hub, "../desk").isSuccess)
    try writeFile(bob.folder["link"], Array((link + "\n").utf8))
    let asked = try bob.notes("join", "--code-file", bob.folder["link"], "--yes", in: "desk")
    #expect(asked.isSuccess && asked.text.contains("has asked to join"), "\(asked)")
    #expect(try ada.notes("sync", "--hub").text.contains("is now a member, as reader"))
    #expect(try bob.notes("sync", in: "desk").isSuccess)
  }

  @Test func `Mistakes are told, and leave nothing`() throws {
    let link = try invite()
    func kind() throws -> String? {
      try errorKind(of: bob.notes("join", link, "../desk", "--yes", "--json"))
    }
    for text in [
      String(link.dropLast(60)), "notes://join/x", "notes:", "NOTES:", "\"notes://join/x",
      "otes://join/x/y",
    ] {
      let wrong = try bob.notes("join", text, "../desk", "--yes")
      #expect(wrong.status == .exited(64), "\(wrong)")
      #expect(wrong.errorText.contains("this link is incomplete or was changed"))
      // It may be most of a secret.
      #expect(!wrong.errorText.contains(text.dropFirst(20).prefix(20)) || text.count < 40)
    }
    #expect(try bob.notes("join", link, "../desk").errorText.contains("no terminal to ask"))
    let id = try #require(
      try JSONValue.lines(ada.notes("invitations", "--json").text)[0]["invitation"])
    #expect(try ada.notes("invitations", "cancel", String(id.prefix(3))).status == .exited(1))
    let members = ["git", "-C", hub, "rev-parse", "refs/notebook/members"]
    let list = try run(members).text
    let cancelled = try ada.notes("invitations", "cancel", String(id.prefix(8)))
    #expect(cancelled.text.hasPrefix("Cancelled: \(id.prefix(8)).\n"), "\(cancelled)")
    #expect(try run(members).text != list)
    #expect(try ada.notes("invitations").text.contains("cancelled"))
    #expect(try ada.notes("sync", "--hub").isSuccess)
    // "An admin's device removes the references of a cancelled invitation"; the list of members still tells it.
    #expect(try kind() == "link_cancelled")
    let ended = try bob.notes("join", link, "../desk", "--yes").errorText
    #expect(ended.contains("was cancelled\nnotes: hint: ask laptop for another link"), "\(ended)")
    let secret = link.split(separator: "/").dropFirst(5).first ?? ""
    let typo = link.replacing(secret, with: secret.reversed())
    let missing = try bob.notes("join", typo, "../desk", "--yes").errorText
    #expect(missing.contains("no such invitation: it may have been cancelled"), "\(missing)")
    #expect(missing.contains("if the link is complete, ask laptop for another link"), "\(missing)")
    #expect(access(bob.folder["desk"], F_OK) != 0)
    #expect(try ada.notes("invite", "--hub", "away").errorText.contains("no hub is called 'away'"))
    let lonely = try Shell()
    try lonely.initialise()
    #expect(
      try lonely.notes("invite", "--hub", "home").errorText
        == "notes: error: the notebook has no hub\nnotes: hint: 'notes remote add NAME URL' adds one\n"
    )
    let short = try ada.notes("invite", "--hub", "home", "--for", "1m")
    #expect(short.status == .exited(64))
    #expect(short.errorText.contains("--for is from 1h to 30d with --hub"), "\(short)")
    let both = try ada.notes("invite", "--hub", "home", "--listen", "127.0.0.1:0")
    #expect(both.errorText.contains("--hub goes with neither --device nor --listen"), "\(both)")
    #expect(try ada.notes("invite", "--for", "2h").status == .exited(64))
    _ = try invite()
    removeTree(hub)
    let open = try JSONValue.lines(ada.notes("invitations", "--json").text).compactMap {
      $0["state"] == "open" ? $0["invitation"] : nil as String?
    }
    let away = try ada.notes("invitations", "cancel", #require(open.first))
    #expect(away.isSuccess && away.text.contains("home: there is no repository"), "\(away)")
    #expect(try kind() == "hub_missing")
    #expect(access(bob.folder["desk"], F_OK) != 0)
  }

  @Test func `The secret is in no file of the inviter, and in none of the hub`() throws {
    let link = try invite()
    let secret = try #require(link.split(separator: "/").dropFirst(5).first.map(String.init))
    #expect(secret.count == 32)
    try #require(try bob.notes("join", link, "../desk", "--yes").isSuccess)
    for folder in [ada.folder.path, bob.folder.path] {
      let found = try run(["grep", "-r", "-l", "-F", secret, folder])
      #expect(found.status == .exited(1), "\(found)")
    }
    let objects = try run([
      "sh", "-c",
      "git -C '\(hub)' cat-file --batch-all-objects --batch | grep -c -a -F '\(secret)'",
    ])
    #expect(objects.text == "0\n")
  }
}
