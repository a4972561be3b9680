import Testing

@testable import Membership

@Suite("Membership: the growing set")
struct MembershipStoreTests {
  @Test("The founder has an ordinary certificate, issued by the root")
  func founding() throws {
    let family = try Family()
    let members = family.store.members()
    #expect(members.count == 1)
    #expect(members[0].name == "Founder's laptop")
    #expect(members[0].isFounder)
    #expect(members[0].role == .admin)
    #expect(members[0].deviceID == family.founder.deviceID)
    #expect(family.store.notebookName == "Home")
    #expect(family.store.notebookID.count == 52)
    let chain = try family.store.chain(for: family.founder)
    #expect(chain.count == 1)
    #expect(try family.store.verify(chain: chain) == members[0])
  }
}
