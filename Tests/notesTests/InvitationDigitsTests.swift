import System
import TestSupport
import Testing

@testable import Membership
@testable import notes

/// notes-invitations(1): the first digits of a link's or file's ID.
@Suite struct InvitationDigitsTests {
  private let shell: Shell
  private let store: MembershipStore
  private let founder: DeviceKey

  init() throws {
    shell = try Shell()
    try shell.initialise()
    store = try MembershipStore.open(in: shell.folder["notes/.git/notes/membership"])
    founder = try #require(try DeviceKey.load(in: shell.folder["home/.local/share/notes"]))
  }

  /// Records an invitation, and returns its ID.
  private func record(_ secret: InvitationSecret, for seconds: Int64 = 600) throws -> String {
    let offer = try InvitationOffer(
      secret, to: store, role: .writer, expires: WallClock.now() + seconds, by: founder)
    try shell.folder.write(
      String(decoding: offer.text, as: UTF8.self), to: "notes/.git/notes/offers/\(offer.id)")
    return "\(offer.id)"
  }

  @Test func `Digits of several invitations mean none of them`() throws {
    // Two of about 300 have the same first four digits.
    var seen: [Substring: InvitationSecret] = [:]
    var pair: [InvitationSecret] = []
    while pair.isEmpty {
      let secret = try InvitationSecret()
      let digits = "\(secret.id)".prefix(4)
      if let first = seen.updateValue(secret, forKey: digits) { pair = [first, secret] }
    }
    let ids = try pair.map { try record($0) }
    let unclear = try shell.notes("invitations", "cancel", String(ids[0].prefix(4)))
    #expect(
      unclear.errorText.contains("several invitations have digits that begin with '")
        && ids.allSatisfy { unclear.errorText.contains($0.prefix(16)) }, "\(unclear)")
    #expect(try shell.notes("invitations", "cancel", ids[0]).isSuccess)
    #expect(try shell.notes("invitations", "cancel", String(ids[0].prefix(8))).isSuccess)
    let list = try shell.notes("invitations").text
    #expect(list.contains("cancelled") && list.contains("open"), "\(list)")
  }

  @Test func `An invitation that has ended is not cancelled`() throws {
    let id = try record(InvitationSecret(), for: -60)
    let late = try shell.notes("invitations", "cancel", String(id.prefix(8)), "--json")
    #expect(
      late.errorText.contains(#""kind":"invitation_ended""#)
        && late.errorText.contains(" lets no device in any more"), "\(late)")
    let digits = "12ab34cd5678"
    // Digits that look like a code do not mean the code if a link has them.
    #expect(InvitationDigits(digits)?.description == digits)
    let unknown = try shell.notes("invitations", "cancel", "00000000")
    #expect(unknown.errorText.contains("'notes invitations' lists them; give at least four"))
    let answer = try shell.notes("invitations", "answer", String(id.prefix(8)))
    #expect(
      answer.errorText.contains("no device asks by an invitation whose digits begin with '"),
      "\(answer)")
  }

  // notes-security(7), "Devices of one's own": "If a second device asks by the same invitation, the person can let in
  // neither."
  @Test func `Of several devices that ask by one invitation none is let in`() throws {
    let id = try record(InvitationSecret())
    try shell.folder.write("ONE\nTWO", to: "notes/.git/notes/offers/\(id).told")
    let answer = try shell.notes("invitations", "answer", String(id.prefix(8)), "--yes", "--json")
    #expect(answer.errorText.contains("several devices ask by invitation "), "\(answer)")
    #expect(answer.errorText.contains(", so none is let in"), "\(answer)")
  }
}
