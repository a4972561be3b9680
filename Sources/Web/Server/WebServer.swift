internal import Exchange
internal import Glibc
internal import History
public import Membership
internal import NIOCore
internal import NIOPosix
internal import Notebook
internal import Synchronization

/// The pages of notebooks, served to browsers of this machine until `stop`.
public final class WebServer: Sendable {
  private let group: MultiThreadedEventLoopGroup
  private let pool: NIOThreadPool
  private let door: Door
  private let shelf: Shelf
  private let connections: Connections
  private let news: [News]
  private let served: [ServedPage]
  private let onNetwork: NetworkDoors?
  private let addressWatch = Mutex<AddressWatch?>(nil)
  private let isStopped = Mutex(false)

  /// The port that it listens on.
  public var port: Int { door.port }

  /// The address that lets a browser in, once; nil when it was used.
  public var link: String? { shelf.gate.link }

  /// What people are told of the page on the network; nil where it is on none.
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

  /// Makes a link for a guest, of the first notebook, who says a name: what follows the origin.
  ///
  /// - Throws: `GuestError.tooMany`; where the book cannot be written.
  public func invite() throws -> (path: String, invitation: GuestInvitation) {
    let (invitation, token) = try shelf.sites[0].guests.invite(nil, as: .writer)
    return ("/\(Visitor.linkPath)/\(token)", invitation)
  }

  /// Takes a link back that nobody has used.
  public func withdraw(_ invitation: GuestInvitation) {
    try? shelf.sites[0].guests.withdraw(invitation)
  }

  /// Serves the notebooks in `folders` on 127.0.0.1, and where a network is given, there over TLS.
  ///
  /// - Parameters:
  ///   - isOfAll: whether a first page lists them, each below a path of its own; else there is one.
  ///   - dataFolder: where the user's device keys are, and the page's authority.
  ///   - controlFolder: where the sockets of the user's watchers are; nil where the system keeps no such
  ///     folder.
  ///   - port: 0 for one that is free; nil for the notebook's own, or a free one where that is taken:
  ///     what a browser keeps for the page is kept for a port.
  ///   - network: where guests come in from other machines; nil for this machine alone.
  /// - Throws: what bind(2) says, where the port cannot be had; what opening the notebook throws.
  public convenience init(
    folders: [String], isOfAll: Bool = false, dataFolder: String, controlFolder: String? = nil,
    port: Int?, network: WebNetwork? = nil, limits: WebLimits = WebLimits()
  ) throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let pool = NIOThreadPool(numberOfThreads: 2)
    do {
      let notebooks = try folders.map { try Notebook.open(at: $0) }
      let page = try network.map { try Self.certified($0, dataFolder) }
      let hosts = ["127.0.0.1"] + (network?.addresses ?? [])
      let identity = notebooks[0].identity
      let own = ServedPage.port(
        notebookID: isOfAll ? "all" : identity.id, deviceID: identity.device.deviceID)
      let doors = try Self.doors(group, at: hosts, port: port, own: own, limits)
      pool.start()
      let shelf = Self.shelf(
        notebooks, isOfAll: isOfAll, port: doors[0].port, dataFolder, controlFolder, pool, limits)
      let connections = Connections(limits: limits)
      let onNetwork = network.flatMap { network in
        page.map { NetworkDoors(network, $0, Array(doors.dropFirst())) }
      }
      doors[0].open(shelf, shelf.gate.local, connections)
      onNetwork?.open(shelf, connections)
      let news = try shelf.sites.map { try News(of: $0, connections: connections) }
      let origins = [shelf.gate.local, onNetwork?.entrance].compactMap { $0?.origin }
      // Where nothing can be written, nobody can be invited either.
      let served = notebooks.compactMap {
        try? ServedPage(at: origins, stateFolder: $0.stateFolder)
      }
      if let page {
        _ = group.next().scheduleRepeatedTask(initialDelay: .hours(24), delay: .hours(24)) { _ in
          page.renew()
        }
      }
      self.init(group, pool, doors[0], shelf, connections, news, served, onNetwork)
    } catch {
      try? pool.syncShutdownGracefully()
      try? group.syncShutdownGracefully()
      throw error
    }
  }

  private init(
    _ group: MultiThreadedEventLoopGroup, _ pool: NIOThreadPool, _ door: Door, _ shelf: Shelf,
    _ connections: Connections, _ news: [News], _ served: [ServedPage], _ onNetwork: NetworkDoors?
  ) {
    (self.group, self.pool, self.door) = (group, pool, door)
    (self.shelf, self.connections, self.news) = (shelf, connections, news)
    (self.served, self.onNetwork) = (served, onNetwork)
  }

  private static func shelf(
    _ notebooks: [Notebook], isOfAll: Bool, port: Int, _ dataFolder: String,
    _ controlFolder: String?, _ pool: NIOThreadPool, _ limits: WebLimits
  ) -> Shelf {
    let books = notebooks.map { GuestBook(stateFolder: $0.stateFolder) }
    let names = notebooks.map { Site.pathName(of: $0.identity.id) }
    let gate = Gate(port: port, books: books, names: isOfAll ? names : nil)
    let sites = zip(notebooks, books).map { notebook, book in
      Site(
        of: notebook, dataFolder: dataFolder, controlFolder: controlFolder, guests: book,
        shelfRoot: isOfAll ? gate.root : nil, limits: limits)
    }
    return Shelf(sites, gate: gate, pool: pool, limits: limits)
  }

  /// Goes with this machine from one network to another: the page is served at the addresses that it
  /// has then, with a certificate for them. `moved` is called each time that this made a difference.
  ///
  /// - Throws: where the system tells nothing of addresses, as in some containers.
  public func followAddresses(_ moved: @escaping @Sendable () -> Void) throws {
    guard let onNetwork else { return }
    let watch = try AddressWatch { [self] in
      let hasMoved = isStopped.withLock { isStopped -> Bool in
        guard !isStopped,
          onNetwork.move(
            to: .ofThisMachine(), { try Door(group, host: $0, port: $1, shelf.limits) })
        else { return false }
        onNetwork.open(shelf, connections)
        let origins = [shelf.gate.local, onNetwork.entrance].compactMap { $0?.origin }
        for page in served { try? page.move(to: origins) }
        return true
      }
      if hasMoved { moved() }
    }
    addressWatch.withLock { $0 = watch }
  }

  /// Whether a link that `invite` made still lets somebody in.
  public func isOpen(_ invitation: GuestInvitation) -> Bool {
    (try? shelf.sites[0].guests.invitations().contains(invitation)) ?? false
  }

  /// Ends what is under way, and closes all connections. It returns when that is done, also where it
  /// was called before.
  public func stop() {
    isStopped.withLock { isStopped in
      // A loop that has ended answers nothing: whoever waited for it would wait for ever.
      if isStopped { return }
      isStopped = true
      for site in shelf.sites { site.invitations.stop() }
      for news in news { news.stop() }
      addressWatch.withLock { $0?.stop() }
      door.close()
      onNetwork?.close()
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
    // A certificate with an address that the authority may not certify is refused whole.
    return try CertifiedPage(
      authority, addresses: network.addresses.filter(PrivateAddress.isPrivate))
  }

  /// Listens at all of these, with one port.
  private static func doors(
    _ group: MultiThreadedEventLoopGroup, at hosts: [String], port: Int?, own: Int,
    _ limits: WebLimits
  ) throws -> [Door] {
    func listen(_ port: Int) throws -> [Door] {
      var doors: [Door] = []
      do {
        for host in hosts {
          doors.append(try Door(group, host: host, port: doors.first?.port ?? port, limits))
        }
      } catch {
        for door in doors { door.close() }
        throw error
      }
      return doors
    }
    do {
      return try listen(port ?? own)
    } catch let error as IOError where port == nil && error.errnoCode == EADDRINUSE {
      return try listen(0)
    }
  }
}
