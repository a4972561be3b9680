internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Synchronization

/// A socket that listens at an address. Connections are closed until `open` is called.
final class HTTPListener: Sendable {
  private struct Inside {
    let router: Router
    let entrance: Entrance
    let connections: Connections
  }

  private let inside: WaitingInside
  private let channel: any Channel

  private final class WaitingInside: Sendable {
    let known = Mutex<Inside?>(nil)
  }

  /// The port.
  var port: Int { channel.localAddress?.port ?? 0 }

  /// Throws the error of bind(2).
  init(
    _ group: MultiThreadedEventLoopGroup, host: String, port: Int, _ limits: WebLimits
  ) throws {
    var decoding = NIOHTTPDecoderLimitConfiguration()
    decoding.maxHeaderFieldSize = limits.headBytes / 2
    decoding.maxHeaderListSize = limits.headBytes
    decoding.maxHeaderFieldCount = 64
    let (decoder, inside) = (decoding, WaitingInside())
    self.inside = inside
    channel = try ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 512)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelOption(.maxMessagesPerRead, value: 4)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          guard let inside = inside.known.withLock({ $0 }) else {
            throw ChannelError.ioOnClosedChannel
          }
          let pipeline = channel.pipeline.syncOperations
          if let page = inside.entrance.network {
            try pipeline.addHandler(TLSHandler(page.context))
          }
          try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: true, withErrorHandling: true,
            withOutboundHeaderValidation: true, withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: decoder)
          try pipeline.addHandler(
            RequestHandler(
              router: inside.router, entrance: inside.entrance, connections: inside.connections))
        }
      }
      .bind(host: host, port: port).wait()
  }

  /// Accepts connections from now on.
  func open(_ router: Router, _ entrance: Entrance, _ connections: Connections) {
    let inside = Inside(router: router, entrance: entrance, connections: connections)
    self.inside.known.withLock { $0 = inside }
  }

  /// Stops listening.
  func close() { try? channel.close().wait() }
}
