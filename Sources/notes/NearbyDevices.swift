internal import Discovery
internal import Synchronization
internal import System

/// The devices that announce themselves right now.
enum NearbyDevices {
  /// What was heard so far, and how to wake who waits for it.
  private final class Heard: Sendable {
    let peers = Mutex<[String: DiscoveredPeer]>([:])
    let isSettled = Latch()

    func hear(_ event: DiscoveryEvent) {
      switch event {
      case .found(let peer): peers.withLock { $0[peer.deviceID] = peer }
      case .lost(let peer): peers.withLock { _ = $0.removeValue(forKey: peer.deviceID) }
      case .settled: isSettled.open()
      case .interrupted, .resumed: break
      }
    }
  }

  /// The devices that announce a notebook, by device ID: all that are known when discovery has told
  /// what it knows, or after so many seconds.
  static func look(
    for notebookID: String, with discovery: any Discovery, seconds: Double
  ) throws -> [String: DiscoveredPeer] {
    let heard = Heard()
    defer { discovery.stop() }
    try discovery.browse(.notebook) { heard.hear($0) }
    heard.isSettled.wait(until: .now + seconds)
    return heard.peers.withLock { $0 }.filter { $0.value.notebookID == notebookID }
  }
}
