internal import TestSupport
import Testing

@testable import Channel

@Suite("Channel: what a ClientHello asks for")
struct ClientHelloTests {
  @Test("Server name: one host name, in lower case")
  func serverName() {
    #expect(ClientHello.serverName([0, 7, 0, 0, 4] + Array("HoMe".utf8)) == "home")
    #expect(ClientHello.serverName([]) == nil)
    #expect(ClientHello.serverName([0, 7, 1, 0, 4] + Array("home".utf8)) == nil)
    #expect(ClientHello.serverName([0, 7, 0, 0, 5] + Array("home".utf8)) == nil)
    #expect(ClientHello.serverName([0, 8, 0, 0, 4] + Array("home".utf8)) == nil)
    #expect(ClientHello.serverName([0, 6, 0, 0, 3] + Array("a\u{1B}b".utf8)) == nil)
  }

  @Test("Protocols: a list of names, none of them empty")
  func protocols() {
    #expect(ClientHello.protocols([0, 5, 1, 97, 2, 98, 99]) == [[97], [98, 99]])
    #expect(ClientHello.protocols([]) == [])
    #expect(ClientHello.protocols([0, 1, 0]) == [])
    #expect(ClientHello.protocols([0, 2, 5, 97]) == [])
    #expect(ClientHello.protocols([0, 9, 1, 97]) == [])
  }

  @Test("Supported versions")
  func versions() {
    #expect(ClientHello.offersTLS13([4, 3, 3, 3, 4]))
    #expect(!ClientHello.offersTLS13([2, 3, 3]))
    #expect(!ClientHello.offersTLS13([]))
    #expect(!ClientHello.offersTLS13([3, 3, 4]))
    #expect(!ClientHello.offersTLS13([1, 3]))
    #expect(!ClientHello.offersTLS13([3, 0, 3, 4]))
  }

  @Test("Random bytes are never too much for it")
  func randomBytes() {
    var random = SplitMix64.reported()
    for _ in 0..<2000 {
      let bytes = (0..<Int.random(in: 0...24, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random) & (Bool.random(using: &random) ? 0xFF : 0x07)
      }
      _ = ClientHello.serverName(bytes)
      _ = ClientHello.protocols(bytes)
      _ = ClientHello.offersTLS13(bytes)
    }
  }
}
