internal import Discovery
internal import Exchange
internal import Membership
internal import Notebook
internal import State
internal import Synchronization
internal import System

/// Keeps a service connected to the other devices. A value on the service's own thread.
struct ServiceDialing {
  private let service: Service
  private let driver: SessionDriver
  private var dialer: Dialer
  /// For each notebook, the devices with which this one must not exchange.
  private var excluded: [String: Set<String>] = [:]
  /// The notebooks of which this device is not a member yet: every member would refuse it.
  private var guests: Set<String> = []
  /// The callers that wait for the end of all connection attempts.
  private var waiting: [BlockingQueue<Bool>] = []

  /// How many seconds to wait for discovery before trying known addresses.
  private var patience: Double { service.discovery == nil ? 0 : 1 }

  init(_ service: Service, _ driver: SessionDriver) {
    (self.service, self.driver) = (service, driver)
    dialer = Dialer(
      ownDevices: service.watched.mapValues { $0.context.key.deviceID }, staysConnected: true)
  }

  private var isPaused: Bool { service.isPaused.load(ordering: .relaxed) }

  var next: Instant? { isPaused ? nil : dialer.next }

  mutating func begin() throws {
    guard !service.watched.isEmpty else { return }
    for notebookID in service.watched.keys {
      learnMembers(of: notebookID)
      remember(notebookID)
    }
    guard let discovery = service.discovery else { return }
    // Browsing may block, so it has a thread of its own.
    try startThread { [occurrences = service.occurrences] in
      do {
        try discovery.browse(.notebook) { occurrences.put(.discovered($0)) }
      } catch {
        occurrences.put(.event(.discoveryFailed(cause: Cause(error))))
      }
    }
  }

  mutating func dial() {
    defer { tellWaiting() }
    if isPaused { return }
    for attempt in dialer.take(isConnected: isConnected) { driver.open(attempt) }
  }

  mutating func handle(_ event: DiscoveryEvent) {
    switch event {
    case .found(let peer):
      service.isDiscoveryDown.store(false, ordering: .relaxed)
      let target = Dialer.Target(notebookID: peer.notebookID, deviceID: peer.deviceID)
      // Anybody can announce addresses, so try first the address at which the device has proved its identity.
      let proved = proved(target)
      let others = peer.addresses.filter { $0 != proved }
      let addresses = peer.addresses.filter { $0 == proved } + others
      if dialer.found(target, at: addresses) {
        // The device's address has changed: check that the old connection is alive.
        service.watched[target.notebookID]?.sessions.session(with: target.deviceID)?.ping()
      }
    case .lost(let peer):
      dialer.lost(Dialer.Target(notebookID: peer.notebookID, deviceID: peer.deviceID))
    case .interrupted(let error):
      service.occurrences.put(.event(.discoveryFailed(cause: Cause(error))))
    case .settled, .resumed: service.isDiscoveryDown.store(false, ordering: .relaxed)
    }
  }

  mutating func handle(_ event: Event) {
    switch event {
    case .disconnected(let notebook, let peer):
      let target = Dialer.Target(notebookID: notebook, deviceID: peer.deviceID)
      // The device itself may have opened a connection for the first time.
      rememberProved(target)
      dialer.wake(target)
    // A device may have become a member, or may no longer be blocked.
    case .membersChanged(let notebook), .admitted(_, _, let notebook):
      learnMembers(of: notebook)
      dialer.retryAll(notebookID: notebook)
    // Another command may have reached a device that discovery does not find.
    case .addressesChanged(let notebook): remember(notebook)
    default: break
    }
  }

  mutating func ended(_ outcome: Dialer.Outcome, of target: Dialer.Target) {
    dialer.ended(outcome, with: target)
    // Another command may have reached the device at a new address.
    if case .failed = outcome { rememberProved(target) }
  }

  private mutating func learnMembers(of notebookID: String) {
    let all = service.contexts[notebookID]?.membership.members() ?? []
    let members = all.filter { !$0.isRemoved && !$0.isBlocked }
    if service.contexts[notebookID]?.isGuest == true {
      guests.insert(notebookID)
    } else if guests.remove(notebookID) != nil {
      remember(notebookID)
    }
    dialer.setMembers(Set(members.map(\.deviceID)), of: notebookID)
    // An unknown device may be a member whom another admin certified.
    excluded[notebookID] = Set(all.map(\.deviceID)).subtracting(members.map(\.deviceID))
  }

  /// Reads the last known addresses of a notebook's unconnected devices.
  private mutating func remember(_ notebookID: String) {
    for (device, address) in addresses(notebookID) {
      let target = Dialer.Target(notebookID: notebookID, deviceID: device)
      if !isConnected(target) { dialer.remember(target, at: address, after: patience) }
    }
  }

  private mutating func rememberProved(_ target: Dialer.Target) {
    guard let address = proved(target) else { return }
    dialer.remember(target, at: address, after: patience)
  }

  /// The address of the last session with the device.
  private func proved(_ target: Dialer.Target) -> Address? {
    addresses(target.notebookID)[target.deviceID]
  }

  private func addresses(_ notebookID: String) -> [String: Address] {
    service.watched[notebookID].map {
      PeerAddresses(stateFolder: StateFolder(ofNotebookIn: $0.context.folder)).all()
    } ?? [:]
  }

  /// The machine slept: connections may be dead, and the folder may have changed.
  mutating func awake() {
    for watched in service.watched.values { watched.jobs.put(.look) }
    networkChanged(.got)
  }

  /// Connections may be dead, and other devices may be reachable now.
  mutating func networkChanged(_ news: NetworkState.News) {
    for watched in service.watched.values { watched.sessions.pingAll() }
    if news == .got {
      dialer.retryAll()
      for visitor in service.hubVisitors.values { visitor.retry() }
    }
  }

  /// Tries every device that is not connected; `settled` gets an element when all attempts have
  /// ended.
  mutating func reachAll(_ settled: BlockingQueue<Bool>) {
    waiting.append(settled)
    dialer.retryAll()
  }

  private mutating func tellWaiting() {
    if waiting.isEmpty || (!isPaused && dialer.isTrying(isConnected: isConnected)) { return }
    for settled in waiting { settled.put(true) }
    waiting = []
  }

  /// Whether no connection to a device is needed: it has a session, or must not have one.
  private func isConnected(_ target: Dialer.Target) -> Bool {
    guard let watched = service.watched[target.notebookID], !guests.contains(target.notebookID)
    else { return true }
    return watched.sessions.has(target.deviceID)
      || excluded[target.notebookID]?.contains(target.deviceID) == true
  }

  /// Ends the sessions if the service was paused, or makes sessions again if it was resumed.
  mutating func pauseChanged() {
    for visitor in service.hubVisitors.values { visitor.pause(isPaused) }
    if isPaused {
      for watched in service.watched.values { watched.sessions.endAll(.stopped) }
    } else {
      dialer.retryAll()
    }
  }
}
