import Channel
import GitSupport
import Membership

@testable import Exchange
@testable import Git

extension HostileRow {
  /// Messages that the protocol does not allow.
  static let messages: [HostileRow] = [
    HostileRow(name: "another version of the protocol") {
      try $0.greet(heads: []) { $0.versions = [9] }
    },
    HostileRow(name: "another device's ID") { try $0.greet(heads: []) { $0.device = "SOMEBODY" } },
    HostileRow(name: "another notebook") { try $0.greet(heads: []) { $0.notebook = "another" } },
    HostileRow(name: "a tip without heads") { script in
      try script.greet(heads: []) { $0.tip = .emptyBlob }
    },
    HostileRow(name: "one head twice") { script in
      try script.greet(heads: [.emptyBlob, .emptyBlob])
    },
    HostileRow(name: "endless heads") { script in
      try script.greet(heads: (0..<300).map { HandmadePack.id(.blob, Array("\($0)".utf8)) })
    },
    HostileRow(name: "endless haves") { script in
      try script.greet(heads: [.emptyBlob])
      try script.stream.send(
        WantMessage(
          wants: [.emptyBlob], haves: (0..<300).map { HandmadePack.id(.blob, Array("\($0)".utf8)) })
      )
    },
    HostileRow(name: "a wish for what was not offered") { script in
      try script.greet(heads: [.emptyBlob])
      try script.stream.send(WantMessage(wants: [.emptyTree], haves: []))
    },
    HostileRow(name: "endless certificates") { script in
      let certificates = [Base64](repeating: Base64([1]), count: 300)
      try script.stream.send(script.hello(heads: []))
      try script.stream.send(
        MembershipMessage(certificates: certificates, revocations: [], more: true))
    },
    HostileRow(name: "a wish before the greeting") { script in
      try script.stream.send(WantMessage(wants: [.emptyBlob], haves: []))
    },
    HostileRow(name: "a wish for nothing") { script in
      try script.greet(heads: [.emptyBlob])
      try script.stream.send(WantMessage(wants: [], haves: []))
    },
    HostileRow(name: "a pack before the greeting") { script in
      try script.send(data: Array("PACK".utf8))
    },
    HostileRow(name: "the greeting twice") { script in
      try script.greet(heads: [.emptyBlob])
      try script.greet(heads: [.emptyBlob])
    },
    HostileRow(name: "data without a pack message") { script in
      try script.greet(heads: [.emptyBlob])
      try script.send(data: [1, 2, 3])
    },
    HostileRow(name: "a pack message twice") { script in
      try script.greet(heads: [.emptyBlob])
      for _ in 0..<2 {
        try script.stream.send(PackMessage(objects: 1, versions: 1, heads: [.emptyBlob]))
      }
    },
    HostileRow(name: "a bye in place of the pack") { script in
      try script.greet(heads: [.emptyBlob])
      script.stream.close(.done)
    },
    HostileRow(name: "a pack after the bye") { script in
      var pack = HandmadePack()
      let head = try pack.addCommit(try pack.addTree([]))
      try script.greet(heads: [head])
      try script.stream.send(ByeMessage(reason: .done, message: nil))
      try script.offer(pack.bytes(), heads: [head])
    },
    HostileRow(name: "a bye that paints the screen") { script in
      try script.stream.send(ByeMessage(reason: .failed, message: "\u{1b}[2J\nforged line\u{202e}"))
    },
    HostileRow(name: "a pairing message") { script in
      try script.stream.send(DeclineMessage())
    },
    HostileRow(name: "JSON that is none") { script in
      try script.stream.send(Frame(type: MessageType.hello.rawValue, payload: Array("{".utf8)))
    },
    HostileRow(name: "JSON ten thousand deep") { script in
      let deep = [UInt8](repeating: UInt8(ascii: "["), count: 10_000)
      try script.stream.send(Frame(type: MessageType.hello.rawValue, payload: deep))
    },
    HostileRow(name: "JSON that ends where it gets too deep") { script in
      let deep = [UInt8](repeating: UInt8(ascii: "["), count: 513)
      try script.stream.send(Frame(type: MessageType.hello.rawValue, payload: deep))
    },
    HostileRow(name: "a name with control characters") { script in
      try script.greet(heads: []) { $0.name = "Bob\u{1b}[2J" }
    },
    HostileRow(name: "a message of two megabytes") { script in
      let space = [UInt8](repeating: UInt8(ascii: " "), count: 2 << 20)
      try script.send(raw: [0, 0x20, 0, 1, MessageType.hello.rawValue] + space)
    },
    HostileRow(name: "a frame of four gigabytes, announced") { script in
      try script.send(raw: [0xff, 0xff, 0xff, 0xff, MessageType.data.rawValue])
    },
    HostileRow(name: "an empty frame") { try $0.send(raw: [0, 0, 0, 0]) },
    HostileRow(name: "a piece of a pack over its limit") { script in
      try script.greet(heads: [.emptyBlob])
      try script.send(raw: [0, 4, 0, 2, MessageType.data.rawValue])
    },
    HostileRow(name: "certificates in ever more messages") { script in
      try script.stream.send(script.hello(heads: []))
      let many = [Base64](repeating: Base64([1]), count: ProtocolLimits.certificatesPerMessage)
      for _ in 0...ProtocolLimits.certificates / many.count {
        try script.stream.send(MembershipMessage(certificates: many, revocations: [], more: true))
      }
    },
    HostileRow(name: "a certificate over its size") { script in
      try script.stream.send(script.hello(heads: []))
      let large = Base64([UInt8](repeating: 1, count: ProtocolLimits.certificateBytes + 1))
      try script.stream.send(MembershipMessage(certificates: [large]))
    },
    HostileRow(name: "a revocation list over its size") { script in
      try script.stream.send(script.hello(heads: []))
      let large = Base64([UInt8](repeating: 1, count: ProtocolLimits.revocationListBytes + 1))
      try script.stream.send(MembershipMessage(revocations: [large]))
    },
    HostileRow(name: "messages of no certificates without end") { script in
      try script.stream.send(script.hello(heads: []))
      while true { try script.stream.send(MembershipMessage(more: true)) }
    },
    HostileRow(name: "a name of 256 bytes") { script in
      try script.greet(heads: []) { $0.name = String(repeating: "b", count: 256) }
    },
    HostileRow(name: "silence") { _ in },
  ]
}
