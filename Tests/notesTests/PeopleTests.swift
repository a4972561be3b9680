import TestSupport
import Testing

@testable import Membership
@testable import notes

/// notes-members(1): people and their devices, as a shell sees them.
@Suite struct PeopleTests {
  let shell: Shell
  let store: MembershipStore
  let founder: DeviceKey
  /// Anna's two devices, and Ben's.
  let laptop, phone, ben: DeviceKey

  init() throws {
    shell = try Shell()
    try shell.initialise()
    store = try MembershipStore.open(in: shell.folder["notes/.git/notes/membership"])
    founder = try #require(try DeviceKey.load(in: shell.folder["home/.local/share/notes"]))
    (laptop, phone, ben) = (try DeviceKey.random(), try DeviceKey.random(), try DeviceKey.random())
    let devices: [(DeviceKey, String, person: String?)] = [
      (laptop, "anna", nil), (phone, "phone", laptop.deviceID), (ben, "ben", nil),
    ]
    for (key, name, person) in devices {
      _ = try store.issue(
        for: CertificateRequest(name: name, key: key), person: person, role: .writer, by: founder)
    }
  }

  private func members() throws -> [Member?] {
    try store.refresh()
    return [laptop, phone, ben].map { store.member(ofDevice: $0.deviceID) }
  }

  // "If a person has several devices, they are below the person's name."
  @Test func `The list has a person's devices together`() throws {
    let lines = try shell.notes("members").text.split(separator: "\n").map {
      $0.split(separator: " ", maxSplits: 1).first.map(String.init) ?? ""
    }
    #expect(Array(lines.prefix(5)) == ["laptop", "anna", "anna", "phone", "ben"])
    let json = try shell.notes("members", "--json").text
    for (name, device, key) in [("anna", "anna", laptop), ("anna (phone)", "phone", phone)] {
      #expect(
        json.contains(
          """
          "name":"\(name)","person":"\(laptop.deviceID)","person_name":"anna",\
          "device":"\(key.deviceID)","device_name":"\(device)"
          """), "\(json)")
    }
    // "or if the person has several devices": one that was removed counts.
    let one = try shell.notes("members", "remove", "anna (anna)", "--yes")
    #expect(one.text.hasPrefix("Removed anna (anna). Other devices"), "\(one)")
    #expect(try shell.notes("members").text.contains("\nanna (phone)  writer"))
  }

  @Test func `A person goes with all devices`() throws {
    let refused = try shell.notes("members", "remove", "anna")
    let error = "notes: error: there is no terminal to confirm removing anna\n"
    #expect(refused.errorText.hasPrefix(error))
    let removed = try shell.notes("members", "remove", "anna", "--yes")
    #expect(
      removed.text == """
        Removed anna and anna (phone). Other devices learn it at their next sync.
        They keep the notes they have received: a removal cannot take them back.

        """)
    #expect(try members().map { $0?.name } == [nil, nil, "ben"])
    #expect(
      try shell.notes("members", "remove", "anna", "--yes").errorText
        .hasPrefix("notes: error: anna was already removed\n"))
  }

  // "or means one device: PERSON (DEVICE), the device's own name"
  @Test(arguments: ["anna (phone)", "ANNA (Phone)", "phone"])
  func `One device goes alone`(named name: String) throws {
    let removed = try shell.notes("members", "remove", name, "--yes", "--json")
    #expect(
      removed.text == """
        {"type":"removed","name":"anna (phone)","device":"\(phone.deviceID)","role":"writer",\
        "state":"removed","with":[],"stay":[]}

        """)
    #expect(try members().map { $0 != nil } == [true, false, true])
  }

  @Test func `A role is for all devices of a person, or for one`() throws {
    let all = try shell.notes("members", "role", "anna", "reader", "--json").text
    // notes-json(5), "members: role, removed, renamed": "One object for each device"
    #expect(all.split(separator: "\n").count == 2, "\(all)")
    #expect(try members().map { $0?.role } == [.reader, .reader, .writer])
    #expect(
      try shell.notes("members", "role", "anna", "reader").text == "anna is a reader already.\n")
    #expect(
      try shell.notes("members", "role", "anna (phone)", "writer").text
        == "anna (phone) is now a writer. Other devices learn it at their next sync.\n")
    #expect(try members().map { $0?.role } == [.reader, .writer, .writer])
    // Only those change that have another one.
    let rest = try shell.notes("members", "role", "anna", "writer").text
    #expect(rest == "anna is now a writer. Other devices learn it at their next sync.\n")
    #expect(try members().map { $0?.role } == [.writer, .writer, .writer])
  }

  @Test func `A person and a device each get another name`() throws {
    #expect(
      try shell.notes("members", "rename", "anna", "anne").text
        == "anna is now called anne. Other devices learn it at their next sync.\n")
    #expect(try members().map { $0?.name } == ["anne (anna)", "anne (phone)", "ben"])
    #expect(
      try shell.notes("members", "rename", "anne (anna)", "laptop").text
        == "anne (anna) is now called anne (laptop). Other devices learn it at their next sync.\n")
    #expect(try members().map { $0?.deviceName } == ["laptop", "phone", "ben"])
    #expect(try members().map { $0?.person.id } == [laptop, laptop, ben].map(\.deviceID))
    // Of another person a device may have that name, but no device of anne, and no person.
    for (device, name) in [("anne (laptop)", "Phone"), ("ben", "anne"), ("anne", "ben")] {
      let taken = try shell.notes("members", "rename", device, name)
      #expect(
        taken.errorText.hasPrefix("notes: error: another device is already called "), "\(taken)")
    }
    #expect(try shell.notes("members", "rename", "ben", "tablet").isSuccess)
    #expect(try members().map { $0?.deviceName } == ["laptop", "phone", "tablet"])
    // What is called by a former name is found by none.
    #expect(
      try shell.notes("members", "role", "anna", "reader").errorText
        .hasPrefix("notes: error: no member is called 'anna'\n"))
  }

  // "If a name fits several devices, the error lists them"
  @Test func `A name of devices of several persons is none of a person`() throws {
    _ = try store.issue(
      for: CertificateRequest(name: "phone", key: .random()), person: ben.deviceID, role: .writer,
      by: founder)
    let both = try shell.notes("members", "remove", "phone", "--yes")
    #expect(both.errorText.hasPrefix("notes: error: several devices match 'phone'\n"))
    #expect(both.errorText.contains(#"name one of them: "anna (phone)" or "ben (phone)""#))
    // An ID begins a device, not the person that has it.
    let id = String(laptop.deviceID.prefix(8))
    #expect(try shell.notes("members", "remove", id, "--yes").isSuccess)
    #expect(try members().map { $0 != nil } == [false, true, true])
    // "If NAME is the name of a person with several devices, it means the device of that name."
    #expect(
      try shell.notes("members", "certify", "ben").errorText
        .hasPrefix("notes: error: ben has not asked for a certificate\n"))
    #expect(try shell.notes("members", "rename", "ben", "bob").isSuccess)
    #expect(
      try shell.notes("members", "certify", "bob").errorText
        .hasPrefix("notes: error: several devices match 'bob'\n"))
  }

  // "The command changes all devices of the name, or none."
  @Test func `A person with the founder's device or this one is not removed by half`() throws {
    let second = try DeviceKey.random()
    _ = try store.issue(
      for: CertificateRequest(name: "desk", key: second), person: founder.deviceID, role: .writer,
      by: founder)
    let own = try shell.notes("members", "remove", "laptop", "--yes")
    #expect(own.errorText.hasPrefix("notes: error: the founder's device cannot be "), "\(own)")
    try store.refresh()
    #expect(store.member(ofDevice: second.deviceID)?.name == "laptop (desk)")
    // The founder's device keeps its certificate; the name follows the other one.
    try store.reissue(device: ben.deviceID, role: .admin, by: founder)
    try store.rename(person: founder.deviceID, to: "ada", by: ben)
    #expect(store.member(ofDevice: founder.deviceID)?.name == "ada (laptop)")
    #expect(store.member(ofDevice: founder.deviceID)?.issuedBy == founder.deviceID)
    #expect(throws: MembershipError.anotherAdminNeeded) {
      try store.rename(person: ben.deviceID, to: "bob", by: ben)
    }
  }
}
