import System
import TestSupport
import Testing

@testable import Exchange

// What a hub may cost the device that visits it, git included, which it starts: an honest member is served by
// another process of the same notebook meanwhile. notes-hub(7), "What is run".
extension HostilePeerTests {
  @Test("a hub of very many references")
  func hubReferences() throws {
    let world = try HostileWorld()
    let server = try GitServer(.daemon)
    let address = try server.makeRepository("home.git")
    try world.addHub(address)
    try world.visit().expect("in sync")
    let tip = try #require(try world.ada.tip())
    let count = HostileTable.isFull ? 100_000 : 2_000
    let lines = (0..<count).map { "\(tip) refs/tags/\(100_000 + $0)\n" }
    try writeFile(
      server.repositories + "/home.git/packed-refs",
      Array(("# pack-refs with: peeled fully-peeled sorted \n" + lines.joined()).utf8))
    try world.ada.write("for the hub\n", to: "hub.txt")
    let visited = try world.measureVisit("a hub of \(count) references")
    #expect(visited.isSuccess, "\(visited)")
  }

  @Test("a hub that never ends what it says", arguments: ["references", "sideband"])
  func hubWithoutEnd(kind: String) throws {
    let world = try HostileWorld()
    let flood = try RunningProcess(["python3", "-c", Self.flood, kind])
    let address = "git://127.0.0.1:\(try flood.line())/home.git"
    try world.addHub(address)
    let visited = try world.measureVisit("a hub's \(kind) without end")
    #expect(visited.errorText.contains("exceeded a limit"), "\(visited)")
    #expect(flood.isRunning)
    flood.send(9)
  }

  /// A server of the git protocol that says where it listens, and then what the first argument says, for ever.
  private static let flood = """
    import itertools, socket, sys
    def line(data): return b"%04x" % (len(data) + 4) + data
    def read(file):
        size = int(file.read(4) or b"0", 16)
        return file.read(size - 4) if size else b""
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    tip = b"ab" * 20
    while True:
        peer = listener.accept()[0]
        try:
            file = peer.makefile("rb")
            read(file)
            peer.sendall(line(tip + b" refs/heads/main\\0side-band-64k ofs-delta\\n"))
            if sys.argv[1] == "references":
                for number in itertools.count():
                    peer.sendall(line(tip + b" refs/heads/n%d\\n" % number))
            peer.sendall(b"0000")
            while read(file): pass
            said = b""
            while said != b"done\\n":
                said = read(file)
                if said in (b"", b"done\\n"): peer.sendall(line(b"NAK\\n"))
            while True: peer.sendall(line(b"\\2" + b"x" * 60000))
        except (OSError, ValueError):
            pass
    """
}

extension ProcessResult {
  fileprivate func expect(_ words: String) { #expect(text.contains(words), "\(self)") }
}

extension HostileWorld {
  fileprivate func addHub(_ address: String) throws {
    let added = try TestSupport.run(
      [BuiltBinary.notes(), "remote", "add", "hub", address], in: ada.notes,
      environment: environment)
    try #require(added.isSuccess, "\(added)")
  }

  private var visiting: [String] { get throws { [try BuiltBinary.notes(), "sync", "--hub"] } }

  /// Ada's `notes sync --hub`.
  fileprivate func visit() throws -> ProcessResult {
    try TestSupport.run(visiting, in: ada.notes, environment: environment)
  }

  /// The same, and what it cost goes into the table. Carol is served meanwhile.
  fileprivate func measureVisit(_ name: String) throws -> ProcessResult {
    let disk = try diskBytes()
    let meanwhile = BlockingQueue<Swift.Result<Double, any Error>>()
    try Exchange.startThread { [self] in meanwhile.put(Swift.Result { try serveCarol() }) }
    let (result, cost) = try runMeasured(
      visiting, in: ada.notes, environment: environment, within: 600)
    let during = try #require(try meanwhile.take(until: .now + 120)?.get())
    HostileTable.add(
      HostileTable.Row(
        name: name, processorSeconds: cost.processorSeconds, peakBytes: cost.peakBytes,
        descriptors: 0, diskBytes: try diskBytes() - disk,
        honestSeconds: try serveCarol(), secondsMeanwhile: during))
    return result
  }
}
