internal import Glibc
internal import Synchronization
internal import TestSupport
import Testing

@testable import Channel
@testable import Membership

// notes-security(7), "The page on the network": the TLS that browsers meet.
@Suite("Channel: TLS for browsers", .timeLimit(.minutes(20)))
struct BrowserTLSTests {
  private let folder: TemporaryFolder
  private let context: BrowserTLSContext

  init() throws {
    folder = try TemporaryFolder()
    let authority = try PageAuthority.loadOrCreate(in: folder.path, hostName: "desk.local")
    let page = try authority.certify(addresses: [])
    context = try BrowserTLSContext(chain: page.chain, privateKey: page.privateKey)
    try folder.write(authority.root, to: "root.crt")
    let pem = ["openssl", "x509", "-in", folder["root.crt"], "-out", folder["root.pem"]]
    try #require(try run(pem).isSuccess)
  }

  /// Answers each line with itself, over TLS, to one client after another.
  private func serve() throws -> (port: UInt16, outcomes: EventLog<ChannelError?>) {
    let listener = try Listener(at: Address(host: "127.0.0.1", port: 0))
    let outcomes = EventLog<ChannelError?>()
    let context = context
    startThread {
      while let socket = try? listener.accept(deadline: .after(seconds: soon)) {
        do throws(ChannelError) {
          try Self.echo(BrowserTLS(context), on: socket)
          outcomes.append(nil)
        } catch {
          outcomes.append(error)
        }
      }
    }
    return (listener.port, outcomes)
  }

  private func outcomes(_ log: EventLog<ChannelError?>, _ count: Int) -> [ChannelError?] {
    _ = log.wait { $0.count >= count }
    return log.all
  }

  private static func echo(_ tls: BrowserTLS, on socket: Socket) throws(ChannelError) {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    func flush() {
      let bytes = tls.takeOutgoing()
      // What is sent here is less than a socket holds.
      _ = send(socket.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
    while !tls.hasEnded {
      var waiting = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, 60_000) > 0 else { throw .timedOut(.receiving) }
      let count = recv(socket.descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { throw .connectionLost }
      do {
        let clear = try buffer[..<count].withContiguous { bytes throws(ChannelError) in
          try tls.receive(bytes)
        }
        if !clear.isEmpty {
          try clear[...].withContiguous { bytes throws(ChannelError) in try tls.send(bytes) }
        }
      } catch {
        flush()
        throw error
      }
      flush()
    }
    tls.end()
    flush()
  }

  private func client(_ port: UInt16, _ options: [String], _ text: String) throws -> ProcessResult {
    let words = [
      "openssl", "s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", folder["root.pem"],
      "-verify_hostname", "desk.local", "-verify_return_error",
    ]
    let process = try RunningProcess(words + options)
    process.write(Array(text.utf8))
    // What it says comes back: until then the connection has to stay.
    _ = try? process.line(within: 20) {
      $0.contains("echo this") || $0.contains("no peer certificate")
    }
    process.closeInput()
    return try process.wait(within: 60)
  }

  @Test(
    "TLS 1.3 and 1.2, with HTTP/1.1 or no name of a protocol", arguments: ["-tls1_3", "-tls1_2"])
  func meets(version: String) throws {
    let server = try serve()
    for options in [["-alpn", "h2,http/1.1"], []] {
      let result = try client(server.port, [version] + options, "echo this\n")
      #expect(result.text.contains("Verify return code: 0 (ok)"), "\(result)")
      #expect(result.text.contains("\necho this\n"), "\(result)")
      #expect(!result.text.contains("New Session Ticket"))
      #expect(
        result.text.contains(options.isEmpty ? "No ALPN negotiated" : "ALPN protocol: http/1.1"))
    }
    #expect(outcomes(server.outcomes, 2) == [nil, nil])
  }

  @Test(
    "What no browser of today speaks is refused",
    arguments: [
      ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"], ["-tls1", "-cipher", "ALL:@SECLEVEL=0"],
      ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA"],
      ["-tls1_2", "-cipher", "AES128-GCM-SHA256"],
      ["-tls1_2", "-cipher", "DHE-RSA-AES128-GCM-SHA256"], ["-alpn", "h2"],
    ])
  func refused(options: [String]) throws {
    let server = try serve()
    let result = try run(
      ["openssl", "s_client", "-connect", "127.0.0.1:\(server.port)"] + options)
    #expect(!result.isSuccess && result.errorText.contains("alert"), "\(result)")
    let outcome = try #require(outcomes(server.outcomes, 1).first)
    #expect(outcome != nil && outcome != .connectionLost)
  }

  @Test("A client may not negotiate anew")
  func renegotiation() throws {
    let server = try serve()
    let result = try client(server.port, ["-tls1_2"], "R\n")
    #expect(result.errorText.contains("no renegotiation") || !result.isSuccess, "\(result)")
  }

  // MARK: Without a socket

  private func fed(_ bytes: [UInt8], in pieces: Int = .max) throws -> (BrowserTLS, ChannelError?) {
    let tls = try BrowserTLS(context)
    var rest = bytes[...]
    while !rest.isEmpty {
      do throws(ChannelError) {
        let clear = try rest.prefix(pieces).withContiguous { part throws(ChannelError) in
          try tls.receive(part)
        }
        #expect(clear.isEmpty)
      } catch {
        return (tls, error)
      }
      rest = rest.dropFirst(pieces)
    }
    return (tls, nil)
  }

  /// What a client says first.
  private func clientHello() throws -> [UInt8] {
    let listener = try Listener(at: Address(host: "127.0.0.1", port: 0))
    let client = try RunningProcess([
      "openssl", "s_client", "-connect", "127.0.0.1:\(listener.port)", "-servername", "desk.local",
    ])
    defer { client.closeInput() }
    let socket = try listener.accept(deadline: .after(seconds: soon))
    var hello: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 14)
    while hello.count < 5 || hello.count < 5 + Int(hello[3]) << 8 + Int(hello[4]) {
      var waiting = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
      try #require(poll(&waiting, 1, 60_000) == 1)
      let count = recv(socket.descriptor, &buffer, buffer.count, 0)
      try #require(count > 0)
      hello += buffer[..<count]
    }
    return hello
  }

  @Test("A handshake that is cut anywhere, or comes byte by byte, is neither open nor broken")
  func halves() throws {
    let hello = try clientHello()
    for length in 0..<hello.count {
      let (tls, error) = try fed(Array(hello[..<length]))
      #expect(error == nil && !tls.isOpen && tls.takeOutgoing().isEmpty)
    }
    let (slow, error) = try fed(hello, in: 1)
    #expect(error == nil && !slow.isOpen && slow.takeOutgoing().count > 500)
    // What is not open says nothing, and ends in silence.
    #expect(throws: ChannelError.closedByPeer) {
      try hello[...].withContiguous { part throws(ChannelError) in try slow.send(part) }
    }
    slow.end()
    #expect(slow.takeOutgoing().isEmpty)
  }

  @Test("Plain text, garbage and records that are too long are refused, and nothing follows")
  func garbage() throws {
    #expect(try fed(Array("GET / HTTP/1.1\r\nHost: desk.local\r\n\r\n".utf8)).1 == .notTLS)
    #expect(try fed([0x16, 3, 1, 0xFF, 0xFF] + [UInt8](repeating: 1, count: 0xFFFF)).1 != nil)
    // A hello that is said to have 16 MiB, in records that are right.
    let record: [UInt8] = [0x16, 3, 1, 0x40, 0] + [UInt8](repeating: 0, count: 1 << 14)
    let endless = [0x16, 3, 1, 0, 4, 1, 0xFF, 0xFF, 0xFF] + record + record + record
    #expect(try fed(endless).1 != nil)
    let hello = try clientHello()
    var random = SplitMix64.reported()
    for round in 0..<1_000 {
      var bytes = hello
      if round.isMultiple(of: 2) {
        for _ in 0..<Int.random(in: 1...8, using: &random) {
          bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(
            in: 0...255, using: &random)
        }
      } else {
        bytes = (0..<Int.random(in: 1...400, using: &random)).map { _ in
          UInt8.random(in: 0...255, using: &random)
        }
      }
      let (tls, error) = try fed(bytes + bytes)
      #expect(!tls.isOpen)
      guard error != nil else { continue }
      // Broken for good.
      let more = try hello[...].withContiguous { part throws(ChannelError) in try tls.receive(part)
      }
      #expect(more.isEmpty && !tls.isOpen)
    }
  }

  @Test("Connections that come and go leave no memory behind")
  func memory() throws {
    let hello = try clientHello()
    func play(_ count: Int) throws {
      for round in 0..<count {
        let bytes = round.isMultiple(of: 2) ? hello : Array("GET / HTTP/1.1\r\n\r\n".utf8)
        let (tls, _) = try fed(bytes)
        _ = tls.takeOutgoing()
      }
    }
    /// Pages of memory in use.
    func resident() throws -> Int {
      let fields = String(decoding: try readFile("/proc/self/statm"), as: UTF8.self).split(
        separator: " ")
      return try #require(Int(fields[1]))
    }
    try play(500)
    let before = try resident()
    try play(6_000)
    // Each has more than 20 KiB while it lasts, 117 MiB in all; other tests run beside.
    let more = (try resident() - before) * Int(getpagesize())
    #expect(more < 48 << 20, "\(more)")
  }

  @Test("What is no certificate, or another's key, makes no context")
  func wrong() throws {
    let authority = try PageAuthority.loadOrCreate(in: folder.path, hostName: "desk.local")
    let (one, other) = (try authority.certify(addresses: []), try authority.certify(addresses: []))
    for (chain, key) in [
      (one.chain, other.privateKey), ([[1, 2, 3]], one.privateKey), (one.chain, []),
    ] {
      #expect(throws: ChannelError.self) {
        try BrowserTLSContext(chain: chain, privateKey: key)
      }
    }
  }
}

extension ArraySlice<UInt8> {
  fileprivate func withContiguous<Value>(
    _ body: (UnsafeRawBufferPointer) throws(ChannelError) -> Value
  ) throws(ChannelError) -> Value {
    try withUnsafeBufferPointer { buffer throws(ChannelError) in
      try body(UnsafeRawBufferPointer(buffer))
    }
  }
}
