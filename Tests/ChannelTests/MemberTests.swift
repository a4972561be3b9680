internal import TestSupport
import Testing

@testable import Channel
@testable import Membership

@Suite("Channel: members", .timeLimit(.minutes(1)))
struct MemberTests {
  @Test("Two members meet, and each knows the other by its certificate")
  func members() throws {
    let party = try Party()
    let member = try party.add("desk")
    let server = try Server(party.offer()) { connection in
      try connection.send(Frame(type: 1, payload: Array("hello".utf8)), deadline: .after(seconds: soon))
      let answer = try connection.receive(deadline: .after(seconds: soon))
      #expect(answer.payload == Array("and you".utf8))
      guard case .member(_, let chain) = connection.purpose else { throw ChannelError.cancelled }
      #expect(chain.count == 1)
    }
    let connection = try Connection.connect(
      to: [server.address], as: party.credentials(member), deadline: .after(seconds: soon))
    #expect(try connection.receive(deadline: .after(seconds: soon)).payload == Array("hello".utf8))
    try connection.send(Frame(type: 1, payload: Array("and you".utf8)), deadline: .after(seconds: soon))
    connection.close()
    #expect(try server.result() == nil)
    #expect(
      connection.purpose
        == .member(
          notebookID: party.store.notebookID, peerChain: try party.store.chain(for: party.founder)))
  }
}
