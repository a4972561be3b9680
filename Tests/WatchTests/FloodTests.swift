import Exchange
import Glibc
import Membership
import TestSupport
import Testing

@testable import Channel

/// notes-protocol(7), LIMITS: whoever has not finished the handshake keeps a place only as long as
/// nobody else needs it.
@Suite("A flood of connections", .timeLimit(.minutes(20)))
struct FloodTests {
  /// 500 connections that say nothing, 500 half-open handshakes and one honest member: the member
  /// syncs while they arrive and while they stand, and the service's memory stays bounded. How much
  /// longer it takes is printed; `bench/run flood` measures it with a release build, against the
  /// target of three times the quiet time.
  @Test("500 silent connections and 500 half-open handshakes keep no member out")
  func flood() throws {
    let world = try FloodWorld()
    let flood = try Flood(port: world.port, hello: try world.clientHello())
    _ = try world.sync()
    let before = try world.residentBytes()
    var (quiet, arriving, flooded): ([Double], [Double], [Double]) = ([], [], [])
    // In turn, so that what else the machine does weighs on all of them alike.
    for _ in 0..<3 {
      quiet.append(try world.sync())
      try flood.open()
      arriving.append(try world.sync())
      try flood.settle()
      flooded.append(try world.sync())
      #expect(flood.standing > 0)
      flood.close()
    }
    let peak = try world.peakBytes()
    let times = [quiet, arriving, flooded].map { $0.sorted()[1] }
    print(
      "flood of \(flood.count): a sync takes \(milliseconds(times[2])) ms, quiet "
        + "\(milliseconds(times[0])) ms, while they arrive \(milliseconds(times[1])) ms; resident "
        + "\(before >> 20) MiB before, at most \(peak >> 20) MiB")
    // A connection that is held costs less than 1 MiB: 128 of them and what was there before.
    #expect(peak < before + 128 << 20)
  }

  // "Connections leave the last 128 descriptors that the process may open to everything else, or a
  // quarter of them if there are fewer than 512."
  @Test("connections that take all they can get leave a watcher descriptors to save with")
  func descriptors() throws {
    let folder = try TemporaryFolder()
    let environment = try TestEnvironment.isolated(home: folder["home"])
    let notes = try BuiltBinary.notes()
    let notebook = folder["notes"]
    try #require(
      run([notes, "init", notebook, "--device-name", "Ada"], environment: environment).isSuccess)
    let watch = try RunningProcess(
      [
        "sh", "-c", "ulimit -n 72; exec \"$@\"", "sh", notes, "-C", notebook, "watch", "--json",
        "--no-discovery", "--listen", "127.0.0.1:0",
      ], environment: environment)
    let listening = try watch.line { $0.contains("\"listening\"") }
    let flood = try Flood(
      port: try #require(UInt16(FloodWorld.field("port", of: listening))), hello: [])
    try flood.open()
    defer { flood.close() }
    for number in 0..<3 {
      try folder.write("saved\n", to: "notes/\(number).txt")
      _ = try watch.line { $0.contains("\"version\"") && $0.contains("\(number).txt") }
    }
    // The watcher has connections as many as it lets itself have, and is alive.
    #expect(try run(["ls", "/proc/\(watch.pid)/fd"]).lines.count <= 72)
    try watch.terminate()
  }

  private func milliseconds(_ seconds: Double) -> Int { Int(seconds * 1000) }
}

/// A notebook served by a process of its own, and a member that syncs with it.
private final class FloodWorld {
  let port: UInt16
  private let folder: TemporaryFolder
  private let notes: String
  private let service: RunningProcess

  init() throws {
    let folder = try TemporaryFolder()
    let notes = try BuiltBinary.notes()
    self.folder = folder
    self.notes = notes
    func environment(_ name: String) throws -> [String: String] {
      try TestEnvironment.isolated(home: folder[name])
    }
    let ada = folder["ada/notes"]
    let local = ["--listen", "127.0.0.1:0", "--no-discovery", "--json"]
    try Self.require(
      run([notes, "init", ada, "--device-name", "Ada"], environment: try environment("ada")))
    try folder.write("a\n", to: "ada/notes/a.txt")
    let invite = try RunningProcess(
      [notes, "-C", ada, "invite"] + local, environment: try environment("ada"))
    let line = try invite.line { $0.contains("\"invitation\"") }
    try Self.require(
      run(
        [
          notes, "join", Self.field("code", of: line), folder["bob/notes"], "--yes", "--name",
          "Bob", "--at", "127.0.0.1:" + Self.field("port", of: line),
        ], environment: try environment("bob")))
    try invite.wait()
    service = try RunningProcess(
      [notes, "-C", ada, "serve"] + local, environment: try environment("ada"))
    let listening = try service.line { $0.contains("\"listening\"") }
    port = try #require(UInt16(Self.field("port", of: listening)))
  }

  /// Seconds that a sync of a new note takes.
  func sync() throws -> Double {
    try folder.write("\(TestSupport.Moment.now)\n", to: "bob/notes/b.txt")
    let start = TestSupport.Moment.now
    try Self.require(
      run(
        [notes, "-C", folder["bob/notes"], "sync", "--at", "127.0.0.1:\(port)", "--no-discovery"],
        environment: try TestEnvironment.isolated(home: folder["bob"])))
    return TestSupport.Moment.now - start
  }

  func residentBytes() throws -> Int { try memory("VmRSS:") }
  func peakBytes() throws -> Int { try memory("VmHWM:") }

  private func memory(_ field: String) throws -> Int {
    let status = String(
      decoding: try readFile("/proc/\(service.pid)/status"), as: UTF8.self)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(field) })
    let number = line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }
    return try #require(number) << 10
  }

  private static func require(_ result: ProcessResult) throws {
    try #require(result.isSuccess, "\(result)")
  }

  static func field(_ name: String, of line: String) -> String {
    guard let start = line.firstRange(of: "\"\(name)\":")?.upperBound else { return "" }
    return String(
      line[start...].drop { $0 == "\"" }.prefix { $0 != "\"" && $0 != "," && $0 != "}" })
  }

  /// The first bytes of a member's handshake, as one that stops answering would have sent them.
  func clientHello() throws -> [UInt8] {
    let status = try run(
      [notes, "-C", folder["ada/notes"], "status", "--json"],
      environment: try TestEnvironment.isolated(home: folder["ada"]))
    let notebook = Self.field("notebook", of: status.text)
    let listener = try Listener(at: Address(host: "127.0.0.1", port: 0))
    let folder = try TemporaryFolder()
    let key = try DeviceKey.loadOrCreate(in: folder["data"])
    let store = try MembershipStore.found(
      in: folder["membership"], notebookName: "Home", deviceName: "Eve", key: key)
    let credentials = MemberCredentials(
      notebookID: notebook, root: store.root, chain: try store.chain(for: key),
      privateKey: key.privateKey, verify: { _ in .refused(.stranger) })
    let token = try CancellationToken()
    TestSupport.startThread {
      _ = try? Connection.connect(
        to: [Address(host: "127.0.0.1", port: listener.port)], as: credentials,
        deadline: .after(seconds: 40), cancellation: token)
    }
    defer { token.cancel() }
    let socket = try listener.accept(deadline: .after(seconds: 40))
    try Wait.until(
      socket.descriptor, .reading, deadline: .after(seconds: 40), phase: .handshake,
      cancellation: nil)
    var bytes = [UInt8](repeating: 0, count: 16384)
    let count = read(socket.descriptor, &bytes, bytes.count)
    return Array(bytes[..<max(count, 0)])
  }
}

/// Connections that are never used, half of them silent, half of them with a handshake begun. Some
/// come from one address, some from many.
private final class Flood {
  private let port: UInt16
  private let hello: [UInt8]
  private var sockets: [Int32] = []
  let count = 1000

  init(port: UInt16, hello: [UInt8]) throws {
    self.port = port
    self.hello = hello
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = min(limit.rlim_max, 8192)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  deinit { close() }

  func close() {
    for socket in sockets { Glibc.close(socket) }
    sockets = []
  }

  /// Waits until the service has met all of them: it closes those for which it keeps no place.
  func settle() throws {
    let places = ProtocolLimits.handshakes + 16
    let deadline = TestSupport.Moment.now + 120
    var open = sockets.map { pollfd(fd: $0, events: Self.peerClosed, revents: 0) }
    while open.count > places {
      let rest = deadline - TestSupport.Moment.now
      if rest <= 0 { throw ServiceSilent() }
      poll(&open, nfds_t(open.count), Int32(rest * 1_000))
      open.removeAll { $0.revents != 0 }
    }
  }

  /// How many the service has not closed.
  var standing: Int {
    sockets.count { socket in
      var wait = pollfd(fd: socket, events: Self.peerClosed, revents: 0)
      return poll(&wait, 1, 0) == 0
    }
  }

  /// POLLRDHUP of poll(2), which Glibc's module does not show.
  private static let peerClosed: Int16 = 0x2000

  private struct ServiceSilent: Error {}

  /// Opens all of them.
  func open() throws {
    sockets = try (0..<count).map { number in
      // Not for the programs that other tests start meanwhile: one has few descriptors.
      let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
      let descriptor = socket(AF_INET, Int32(kind), 0)
      try #require(descriptor >= 0)
      // Every other one from an address that it shares with nine more.
      let host = number % 2 == 0 ? 2 : UInt32(number / 20 + 10)
      var own = Self.address(0x7f00_0000 + host, port: 0)
      var target = Self.address(0x7f00_0001, port: port)
      let size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isConnected =
        withUnsafePointer(to: &own) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) == 0 }
        }
        && withUnsafePointer(to: &target) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(descriptor, $0, size) == 0
          }
        }
      try #require(isConnected, "errno \(errno)")
      if number < count / 2 {
        _ = send(descriptor, hello, hello.count, Int32(MSG_NOSIGNAL))
      }
      return descriptor
    }
  }

  private static func address(_ host: UInt32, port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = host.bigEndian
    return address
  }
}
