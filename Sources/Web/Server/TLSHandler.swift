internal import Channel
internal import NIOCore

/// TLS between the network and HTTP. A handshake must be finished in the time for a request's head;
/// otherwise `RequestHandler` closes the connection.
final class TLSHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let tls: BrowserTLS

  init(_ context: BrowserTLSContext) throws { tls = try BrowserTLS(context) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    do {
      let clear = try buffer.withUnsafeReadableBytes { bytes in try tls.receive(bytes) }
      send(nil, context)
      context.flush()
      if !clear.isEmpty {
        context.fireChannelRead(wrapInboundOut(context.channel.allocator.buffer(bytes: clear)))
      }
      if tls.hasEnded { context.close(promise: nil) }
    } catch {
      // Sends the alert before closing.
      send(nil, context)
      context.flush()
      context.close(promise: nil)
    }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let buffer = unwrapOutboundIn(data)
    do {
      try buffer.withUnsafeReadableBytes { bytes in try tls.send(bytes) }
      send(promise, context)
    } catch {
      promise?.fail(error)
      context.close(promise: nil)
    }
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    tls.end()
    send(nil, context)
    context.flush()
    context.close(mode: mode, promise: promise)
  }

  private func send(_ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
    let bytes = tls.takeOutgoing()
    guard !bytes.isEmpty else {
      promise?.succeed(())
      return
    }
    let buffer = context.channel.allocator.buffer(bytes: bytes)
    context.write(wrapOutboundOut(buffer), promise: promise)
  }
}
