internal import Membership
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// One connection: reads a request, answers it, and closes if it is too slow or too large.
final class RequestHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let router: Router
  private let connections: Connections
  private let limits: WebLimits
  private let entrance: Entrance
  private var deadline: Scheduled<Void>?
  /// The note of the page of this stream.
  private var openNote: OpenNote?
  private var state = State.idle
  /// Whether the browser wants the connection for another request.
  private var keepsAlive = true

  private enum State {
    case idle
    /// The request is admitted; the form is being received.
    case form(HTTPRequestHead, Gate.Admission, ByteBuffer)
    /// The request is answered, or being answered: further bytes are ignored.
    case answering
  }

  init(router: Router, entrance: Entrance, connections: Connections) {
    (self.router, self.entrance) = (router, entrance)
    (self.connections, self.limits) = (connections, router.limits)
  }

  func channelActive(context: ChannelHandlerContext) {
    connections.add(context.channel)
    expect(within: limits.headTime, context)
  }

  func channelInactive(context: ChannelHandlerContext) {
    deadline?.cancel()
    openNote = nil
    connections.remove(context.channel)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch (unwrapInboundIn(data), state) {
    case (.head(let head), .idle): begin(head, context)
    case (.body(var part), .form(let head, let admission, var form)):
      guard form.readableBytes + part.readableBytes <= limits.formBytes else {
        return refuse(413, "This is more than the page accepts.", context)
      }
      state = .idle  // so that the buffer is not copied
      form.writeBuffer(&part)
      state = .form(head, admission, form)
    case (.end, .form(let head, let admission, let form)):
      finish(head, admission, form, context)
    default: break
    }
  }

  private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    keepsAlive = head.isKeepAlive
    let place = Connections.place(of: context.channel)
    switch router.gate.judge(head, at: entrance, from: place) {
    case .refused(401, let text): send(Router.closed(text), on: context, closes: true)
    case .refused(let status, let text): refuse(status, text, context)
    case .opened(let root, let cookie):
      send(Router.welcome(to: root, cookie: cookie), on: context, closes: true)
    case .style: send(RequestContext.style, on: context, closes: true)
    case .authority:
      guard let network = entrance.network else { return refuse(404, "", context) }
      let type = "application/x-x509-ca-cert"
      send(.file(network.authority, type: type), on: context, closes: true)
    case .allowed(let admission):
      let visitor = admission.visitor
      if visitor.isHere {
        let notebook = admission.site?.notebookID
        // A guest who leaves gets the answer before the connection is closed.
        let guestID = admission.path == RequestContext.leaving ? nil : visitor.guest?.id
        connections.letIn(context.channel, to: notebook, guestID: guestID)
      }
      expect(within: limits.formTime, context)
      if head.method == .POST {
        guard Self.type(of: head) == (Self.isPiece(admission) ? FileKind.bytes : Self.formType)
        else {
          return refuse(415, "A form is expected.", context)
        }
        if let length = head.only("content-length").flatMap({ Int($0) }), length > limits.formBytes
        {
          return refuse(413, "This is more than the page accepts.", context)
        }
      } else if head.headers.contains(name: "transfer-encoding")
        || head.only("content-length").map({ $0 != "0" }) ?? false
      {
        return refuse(400, "A GET has no body.", context)
      }
      state = .form(head, admission, context.channel.allocator.buffer(capacity: 0))
    }
  }

  /// The type without the charset: scripts add a charset, forms do not.
  private static func type(of head: HTTPRequestHead) -> String? {
    head.only("content-type")?.lowercased().split(separator: ";").first.map(String.init)
  }

  private static let formType = "application/x-www-form-urlencoded"

  /// Whether a piece of a file is sent, rather than a form.
  private static func isPiece(_ admission: Gate.Admission) -> Bool {
    admission.path == RequestContext.adding
  }

  private func finish(
    _ head: HTTPRequestHead, _ admission: Gate.Admission, _ form: ByteBuffer,
    _ context: ChannelHandlerContext
  ) {
    let piece = Self.isPiece(admission) ? Array(form.readableBytesView) : []
    guard let query = Fields(parsing: head.query.utf8),
      let fields = piece.isEmpty ? Fields(parsing: form.readableBytesView) : Fields()
    else { return refuse(400, "The page cannot read the form.", context) }
    let isForm = head.method == .POST
    let place = Connections.place(of: context.channel)
    state = .answering
    deadline?.cancel()
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    // A guest who was removed, or became a reader, while the form was being received is treated as
    // such.
    let again: @Sendable () -> Gate.Verdict = { [gate = router.gate, entrance] in
      gate.judge(head, at: entrance, from: place)
    }
    let response = router.respond(
      to: { isForm ? again() : .allowed(admission) }, on: context.eventLoop
    ) { [entrance] admission in
      Request(
        method: isForm ? .post : .get, visitor: admission.visitor, entrance: entrance,
        isByName: entrance.isByName(host: head.only("host")), path: admission.path, query: query,
        form: fields, isByScript: head.only("accept") == "application/json", piece: piece,
        range: head.headers["if-range"].isEmpty ? head.only("range") : nil)
    }
    response.whenComplete { result in
      let (handler, context) = bound.value
      // This fails only if the queue is full.
      let response = (try? result.get()) ?? .plain(503, "Too many requests at once. Try again.")
      handler.send(response, on: context, closes: !handler.keepsAlive)
    }
  }

  /// Refuses the request and closes: further bytes from the browser are not read.
  private func refuse(_ status: Int, _ text: String, _ context: ChannelHandlerContext) {
    send(.plain(status, text), on: context, closes: true)
  }

  private func send(_ response: Response, on context: ChannelHandlerContext, closes: Bool) {
    guard context.channel.isActive else { return }
    state = .answering
    var headers = HTTPHeaders(Response.guards.map { ($0.name, $0.value) })
    for (name, value) in response.headers { headers.replaceOrAdd(name: name, value: value) }
    var bytes: [UInt8] = []
    var isStream = false
    var part: (OpenFile, Range<Int>)?
    switch response.body {
    case .events(let note):
      headers.add(name: "Content-Type", value: "text/event-stream; charset=utf-8")
      isStream = true
      openNote = note
    case .bytes(let body, let type):
      bytes = body
      headers.add(name: "Content-Type", value: type)
      headers.add(name: "Content-Length", value: String(body.count))
    case .file(let file, let range, let type):
      part = (file, range)
      headers.add(name: "Content-Type", value: type)
      headers.add(name: "Content-Length", value: String(range.count))
    }
    if closes { headers.add(name: "Connection", value: "close") }
    let status = HTTPResponseStatus(statusCode: response.status)
    write(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers)), context)
    if isStream { return follow(context) }
    if let (file, range) = part { return sendPiece(of: file, range, on: context, closes: closes) }
    write(.body(.byteBuffer(context.channel.allocator.buffer(bytes: bytes))), context)
    end(on: context, closes: closes)
  }

  /// Sends a part of a file: each piece is read after the one before was sent, so a slow browser needs the
  /// memory of one piece.
  private func sendPiece(
    of file: OpenFile, _ range: Range<Int>, on context: ChannelHandlerContext, closes: Bool
  ) {
    expect(within: limits.idleTime, context)
    guard !range.isEmpty else { return end(on: context, closes: closes) }
    let count = min(range.count, Self.pieceBytes)
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    router.read(file, from: range.lowerBound, count, on: context.eventLoop).flatMap {
      bytes -> EventLoopFuture<Void> in
      let (handler, context) = bound.value
      let piece = context.channel.allocator.buffer(bytes: bytes)
      return context.writeAndFlush(handler.wrapOutboundOut(.body(.byteBuffer(piece))))
    }.whenComplete { result in
      let (handler, context) = bound.value
      guard case .success = result else { return context.close(promise: nil) }
      handler.sendPiece(of: file, range.dropFirst(count), on: context, closes: closes)
    }
  }

  private static let pieceBytes = 256 << 10

  private func end(on context: ChannelHandlerContext, closes: Bool) {
    expect(within: limits.idleTime, context)
    // A request that has already arrived is read while the end is written.
    if !closes { state = .idle }
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { result in
      guard case .success = result, !closes else { return bound.value.close(promise: nil) }
    }
  }

  private func write(_ part: HTTPServerResponsePart, _ context: ChannelHandlerContext) {
    context.write(wrapOutboundOut(part), promise: nil)
  }

  /// Starts the stream of events, to which `News` writes from now on.
  private func follow(_ context: ChannelHandlerContext) {
    deadline?.cancel()
    connections.follow(context.channel)
    let first = context.channel.allocator.buffer(string: Site.firstEvent)
    context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(first))), promise: nil)
  }

  /// Closes the connection if the expected event does not happen within this many seconds.
  private func expect(within seconds: Double, _ context: ChannelHandlerContext) {
    deadline?.cancel()
    let channel = context.channel
    deadline = context.eventLoop.scheduleTask(in: .milliseconds(Int64(seconds * 1_000))) {
      channel.close(promise: nil)
    }
  }
}
