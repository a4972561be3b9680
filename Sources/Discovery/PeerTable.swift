/// Gathers what is seen on several interfaces and protocols into one peer a device and service, and
/// says what changed.
package struct PeerTable<Instance: Hashable> {
  /// Announcements kept at once; a network that shows more is flooding, and the rest is ignored.
  static var maximumInstances: Int { 1024 }

  private struct Key: Hashable {
    let kind: ServiceKind
    let notebookID: String
    let deviceID: String
    let locator: String?

    init(_ record: ServiceRecord) {
      kind = record.kind
      notebookID = record.notebookID
      deviceID = record.deviceID
      locator = record.locator
    }
  }

  private struct Sighting: Hashable {
    let record: ServiceRecord
    let endpoint: Endpoint
  }

  private let ownDeviceID: String
  private var sightings: [Instance: Sighting] = [:]
  private var peers: [Key: DiscoveredPeer] = [:]

  package init(ownDeviceID: String) {
    self.ownDeviceID = ownDeviceID
  }

  /// An instance resolved to `record` at `endpoint`, for the first time or anew.
  package mutating func see(
    _ instance: Instance, _ record: ServiceRecord, at endpoint: Endpoint
  ) -> [DiscoveryEvent] {
    let known = sightings[instance]
    guard known != nil || sightings.count < Self.maximumInstances else { return [] }
    guard record.deviceID != ownDeviceID else { return lose(instance) }
    sightings[instance] = Sighting(record: record, endpoint: endpoint)
    let changed = Key(record)
    // A service that comes back under the same name may announce another device.
    let before = known.map { Key($0.record) }.flatMap { $0 == changed ? nil : refresh($0) }
    return [before, refresh(changed)].compactMap { $0 }
  }

  /// An instance has gone.
  package mutating func lose(_ instance: Instance) -> [DiscoveryEvent] {
    guard let sighting = sightings.removeValue(forKey: instance) else { return [] }
    return [refresh(Key(sighting.record))].compactMap { $0 }
  }

  /// Nothing is known any more.
  package mutating func loseAll() -> [DiscoveryEvent] {
    defer {
      sightings = [:]
      peers = [:]
    }
    return peers.values.map { .lost($0) }
  }

  private mutating func refresh(_ key: Key) -> DiscoveryEvent? {
    let current = sightings.values.filter { Key($0.record) == key }
    let endpoints = Set(current.map(\.endpoint)).sorted()
    let known = peers[key]
    guard let version = current.map(\.record.protocolVersion).min(), !endpoints.isEmpty else {
      peers[key] = nil
      return known.map { .lost($0) }
    }
    let peer = DiscoveredPeer(
      kind: key.kind, notebookID: key.notebookID, deviceID: key.deviceID, locator: key.locator,
      protocolVersion: version, endpoints: endpoints)
    peers[key] = peer
    return peer == known ? nil : .found(peer)
  }
}
