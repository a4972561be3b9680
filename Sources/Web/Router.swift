internal import Membership
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// Everything that is served: one notebook, or several with separate paths.
final class Router: Sendable {
  let gate: Gate
  let notebooks: ServedNotebooks
  let limits: WebLimits
  private let pool: NIOThreadPool
  private let waiting = Atomic(0)

  init(_ notebooks: ServedNotebooks, gate: Gate, pool: NIOThreadPool, limits: WebLimits) {
    (self.notebooks, self.gate, self.pool, self.limits) = (notebooks, gate, pool, limits)
  }

  /// The response, made on a thread of the pool. Fails if too many requests wait.
  ///
  /// - Parameters:
  ///   - admission: the visitor and the notebook; checked again when the request is handled.
  ///   - request: the request of an admitted visitor.
  func respond(
    to admission: @escaping @Sendable () -> Gate.Verdict, on loop: any EventLoop,
    _ request: @escaping @Sendable (Gate.Admission) -> Request
  ) -> EventLoopFuture<Response> {
    guard waiting.add(1, ordering: .relaxed).newValue <= limits.waiting else {
      waiting.subtract(1, ordering: .relaxed)
      return loop.makeSucceededFuture(.plain(503, "Too many requests at once. Try again."))
    }
    return pool.runIfActive(eventLoop: loop) { [self] in
      defer { waiting.subtract(1, ordering: .relaxed) }
      switch admission() {
      case .allowed(let admission):
        let request = request(admission)
        guard let site = admission.site else {
          return NotebooksPage(notebooks: notebooks, request: request).response()
        }
        return RequestContext(site: site, request: request).response()
      case .refused(401, let text): return Self.closed(text)
      case .refused(let status, let text): return .plain(status, text)
      case .opened, .authority, .style: return .plain(404, "There is no such page.")
      }
    }
  }

  /// Bytes of a file, read on a thread of the pool. Fails if the file no longer has them.
  func read(
    _ file: OpenFile, from place: Int, _ count: Int, on loop: any EventLoop
  ) -> EventLoopFuture<[UInt8]> {
    pool.runIfActive(eventLoop: loop) {
      guard let bytes = file.read(from: place, count) else { throw Refusal.away }
      return bytes
    }
  }

  /// The answer to a visitor without access, with a text that says what to do.
  static func closed(_ text: String) -> Response {
    let page = HTML.document("No access – notes", root: "") {
      """
      <div class="pane-note"><main id="main" tabindex="-1" class="page">
      <h1>No access with this link</h1>
      <p role="alert">\(text)</p>
      </main></div>
      """
    }
    return .page(page, status: 401)
  }

  /// The page for a visitor admitted by a link. The browser continues from this page because it sends no
  /// same-site cookie in a chain of redirects that began on another site.
  static func welcome(to root: String, cookie: String?) -> Response {
    let first = root + "/"
    let page: HTML = """
      <!doctype html>
      <html lang="en"><head><meta charset="utf-8"><title>notes</title>
      <meta http-equiv="refresh" content="0; url=\(first)"></head>
      <body><p><a href="\(first)">Go to the notes</a></p></body></html>

      """
    var response = Response.page(page)
    if let cookie { response.headers.append(("Set-Cookie", cookie)) }
    return response
  }
}
