import TestSupport
import Testing

@testable import Membership
@testable import Watch
@testable import notes

/// notes-members(1), as a shell sees it.
@Suite struct MembersTests: MembersSuite {
  let scene: MembersScene

  init() throws { scene = try MembersScene() }

  @Test func `A role is changed, and told`() throws {
    let phone = try add("phone", .writer)
    let result = try shell.notes("members", "role", "phone", "reader")
    #expect(
      result.text == "phone is now a reader. Other devices learn it at their next sync.\n")
    #expect(try role(of: phone) == .reader)
    #expect(
      try shell.notes("members", "role", "PHONE", "reader").text == "phone is a reader already.\n")
    let prefix = phone.deviceID.prefix(6).lowercased()
    let json = try shell.notes("members", "role", prefix, "admin", "--json")
    #expect(
      json.text == """
        {"type":"role","name":"phone","device":"\(phone.deviceID)","role":"admin",\
        "state":"member"}

        """)
    #expect(try role(of: phone) == .admin)
  }

  @Test func `A name is changed, but not to one that is taken`() throws {
    let phone = try add("phone", .writer)
    let taken = try shell.notes("members", "rename", "phone", "Laptop")
    #expect(taken.status == .exited(1))
    #expect(taken.errorText.hasPrefix("notes: error: another device is already called laptop\n"))
    #expect(try shell.notes("members", "rename", "phone", "Ben's phone").isSuccess)
    try store.refresh()
    #expect(store.members().contains { $0.name == "Ben's phone" && $0.deviceID == phone.deviceID })
    let refused = try shell.notes("members", "rename", "Ben's phone", "a\u{1B}b")
    #expect(refused.status == .exited(64))
    // This device's own name stands in what it writes from now on.
    #expect(try shell.notes("members", "rename", "laptop", "desk").isSuccess)
    #expect(try shell.folder.text("notes/.git/notes/notebook").contains("device-name desk\n"))
  }

  // "Without a terminal it requires --yes."
  @Test func `A removal is confirmed, and says what it cannot do`() throws {
    let phone = try add("phone", .writer)
    let refused = try shell.notes("members", "remove", "phone", input: "y\n")
    #expect(refused.status == .exited(64))
    #expect(
      refused.errorText == """
        notes: error: there is no terminal to confirm removing phone
        notes: hint: add --yes to confirm

        """)
    #expect(try role(of: phone) == .writer)
    let removed = try shell.notes("members", "remove", "phone", "--yes")
    #expect(
      removed.text == """
        Removed phone. Other devices learn it at their next sync.
        It keeps the notes it has received: a removal cannot take them back.

        """)
    #expect(try role(of: phone) == nil)
    let again = try shell.notes("members", "remove", "phone", "--yes")
    #expect(again.errorText.hasPrefix("notes: error: phone was already removed\n"))
    #expect(try !shell.notes("members").text.contains("phone"))
    #expect(try shell.notes("members", "--all").text.contains("phone"))
  }

  // "says once which role this device has now, and which other devices got another role or were removed, and by which
  // device"
  @Test func `Others' new roles and removals are told once, but not those made here`() throws {
    let (ann, phone) = (try add("ann", .admin), try add("phone", .writer))
    let (desk, tablet) = (try add("desk", .writer), try add("tablet", .writer))
    func told() throws -> [String] {
      try shell.notes("status").lines.filter { $0.contains(" now") || $0.contains("removed") }
    }
    #expect(try told().isEmpty)
    try store.reissue(device: phone.deviceID, role: .reader, by: ann)
    try store.reissue(device: desk.deviceID, name: "table", by: ann)
    // A new name is no new role, whoever gives it.
    try store.reissue(device: phone.deviceID, name: "mobile", by: founder)
    try store.remove(devices: [tablet.deviceID], by: ann)
    #expect(try shell.notes("status", "--json").text.contains("tablet") == false)
    #expect(try told() == ["mobile is a reader now, by ann.", "tablet was removed by ann."])
    #expect(try told().isEmpty)
    try store.reissue(device: phone.deviceID, role: .admin, by: founder)
    try store.remove(devices: [desk.deviceID], by: founder)
    #expect(try told().isEmpty)
    let list = try shell.notes("members", "--all", "--json").lines
    let gone = try #require(list.first { $0.contains(#""name":"tablet""#) })
    #expect(gone.contains(#""removed_by":"\#(ann.deviceID)","removed_by_name":"ann","removed":"2"#))
    let row = try shell.notes("members", "--all").lines.first { $0.hasPrefix("tablet") }
    #expect(row?.contains("by ann, ") == true, "\(row ?? "")")
  }

  // "and which device became the founder"
  @Test func `Another founder is told once`() throws {
    let (ann, ben) = (try add("ann", .admin), try add("ben", .admin))
    func told() throws -> [String] {
      try shell.notes("status").lines.filter { $0.contains("founder") }
    }
    #expect(try told().isEmpty)
    try store.handOver(to: ann.deviceID, by: founder)
    let first = try told()
    #expect(first.count == 3 && first.contains("ann is the founder now."), "\(first)")
    #expect(try told().isEmpty)
    try store.handOver(to: ben.deviceID, by: ann)
    #expect(try told() == ["ben is the founder now."])
    #expect(try told().isEmpty)
  }

  @Test(arguments: [("\r", true), ("n\r", true), ("y\r", false)])
  func `On a terminal it asks, and only a yes removes`(typed: String, stays: Bool) throws {
    let phone = try add("phone", .writer)
    let command = try "\(BuiltBinary.notes()) members remove phone"
    let result = try run(
      ["script", "-qec", command, "/dev/null"], in: shell.folder["notes"],
      environment: shell.environment, input: Array(typed.utf8))
    #expect(result.text.contains("those cannot be taken back"))
    #expect(try (role(of: phone) != nil) == stays, "\(result)")
  }

  @Test func `Who is meant must be clear`() throws {
    let first = try add("phone", .writer, folder: "1")
    try add("phone", .writer, folder: "2")
    let ambiguous = try shell.notes("members", "role", "phone", "reader")
    #expect(ambiguous.status == .exited(1))
    #expect(ambiguous.errorText.hasPrefix("notes: error: several devices match 'phone'\n"))
    #expect(ambiguous.errorText.contains("\(first.deviceID.prefix(8)) (writer)"))
    #expect(
      try shell.notes("members", "role", String(first.deviceID.prefix(8)), "reader").isSuccess)
    let told = try shell.notes("members", "role", "phone", "reader", "--json")
    #expect(told.errorText.contains(#""kind":"ambiguous_member""#))
    let unknown = try shell.notes("members", "role", "phne", "reader")
    #expect(
      unknown.errorText == """
        notes: error: no member is called 'phne'
        notes: hint: did you mean 'phone'?

        """)
    let several = try shell.notes("invite", "--device", "phone", "--via", ".")
    #expect(several.status == .exited(1))
    #expect(several.errorText.hasPrefix("notes: error: several devices match 'phone'\n"))
    #expect(
      try shell.notes("invite", "--device", "phne", "--via", ".").errorText == """
        notes: error: no member is called 'phne'
        notes: hint: did you mean 'phone'?

        """)
    let role = try shell.notes("members", "role", "phone", "owner")
    #expect(role.status == .exited(64))
    #expect(role.errorText.contains("there is no role 'owner'"))
  }

  @Test func `The founder stays, and only admins change anything`() throws {
    let founder = try shell.notes("members", "remove", "laptop", "--yes")
    #expect(founder.errorText.contains("the founder's device cannot be changed or removed"))
    let phone = try add("phone", .writer)
    // The same folder, seen by a device that is a writer.
    let identity = try shell.folder.text("notes/.git/notes/notebook")
    try shell.folder.write(
      identity.replacing(self.founder.deviceID, with: phone.deviceID)
        .replacing("device-name laptop", with: "device-name phone"),
      to: "notes/.git/notes/notebook")
    let other = try shell.notes("members", "role", "phone", "admin")
    #expect(other.errorText.contains("made or joined with another device key"))
    shell.environment["XDG_DATA_HOME"] = shell.folder["devices/phone"]
    let verbs = [
      ["role", "phone", "admin"], ["remove", "phone", "--yes"], ["rename", "phone", "x"],
    ]
    for verb in verbs {
      let result = try run(
        [BuiltBinary.notes(), "members"] + verb, in: shell.folder["notes"],
        environment: shell.environment)
      #expect(result.status == .exited(1))
      #expect(
        result.errorText == """
          notes: error: only an admin of the notebook may do this
          notes: hint: run the command on laptop

          """)
    }
    let renamed = try shell.notes("config", "name", "Mine")
    #expect(renamed.status == .exited(1))
    #expect(renamed.errorText.contains("hint: run the command on laptop\n"), "\(renamed)")
    #expect(try shell.notes("config", "name").text == "Home\n")
    // An admin cannot change itself: what it signs counts only as long as it stays.
    try store.refresh()
    try store.reissue(device: phone.deviceID, role: .admin, by: self.founder)
    let own = try shell.notes("members", "role", "phone", "reader")
    #expect(own.errorText.contains("a device cannot change or remove itself"))
    // No question comes before the refusal.
    let asked = try shell.notes("members", "remove", "phone")
    #expect(asked.errorText.contains("a device cannot change or remove itself"), "\(asked)")
    let above = try shell.notes("members", "role", "laptop", "reader")
    #expect(above.errorText.contains("the founder's device cannot be changed or removed"))
  }

  // 'logs and lists never show two devices by one name without telling them apart'
  @Test func `Two devices of one name are told apart in logs and lists`() throws {
    let twins = try ["vm", "VM"].map { try add($0, .writer) }
    let peers = try shell.notes("peers", "--no-discovery", "--wait", "0").text
    for twin in twins { #expect(peers.contains(" (\(twin.deviceID.prefix(8)))"), "\(peers)") }
    let email = "\(twins[0].deviceID.lowercased())@notes.invalid"
    try shell.folder.write("new\n", to: "notes/By twin.txt")
    for arguments in [
      ["add", "By twin.txt"],
      ["-c", "user.name=vm", "-c", "user.email=\(email)", "commit", "-q", "-m", "By a twin"],
    ] {
      let done = try run(
        ["git"] + arguments, in: shell.folder["notes"], environment: shell.environment)
      try #require(done.isSuccess, "\(done)")
    }
    func expectTold(by commands: [[String]]) throws {
      for command in commands {
        let shown = try run(
          [BuiltBinary.notes()] + command, in: shell.folder["notes"],
          environment: shell.environment
        ).text
        #expect(shown.contains(String(twins[0].deviceID.prefix(8))), "\(shown)")
      }
    }
    try expectTold(by: [["log", "-n", "1"], ["blame", "By twin"], ["list"]])
    for arguments in [
      ["rm", "-q", "By twin.txt"],
      ["-c", "user.name=vm", "-c", "user.email=\(email)", "commit", "-q", "-m", "Away again"],
    ] {
      let done = try run(
        ["git"] + arguments, in: shell.folder["notes"], environment: shell.environment)
      try #require(done.isSuccess, "\(done)")
    }
    try expectTold(by: [["list", "--deleted"], ["list", "--deleted", "--long"]])
    #expect(!peers.contains("laptop ("))
    // A second admin, without whom there is other advice.
    try add("desk", .admin)
    let doctor = try shell.notes("doctor", "--json").text
    let ids = twins.map { String($0.deviceID.prefix(8)) }.sorted()
    #expect(doctor.contains("2 devices are called "), "\(doctor)")
    #expect(doctor.contains("(\(ids[0]) and \(ids[1])): in conflict markers, only the times"))
    #expect(doctor.contains("'notes members rename \(ids[1]) NAME'"))
  }

  @Test func `-C and --json stand anywhere`() throws {
    try add("phone", .writer)
    for arguments in [
      ["-C", "notes", "members", "role", "phone", "reader", "--json"],
      ["members", "-C", "notes", "role", "phone", "reader", "--json"],
      ["members", "--json", "role", "phone", "reader", "-C", "notes"],
    ] {
      let result = try run(
        [BuiltBinary.notes()] + arguments, in: shell.folder.path, environment: shell.environment)
      #expect(result.text.hasPrefix(#"{"type":"role","name":"phone""#), "\(result)")
    }
  }

  @Test func `The list tells who certified whom, and when each was seen`() throws {
    func member(
      _ name: String, _ role: Role, founder: Bool = false, removed: Bool = false
    ) -> Member {
      Member(
        name: name, deviceName: name, person: Person(identifier: Array(name.utf8), name: name),
        deviceID: name.uppercased() + "DEVICE", role: role, isFounder: founder,
        issuedBy: "ANNDEVICE", roleBy: "ANNDEVICE", issuedAt: 1_700_000_000,
        removal: removed ? MemberChange(by: "DESKDEVICE", at: 1_700_006_000) : nil, serial: "00",
        isRemoved: removed)
    }
    let lines: [MembersReport.Line] = [
      .init(member: member("Ann", .admin, founder: true), issuer: "Ann"),
      .init(
        member: member("phone\u{1B}", .writer), issuer: "Ann",
        deviceState: DeviceState(
          address: "192.0.2.1:9", lastSeen: 1_700_009_000, ahead: 0, isInSync: true)),
      .init(member: member("desk", .reader), issuer: nil),
      .init(member: member("old", .writer, removed: true), issuer: "Ann", remover: "desk"),
    ]
    let report = MembersReport(lines, includingRemoved: true, thisDevice: "ANNDEVICE")
    try Golden.expect(
      report.text(on: .plain, now: ReportFixture.now), matches: "members.txt")
    try Golden.expect(
      report.text(on: .screen(colour: true), now: ReportFixture.now),
      matches: "members-colour.txt")
    try Golden.expect(
      report.text(on: .screen(40), now: ReportFixture.now), matches: "members-40.txt")
    let json = report.json.map { $0.text + "\n" }.joined()
    try Golden.expect(json, matches: "members.json")
  }
}
