import Glibc
import TestSupport
import Testing

@testable import notes

/// What somebody who joins is shown and asked: notes-join(1).
@Suite struct JoinOfferTests {
  private let ada: Shell
  private let bob: Shell

  init() throws {
    ada = try Shell()
    bob = try Shell()
    try ada.folder.write("one\n", to: "notes/one.txt")
    try ada.folder.write("\u{0}png", to: "notes/photo.png")
    try ada.initialise()
  }

  @Test func `The offer counts all files and their bytes, attachments apart`() throws {
    let invitation = try ada.invite()
    let joined = try bob.join(invitation.code, invitation.port, as: "bob")
    #expect(joined.text.contains("  1 note and 1 attachment, 8 B\n"), "\(joined)")
    #expect(!joined.text.contains("a reader only receives"))
    let again = try ada.invite("--role", "reader")
    let reader = try Shell()
    let shown = try reader.notes(
      "join", "--code-file", "-", "--yes", "--name", "eve", "--at", "127.0.0.1:\(again.port)",
      "--json", input: again.code)
    #expect(shown.text.contains(#""notes":1,"attachments":1,"bytes":8,"#), "\(shown)")
  }

  @Test func `A reader is told what that means`() throws {
    let invitation = try ada.invite("--role", "reader")
    let joined = try bob.join(invitation.code, invitation.port, as: "bob")
    #expect(joined.text.contains("  a reader only receives: your changes stay on this device\n"))
  }

  @Test func `Two devices do not get one name`() throws {
    let invitation = try ada.invite()
    let joined = try bob.join(invitation.code, invitation.port, as: "Laptop")
    try #require(joined.isSuccess, "\(joined)")
    #expect(
      joined.errorText.contains(
        "Another device of the notebook is called Laptop; this one is called Laptop 2 there"))
    #expect(try ada.notes("members").text.contains("Laptop 2"))
    // notes-join(1): "A code does not let in a member again"
    let again = try ada.invite()
    let refused = try bob.join(again.code, again.port, as: "Laptop 2")
    #expect(refused.status == .exited(1), "\(refused)")
    #expect(refused.errorText.contains("this device is already a member"), "\(refused)")
    #expect(refused.errorText.contains("sync' receives what is new"), "\(refused)")
    // So the code still works. The same device is no other one.
    removeTree(bob.folder["notes"])
    let rejoined = try bob.join(again.code, again.port, as: "Laptop 2")
    #expect(rejoined.isSuccess && rejoined.errorText.isEmpty, "\(rejoined)")
  }

  @Test func `On a terminal another name is asked for`() throws {
    let invitation = try ada.invite()
    let screen = try bob.screen(notes: [
      "join", invitation.code, "--name", "laptop", "--at", "127.0.0.1:\(invitation.port)",
    ])
    try screen.wait(for: "Join? [Y/n]")
    try screen.type("y\n")
    try screen.wait(for: "What to call this one? [laptop 2]")
    try screen.type("desk\n")
    try screen.wait(for: "left with 0")
    #expect(try ada.notes("members").text.contains("desk"))
  }

  // notes(1), EXIT STATUS: "130 [...] interrupted"
  @Test(arguments: [false, true])
  func `Ctrl-C at a question ends the command, and the code still works`(
    atName: Bool
  ) throws {
    let invitation = try ada.invite()
    let screen = try bob.screen(notes: [
      "join", invitation.code, "--name", atName ? "laptop" : "desk", "--at",
      "127.0.0.1:\(invitation.port)",
    ])
    try screen.wait(for: "Join? [Y/n]")
    if atName {
      try screen.type("y\n")
      try screen.wait(for: "What to call this one? [laptop 2]")
      // Not a name: an answer to the question before.
      try screen.type("yes\n")
      try screen.wait(for: "this is the device's name, which all members see")
    }
    try screen.type("\u{3}")
    try screen.wait(for: "left with 130")
    #expect(try bob.join(invitation.code, invitation.port, as: "desk").isSuccess)
  }

  // notes-security(7): "A device that is already a member keeps its name, and its role if that is greater than the
  // invitation's."
  @Test func `A member without its folder loses nothing by a reader's code`() throws {
    let first = try ada.invite("--role", "admin")
    try #require(try bob.join(first.code, first.port, as: "bob").isSuccess)
    removeTree(bob.folder["notes"])
    let second = try ada.invite("--role", "reader", "--name", "Rob")
    let joined = try bob.join(second.code, second.port, as: "vm")
    #expect(joined.isSuccess, "\(joined)")
    #expect(joined.text.contains("  this device is already a member: it keeps its name"))
    #expect(joined.text.contains("This device was already a member: its role is admin."))
    let members = try ada.notes("members").lines
    #expect(members.contains { $0.hasPrefix("bob ") && $0.contains("admin") }, "\(members)")
    #expect(!members.contains { $0.contains("vm") || $0.contains("Rob") }, "\(members)")
  }

  @Test func `A renamed device keeps its name in the next notebook`() throws {
    #expect(try ada.notes("members", "rename", "laptop", "anvil").isSuccess)
    #expect(try ada.notes("config", "device-name").text == "anvil\n")
  }
}
