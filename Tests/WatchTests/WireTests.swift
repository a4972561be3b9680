import Membership
import Notebook
import TestSupport
import Testing

@testable import Channel
@testable import Exchange
@testable import Watch

/// notes-security(7), "What a listener learns": sizes and times, the notebook's ID, and an
/// invitation's two digits. Everything else is in encrypted records.
@Suite("What somebody on the network sees", .timeLimit(.minutes(20)))
struct WireTests {
  @Test("no name, title, text or secret, from the pairing on")
  func recorded() throws {
    let ada = try Host("Adelheid Quincunx")
    let bob = try Guest("Bartholomew Zephyr")
    let title = "Zwetschgendatschi"
    let text = "Ein Geheimnis steht hier.\n"
    try ada.folder.write(text, to: "notes/\(title).txt")
    let invitation = try Invitation(role: .writer)
    try ada.service.open(invitation)
    let port = try ada.start()
    let proxy = try RecordingProxy(to: port)
    defer { proxy.stop() }
    let joined = try bob.joining(invitation.code, port: proxy.port).run { _ in true }
    try bob.folder.write("Noch ein Geheimnis.\n", to: "notes/Antwort.txt")
    var run = SyncRun(context: joined.context)
    run.addresses = [Address(host: "127.0.0.1", port: proxy.port)]
    #expect(try run.run().sessions.map(\.isInSync) == [true])
    #expect(try bob.folder.text("notes/\(title).txt") == text)
    ada.stop()

    let streams = proxy.streams
    #expect(streams.count == 4, "two connections, the pairing and the session")
    let code = invitation.code.description
    let secrets = [
      title, "Geheimnis", "Antwort", "Adelheid", "Quincunx", "Bartholomew", "Zephyr",
      ada.key.deviceID, bob.key.deviceID, String(code.dropFirst(3)),
      String(code.dropFirst(3).filter { $0 != "-" }),
    ]
    var open = 0
    for stream in streams {
      for secret in secrets {
        #expect(stream.bytes.firstRange(of: Array(secret.utf8)) == nil, "\(secret)")
      }
      let records = try #require(TLSRecord.all(of: stream.bytes))
      // In the clear: one hello in each direction, and the dummy that middleboxes want.
      let plain = records.filter { $0.type != TLSRecord.encrypted }
      #expect(plain.filter { $0.type == TLSRecord.handshake }.count == 1)
      #expect(
        plain.allSatisfy { $0.type == TLSRecord.handshake || $0.content.elementsEqual([1]) })
      open += plain.map(\.content.count).reduce(0, +)
    }
    // What is there to see: the locator, and the notebook's ID.
    let seen = streams.map(\.bytes)
    let locator = Array("notes-pair/1 \(invitation.code.locator) ".utf8)
    #expect(seen.contains { $0.firstRange(of: locator) != nil })
    let notebook = Array(ada.context.membership.notebookID.utf8)
    #expect(seen.contains { $0.firstRange(of: notebook) != nil })
    let all = streams.map(\.bytes.count).reduce(0, +)
    print("on the wire: \(all) bytes in 2 connections, \(open) of them in the clear (4 hellos)")
  }
}
