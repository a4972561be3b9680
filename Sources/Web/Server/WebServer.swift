internal import Exchange
internal import Glibc
internal import History
public import Membership
internal import NIOCore
internal import NIOPosix
internal import Notebook
internal import Synchronization
internal import Watch

/// The pages of notebooks, served to browsers of this machine until `stop`.
public final class WebServer: Sendable {
  private let group: MultiThreadedEventLoopGroup
  private let pool: NIOThreadPool
  private let listener: HTTPListener
  private let router: Router
  private let connections: Connections
  private let onNetwork: NetworkListeners?
  private let addressWatch = Mutex<AddressWatch?>(nil)
  private let isStopped = Mutex(false)

  /// The port that it listens on.
  public var port: Int { listener.port }

  /// The link, which works once; nil after its use.
  public var link: String? { router.gate.link }

  /// The facts about the page on the network for people; nil if it is not on a network.
  public var network: ServedNetwork? {
    onNetwork?.entrance.flatMap { entrance in
      entrance.network.map { page in
        ServedNetwork(
          origins: entrance.origins, fingerprint: page.fingerprint,
          authority: "\(entrance.origin)/\(Gate.authorityName)",
          authorityFingerprint: page.authorityFingerprint)
      }
    }
  }

  /// Makes a link to the first notebook for a guest, who chooses a name. Returns the part of the
  /// link after the origin.
  ///
  /// - Throws: `GuestError.tooMany`; an error if the book cannot be written.
  public func invite() throws -> (path: String, invitation: GuestInvitation) {
    let (invitation, token) = try invitingSite.guests.invite(nil, as: .writer)
    return ("/\(Visitor.linkPath)/\(token)", invitation)
  }

  /// Cancels a link that nobody has used.
  public func withdraw(_ invitation: GuestInvitation) {
    // If this fails, the link expires later.
    try? invitingSite.guests.withdraw(invitation)
  }

  /// The first notebook: if all are served, the server itself invites nobody.
  private var invitingSite: Site {
    get throws {
      guard let site = router.notebooks.sites.first else { throw Refusal.away }
      return site
    }
  }

  /// Serves notebooks on 127.0.0.1, and over TLS on the network if one is given.
  ///
  /// - Parameters:
  ///   - dataFolder: the folder of the list of the user's notebooks, the device keys, and the page's authority.
  ///   - controlFolder: the folder of the sockets of the user's watchers; nil if there is none.
  ///   - port: 0 for a free port; nil for the notebook's own, or a free one if that is in use. A browser keeps
  ///     the page's data for one port.
  ///   - network: the network from which guests come; nil for only this machine.
  /// - Throws: the error of bind(2) if the port is not available; the errors of opening the notebook.
  public init(
    _ choice: WebChoice, dataFolder: String, controlFolder: String? = nil,
    port: Int?, network: WebNetwork? = nil, limits: WebLimits = WebLimits()
  ) throws {
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    pool = NIOThreadPool(numberOfThreads: 2)
    do {
      let page = try network.map { try Self.certified($0, dataFolder) }
      let hosts = ["127.0.0.1"] + (network?.addresses ?? [])
      let own = try Self.ownPort(of: choice, dataFolder)
      let listeners = try Self.listeners(group, at: hosts, port: port, own: own, limits)
      pool.start()
      onNetwork = network.flatMap { network in
        page.map { NetworkListeners(network, $0, Array(listeners.dropFirst())) }
      }
      connections = Connections(limits: limits)
      let local = Entrance.local(port: listeners[0].port)
      let notebooks = ServedNotebooks(
        choice, dataFolder: dataFolder, controlFolder: controlFolder, connections: connections,
        limits: limits, at: [local, onNetwork?.entrance].compactMap { $0?.origin })
      let gate = Gate(port: listeners[0].port, notebooks, isOfAll: choice == .all)
      router = Router(notebooks, gate: gate, pool: pool, limits: limits)
      try notebooks.begin()
      listener = listeners[0]
      listener.open(router, gate.local, connections)
      onNetwork?.open(router, connections)
      if let page {
        _ = group.next().scheduleRepeatedTask(initialDelay: .hours(24), delay: .hours(24)) { _ in
          page.renew()
        }
      }
    } catch {
      // Errors of the shutdown are ignored: the first error is the one to report.
      try? pool.syncShutdownGracefully()
      try? group.syncShutdownGracefully()
      throw error
    }
  }

  /// The port for this choice of notebooks, always the same on this device.
  private static func ownPort(of choice: WebChoice, _ dataFolder: String) throws -> Int {
    switch choice {
    case .one(let folder):
      let identity = try Notebook.open(at: folder).identity
      return ServedPage.port(notebookID: identity.id, deviceID: identity.device.deviceID)
    case .all: return ServedPage.port(notebookID: "all", deviceID: dataFolder)
    }
  }

  /// Follows the machine to other networks: serves the page at the new addresses, with a certificate for them.
  /// Calls `moved` after each change.
  ///
  /// - Throws: an error if the system does not report addresses, as in some containers.
  public func followAddresses(_ moved: @escaping @Sendable () -> Void) throws {
    guard let onNetwork else { return }
    let watch = try AddressWatch { [self] in
      let hasMoved = isStopped.withLock { isStopped -> Bool in
        guard !isStopped,
          onNetwork.move(
            to: .ofThisMachine(), { try HTTPListener(group, host: $0, port: $1, router.limits) })
        else { return false }
        onNetwork.open(router, connections)
        let origins = [router.gate.local, onNetwork.entrance].compactMap { $0?.origin }
        router.notebooks.move(to: origins)
        return true
      }
      if hasMoved { moved() }
    }
    addressWatch.withLock { $0 = watch }
  }

  /// Whether a link that `invite` made still works.
  public func isOpen(_ invitation: GuestInvitation) -> Bool {
    // If the book cannot be read, no link works.
    (try? invitingSite.guests.invitations().contains(invitation)) ?? false
  }

  /// Ends all operations, closes all connections, and returns when that is done. Also waits if it was called
  /// before.
  public func stop() {
    isStopped.withLock { isStopped in
      // A stopped event loop never answers, so waiting for it would not end.
      if isStopped { return }
      isStopped = true
      router.notebooks.stop()
      addressWatch.withLock { $0?.stop() }
      listener.close()
      onNetwork?.close()
      // The process ends anyway.
      try? pool.syncShutdownGracefully()
      try? group.syncShutdownGracefully()
    }
  }

  private static func certified(
    _ network: WebNetwork, _ dataFolder: String
  ) throws -> CertifiedPage {
    guard !network.addresses.isEmpty else { throw WebNetworkError.noAddress }
    let authority = try PageAuthority.loadOrCreate(
      in: dataFolder, hostName: network.name ?? "notes.invalid")
    // An address that the authority may not certify would make the whole certificate invalid.
    return try CertifiedPage(
      authority, addresses: network.addresses.filter(PrivateAddress.isPrivate),
      dataFolder: dataFolder)
  }

  /// Listens at all these hosts, with one port.
  private static func listeners(
    _ group: MultiThreadedEventLoopGroup, at hosts: [String], port: Int?, own: Int,
    _ limits: WebLimits
  ) throws -> [HTTPListener] {
    func listen(_ port: Int) throws -> [HTTPListener] {
      var listeners: [HTTPListener] = []
      do {
        for host in hosts {
          listeners.append(
            try HTTPListener(group, host: host, port: listeners.first?.port ?? port, limits))
        }
      } catch {
        for listener in listeners { listener.close() }
        throw error
      }
      return listeners
    }
    do {
      return try listen(port ?? own)
    } catch let error as IOError where port == nil && error.errnoCode == EADDRINUSE {
      return try listen(0)
    }
  }
}
