public import Channel
public import Discovery
internal import System

/// An invitation that somebody nearby announces. What it says is a hint: no name is on the air, and
/// only the code proves who it is.
public struct NearbyInvitation: Sendable, Hashable {
  /// The first two digits of its code.
  public let locator: String
  package let notebookID: String
  /// The inviting device's ID.
  public let deviceID: String
  package let addresses: [Address]

  /// Looks for so many seconds for those that are announced.
  ///
  /// - Throws: `SyncError.stopped`, `DiscoveryError`.
  public static func all(
    by discovery: any Discovery, within window: Double, cancellation: CancellationToken? = nil
  ) throws -> [NearbyInvitation] {
    defer { discovery.stop() }
    let sightings = BlockingQueue<DiscoveryEvent>()
    try discovery.browse(.invitation) { sightings.put($0) }
    var found: [String: NearbyInvitation] = [:]
    let end = Instant.now + window
    while Instant.now < end {
      if cancellation?.isCancelled == true { throw SyncError.stopped }
      switch sightings.take(until: min(end, .now + 0.1)) {
      case .found(let peer):
        guard let locator = peer.locator else { continue }
        found[peer.deviceID + locator] = NearbyInvitation(
          locator: locator, notebookID: peer.notebookID, deviceID: peer.deviceID,
          addresses: peer.endpoints.map(Address.init))
      case .lost(let peer): found[peer.deviceID + (peer.locator ?? "")] = nil
      case .interrupted(let error): if found.isEmpty { throw error }
      default: continue
      }
    }
    return found.values.sorted { ($0.locator, $0.deviceID) < ($1.locator, $1.deviceID) }
  }
}
