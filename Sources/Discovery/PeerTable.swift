package import System

/// Combines the announcements on several interfaces and protocols into one peer for each device and
/// service, and reports changes.
package struct PeerTable<Instance: Hashable> {
  /// The limit of announcements; a network with more is being flooded, and a new announcement
  /// replaces a random one.
  static var maximumInstances: Int { 1024 }

  private let ownDeviceID: String
  private var sightings: [Instance: (record: ServiceRecord, address: Address)] = [:]
  /// The devices, by `ServiceRecord.identity`.
  private var peers: [ServiceRecord: DiscoveredPeer] = [:]

  package init(ownDeviceID: String) { self.ownDeviceID = ownDeviceID }

  /// An instance resolved to `record` at `address`, for the first time or again.
  package mutating func see(
    _ instance: Instance, _ record: ServiceRecord, at address: Address
  ) -> [DiscoveryEvent] {
    let known = sightings[instance]
    guard record.deviceID != ownDeviceID else { return lose(instance) }
    let isFull = known == nil && sightings.count >= Self.maximumInstances
    // A random device is removed, so that a flood of announcements cannot remove a chosen device.
    let displaced = isFull ? sightings.keys.randomElement().map { lose($0) } ?? [] : []
    sightings[instance] = (record, address)
    let changed = record.identity
    // If the service returns with the same name, it may announce another device.
    let before = known.flatMap { $0.record.identity == changed ? nil : refresh($0.record.identity) }
    return displaced + [before, refresh(changed)].compactMap { $0 }
  }

  /// An instance has disappeared.
  package mutating func lose(_ instance: Instance) -> [DiscoveryEvent] {
    guard let sighting = sightings.removeValue(forKey: instance) else { return [] }
    return [refresh(sighting.record.identity)].compactMap { $0 }
  }

  /// Drops all peers.
  package mutating func loseAll() -> [DiscoveryEvent] {
    defer {
      sightings = [:]
      peers = [:]
    }
    return peers.values.map { .lost($0) }
  }

  private mutating func refresh(_ key: ServiceRecord) -> DiscoveryEvent? {
    let current = sightings.values.filter { $0.record.identity == key }
    let addresses = Set(current.map(\.address)).sorted { $0.isTried(before: $1) }
    let known = peers[key]
    guard let version = current.map(\.record.protocolVersion).min(), !addresses.isEmpty else {
      peers[key] = nil
      return known.map { .lost($0) }
    }
    let peer = DiscoveredPeer(
      kind: key.kind, notebookID: key.notebookID, deviceID: key.deviceID, locator: key.locator,
      protocolVersion: version, addresses: addresses)
    peers[key] = peer
    return peer == known ? nil : .found(peer)
  }
}

extension ServiceRecord {
  /// The part of a record that identifies the service, without port and version.
  fileprivate var identity: ServiceRecord {
    ServiceRecord(
      kind: kind, notebookID: notebookID, deviceID: deviceID, locator: locator, port: 0,
      protocolVersion: 0)
  }
}
