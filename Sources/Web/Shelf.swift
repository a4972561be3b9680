internal import Membership
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// All that is served: a notebook, or several, each below a path of its own.
final class Shelf: Sendable {
  let gate: Gate
  let notebooks: ServedNotebooks
  let limits: WebLimits
  private let pool: NIOThreadPool
  private let waiting = Atomic(0)

  init(_ notebooks: ServedNotebooks, gate: Gate, pool: NIOThreadPool, limits: WebLimits) {
    (self.notebooks, self.gate, self.pool, self.limits) = (notebooks, gate, pool, limits)
  }

  /// The response, which a thread of the pool makes. Fails where too many requests wait.
  ///
  /// - Parameter site: the notebook that is asked; nil for the list of them.
  func respond(
    to request: Request, at site: Site?, on loop: any EventLoop
  ) -> EventLoopFuture<Response> {
    guard waiting.add(1, ordering: .relaxed).newValue <= limits.waiting else {
      waiting.subtract(1, ordering: .relaxed)
      return loop.makeSucceededFuture(.plain(503, "Too much is asked at once. Try again."))
    }
    return pool.runIfActive(eventLoop: loop) { [self] in
      defer { waiting.subtract(1, ordering: .relaxed) }
      guard let site else {
        return ShelfPage(notebooks: notebooks, request: request).response()
      }
      return Visit(site: site, request: request).response()
    }
  }

  /// What is said to whom a link let in. The browser goes on from a page of ours: it shows no cookie
  /// of ours in a chain that began elsewhere.
  static func welcome(to root: String, cookie: String) -> Response {
    let first = root + "/"
    let page: HTML = """
      <!doctype html>
      <html lang="en"><head><meta charset="utf-8"><title>notes</title>
      <meta http-equiv="refresh" content="0; url=\(first)"></head>
      <body><p><a href="\(first)">Go to the notes</a></p></body></html>

      """
    var response = Response.page(page)
    response.headers.append(("Set-Cookie", cookie))
    return response
  }
}
