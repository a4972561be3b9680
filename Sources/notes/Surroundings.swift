internal import Discovery
internal import Glibc
internal import Synchronization

/// The devices that announce themselves right now.
enum Surroundings {
  /// What was heard so far, and how to wake who waits for it.
  private final class Heard: Sendable {
    let peers = Mutex<[String: DiscoveredPeer]>([:])
    let ends: (reading: Int32, writing: Int32)

    init() throws(Failure) {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else {
        throw Failure.system("pipe", errno: errno)
      }
      self.ends = (ends[0], ends[1])
    }

    deinit {
      close(ends.reading)
      close(ends.writing)
    }

    func hear(_ event: DiscoveryEvent) {
      switch event {
      case .found(let peer): peers.withLock { $0[peer.deviceID] = peer }
      case .lost(let peer): peers.withLock { _ = $0.removeValue(forKey: peer.deviceID) }
      case .settled:
        var byte: UInt8 = 1
        _ = write(ends.writing, &byte, 1)
      case .interrupted, .resumed: break
      }
    }
  }

  /// The devices that announce a notebook, by device ID: all that are known when discovery has told
  /// what it knows, or after so many seconds.
  static func look(
    for notebookID: String, with discovery: any Discovery, seconds: Double
  ) throws -> [String: DiscoveredPeer] {
    let heard = try Heard()
    defer { discovery.stop() }
    try discovery.browse(.notebook) { heard.hear($0) }
    var entry = pollfd(fd: heard.ends.reading, events: Int16(POLLIN), revents: 0)
    _ = poll(&entry, 1, Int32(min(seconds, 86_400) * 1_000))
    return heard.peers.withLock { $0 }.filter { $0.value.notebookID == notebookID }
  }
}
