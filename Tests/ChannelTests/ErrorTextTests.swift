import Testing

@testable import Channel
@testable import Membership

@Suite("Errors in words")
struct ErrorTextTests {
  @Test("One line, no full stop, no capital but a name's")
  func oneLine() {
    let address = Address(host: "::1", port: 1)
    let channel: [ChannelError] = [
      .notTLS, .tlsVersionUnsupported, .protocolUnsupported, .notebookUnknown, .invitationUnknown,
      .wrongCode, .certificateRefused(.removed), .refusedByPeer(.stranger),
      .verificationFailed("x"), .peerFailed, .cancelled, .timedOut(.handshake), .closedByPeer,
      .connectionLost, .frameEmpty, .portInUse(address),
      .frameTooLarge(type: 1, length: 2, limit: 1), .tls(call: "SSL_read", reasons: ["a", "b"]),
    ]
    let membership: [MembershipError] = [
      .deviceKeyUnusable(path: "/k", defect: .openToOthers(mode: 0o644)),
      .nameRefused(.forbidden(0x1B)), .founderIsPermanent, .anotherAdminNeeded, .ownCertifier,
      .notTheFounder, .heirRefused(name: "Ben"), .claimRefused(.notByFounder),
      .limitExceeded(what: "certificates", limit: 1), .certificateRefused(.name(.empty)),
    ]
    for text in channel.map(\.description) + membership.map(\.description) {
      #expect(!text.isEmpty && !text.contains("\n") && !text.hasSuffix("."))
    }
    #expect(
      "\(MembershipError.nameRefused(.forbidden(0x1B)))"
        == "a name cannot contain the character U+001B")
    #expect(
      "\(MembershipError.deviceKeyUnusable(path: "/k", defect: .openToOthers(mode: 0o644)))"
        == "the device key /k cannot be used: other users may read it")
    #expect("\(ChannelError.portInUse(address))" == "another program already listens at [::1]:1")
  }
}
