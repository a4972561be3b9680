import Membership
import State
import TestSupport
import Testing

@testable import Exchange

@Suite("What became of invitations")
struct InvitationBookTests {
  @Test("two of one second that have the same digits are told apart")
  func sameName() throws {
    let folder = try TemporaryFolder()
    let book = InvitationBook(stateFolder: StateFolder(folder.path))
    let invitation = try Invitation(role: .writer)
    for state in [InvitationRecord.State.joined, .cancelled] {
      let held = try book.hold(invitation, created: 1_700_000_000)
      // While it is open nobody else gets its digits.
      #expect(throws: SyncError.self) { try book.hold(invitation, created: 1_700_000_000) }
      held.record(state, name: "phone")
    }
    #expect(Set(book.all().map(\.state)) == [.joined, .cancelled] && book.all().count == 2)
    // A new one gets others.
    #expect(book.open().isEmpty && book.usedLocators() == [invitation.locator])
  }
}
