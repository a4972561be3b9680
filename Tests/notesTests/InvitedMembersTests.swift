import TestSupport
import Testing

@testable import Membership
@testable import notes

/// notes-members(1), remove and role: the members that a removed or former admin invited.
@Suite struct InvitedMembersTests: MembersSuite {
  let scene: MembersScene

  init() throws { scene = try MembersScene() }

  /// An admin that let in a friend, and made a desk an admin.
  private func addInviter() throws -> [DeviceKey] {
    let admin = try add("ann", .admin)
    let desk = try add("desk", .writer)
    let friend = try DeviceKey.random()
    _ = try store.issue(
      for: CertificateRequest(name: "friend", key: friend), role: .reader, by: admin)
    try store.reissue(device: desk.deviceID, role: .admin, by: admin)
    return [admin, friend, desk]
  }

  // "Without a terminal they stay, with new certificates, unless you give --with-invited."
  @Test func invited() throws {
    let keys = try addInviter()
    let stayed = try shell.notes("members", "remove", "ann", "--yes")
    let start =
      "Devices that it invited, let in or made admins, directly or through others, are still members:\n"
    #expect(stayed.text.contains(start), "\(stayed)")
    #expect(stayed.text.contains("let in by ann just now"))
    #expect(stayed.text.contains("made an admin by ann just now"))
    #expect(try keys.map { try role(of: $0) } == [nil, .reader, .admin])

    let again = try shell.notes("members", "remove", "desk", "--yes", "--json")
    #expect(again.text.contains(#""with":[],"stay":[]"#))
  }

  @Test func `With --with-invited they go, too`() throws {
    let keys = try addInviter()
    let removed = try shell.notes("members", "remove", "ann", "--with-invited", "--yes")
    #expect(removed.text.hasPrefix("Removed ann, "))
    #expect(removed.text.contains("They keep the notes they have received"))
    #expect(try keys.map { try role(of: $0) } == [nil, nil, nil])
  }

  // "So the command lists the same devices as remove."
  @Test func `Whom a former admin invited is listed, and stays`() throws {
    let keys = try addInviter()
    let told = try shell.notes("members", "role", "ann", "reader")
    #expect(
      told.text.hasPrefix("ann is now a reader. Other devices learn it at their next sync.\n"))
    #expect(
      told.text.contains(
        "Devices that it invited, let in or made admins, directly or through others"),
      "\(told)")
    #expect(told.text.contains("let in by ann just now"))
    #expect(told.text.contains("made an admin by ann just now"))
    #expect(try keys.map { try role(of: $0) } == [.reader, .reader, .admin])
    // No admin any more: nothing is listed.
    #expect(
      try shell.notes("members", "role", "ann", "writer").text
        == "ann is now a writer. Other devices learn it at their next sync.\n")
  }

  @Test func `They are removed in the step that demotes, where --with-invited is confirmed`() throws
  {
    let keys = try addInviter()
    let refused = try shell.notes("members", "role", "ann", "reader", "--with-invited")
    #expect(refused.status == .exited(64))
    #expect(
      refused.errorText.hasPrefix(
        "notes: error: there is no terminal to confirm removing the members that ann invited\n"
      ))
    #expect(try keys.map { try role(of: $0) } == [.admin, .reader, .admin])
    let done = try shell.notes(
      "members", "role", "ann", "reader", "--with-invited", "--yes", "--json")
    #expect(done.text.contains(#""role":"reader""#) && done.text.contains(#""stay":[]"#), "\(done)")
    #expect(try keys.map { try role(of: $0) } == [.reader, nil, nil])
  }

  // notes-members(1), remove: "waits for a yes or a no": Enter is neither.
  @Test(arguments: [("y\ry\r", true), ("y\rn\r", false), ("y\r\rn\r", false)])
  func `On a terminal it asks about whom it invited`(typed: String, go: Bool) throws {
    let demoted = try addInviter()
    let asked = try run(
      ["script", "-qec", "\(BuiltBinary.notes()) members role ann reader", "/dev/null"],
      in: shell.folder["notes"], environment: shell.environment,
      input: Array(typed.utf8.dropFirst(2)))
    #expect(asked.text.contains("Remove these as well?"), "\(asked)")
    let left = go ? nil : Role.reader
    #expect(try demoted.map { try role(of: $0) } == [.reader, left, go ? nil : .admin])
    try store.remove(devices: demoted.map(\.deviceID), by: founder)

    let keys = try addInviter()
    let command = try "\(BuiltBinary.notes()) members remove ann"
    let result = try run(
      ["script", "-qec", command, "/dev/null"], in: shell.folder["notes"],
      environment: shell.environment, input: Array(typed.utf8))
    #expect(result.text.contains("Remove these as well?"), "\(result)")
    #expect(try keys.map { try role(of: $0) } == [nil, go ? nil : .reader, go ? nil : .admin])
  }
}
