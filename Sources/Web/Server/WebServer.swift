internal import Exchange
internal import Glibc
internal import History
internal import Membership
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Notebook
internal import Synchronization

/// The page of a notebook, served to browsers of this machine until `stop`.
public final class WebServer: Sendable {
  private let group: MultiThreadedEventLoopGroup
  private let pool: NIOThreadPool
  private let channel: any Channel
  private let site: Site
  private let news: News
  private let page: ServedPage?
  private let isStopped = Mutex(false)

  /// The port that it listens on.
  public var port: Int { channel.localAddress?.port ?? 0 }

  /// The address that lets a browser in, once; nil when it was used.
  public var link: String? { site.gate.link }

  /// Serves the notebook at `folder` on 127.0.0.1.
  ///
  /// - Parameters:
  ///   - dataFolder: where the user's device keys are.
  ///   - controlFolder: where the sockets of the user's watchers are; nil where the system keeps no such
  ///     folder.
  ///   - port: 0 for one that is free; nil for the notebook's own, or a free one where that is taken:
  ///     what a browser keeps for the page is kept for a port.
  /// - Throws: what bind(2) says, where the port cannot be had; what opening the notebook throws.
  public convenience init(
    folder: String, dataFolder: String, controlFolder: String? = nil, port: Int?,
    limits: WebLimits = WebLimits()
  ) throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let pool = NIOThreadPool(numberOfThreads: 2)
    let connections = Connections(limits: limits)
    do {
      // Who listens is known before what is served says where.
      let waiting = WaitingSite()
      let notebook = try Notebook.open(at: folder)
      let (state, own) = (notebook.stateFolder, Self.ownPort(of: notebook.identity))
      let bootstrap = Self.bootstrap(group, waiting, connections, limits)
      let channel: any Channel
      do {
        channel = try bootstrap.bind(host: "127.0.0.1", port: port ?? own).wait()
      } catch let error as IOError where port == nil && error.errnoCode == EADDRINUSE {
        channel = try bootstrap.bind(host: "127.0.0.1", port: 0).wait()
      }
      pool.start()
      let guests = GuestBook(stateFolder: state)
      let site = try Site(
        folder: folder, controlFolder: controlFolder, signer: VersionSigner(keysIn: dataFolder),
        gate: Gate(port: channel.localAddress?.port ?? own, guests: guests), guests: guests,
        pool: pool, limits: limits)
      waiting.site = site
      let news = try News(folder: folder, connections: connections)
      // Where nothing can be written, nobody can be invited either.
      let page = try? ServedPage(at: site.gate.origin, stateFolder: state)
      self.init(group, pool, channel, site, news, page)
    } catch {
      try? pool.syncShutdownGracefully()
      try? group.syncShutdownGracefully()
      throw error
    }
  }

  private init(
    _ group: MultiThreadedEventLoopGroup, _ pool: NIOThreadPool, _ channel: any Channel,
    _ site: Site, _ news: News, _ page: ServedPage?
  ) {
    (self.group, self.pool, self.channel) = (group, pool, channel)
    (self.site, self.news, self.page) = (site, news, page)
  }

  /// Ends what is under way, and closes all connections. It returns when that is done, also where it
  /// was called before.
  public func stop() {
    isStopped.withLock { isStopped in
      // A loop that has ended answers nothing: whoever waited for it would wait for ever.
      if isStopped { return }
      isStopped = true
      news.stop()
      try? channel.close().wait()
      try? pool.syncShutdownGracefully()
      try? group.syncShutdownGracefully()
    }
  }

  /// A port below those that systems give out, the same for a notebook on this device each time.
  private static func ownPort(of identity: NotebookIdentity) -> Int {
    let sum = (identity.id + identity.device.deviceID).utf8.reduce(UInt32(2_166_136_261)) {
      ($0 ^ UInt32($1)) &* 16_777_619
    }
    return 20_000 + Int(sum % 12_000)
  }

  private static func bootstrap(
    _ group: MultiThreadedEventLoopGroup, _ waiting: WaitingSite, _ connections: Connections,
    _ limits: WebLimits
  ) -> ServerBootstrap {
    var decoding = NIOHTTPDecoderLimitConfiguration()
    decoding.maxHeaderFieldSize = limits.headBytes / 2
    decoding.maxHeaderListSize = limits.headBytes
    decoding.maxHeaderFieldCount = 64
    let decoder = decoding
    return ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 512)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelOption(.maxMessagesPerRead, value: 4)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          guard let site = waiting.site else { throw ChannelError.ioOnClosedChannel }
          try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withPipeliningAssistance: true, withErrorHandling: true,
            withOutboundHeaderValidation: true, withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: decoder)
          try channel.pipeline.syncOperations.addHandler(
            RequestHandler(site: site, connections: connections, limits: limits))
        }
      }
  }
}
