internal import Membership
internal import NIOCore
internal import NIOPosix
internal import Notebook
internal import Synchronization

/// What is served: the notebook in a folder, to whom the gate lets in.
final class Site: Sendable {
  let folder: String
  let notebookID: String
  /// Where the sockets of watchers are; nil where the user has no such folder.
  let controlFolder: String?
  private let signer: VersionSigner
  let gate: Gate
  let guests: GuestBook
  let limits: WebLimits
  private let pool: NIOThreadPool
  private let waiting = Atomic(0)

  /// What a browser that follows what happens is told first: how soon to come back.
  static let firstEvent = "retry: 1000\nevent: ready\ndata:\n\n"

  init(
    folder: String, controlFolder: String?, signer: VersionSigner, gate: Gate, guests: GuestBook,
    pool: NIOThreadPool,
    limits: WebLimits
  ) throws {
    (self.folder, self.controlFolder) = (folder, controlFolder)
    (self.signer, self.gate) = (signer, gate)
    (self.guests, self.pool, self.limits) = (guests, pool, limits)
    notebookID = try Notebook.open(at: folder).identity.id
  }

  /// The notebook, whose versions are signed as those of every command, and name a guest who makes them.
  func notebook(for guest: Guest?) throws -> Notebook {
    let notebook = try Notebook.open(at: folder)
    notebook.signer = signer
    notebook.guest = guest?.name
    return notebook
  }

  /// What is said to whom a link let in. The browser goes on from a page of ours: it shows no cookie
  /// of ours in a chain that began elsewhere.
  static func welcome(to root: String, cookie: String) -> Response {
    let first = root + "/"
    let page: HTML = """
      <!doctype html>
      <html lang="en"><head><meta charset="utf-8"><title>notes</title>
      <meta http-equiv="refresh" content="0; url=\(first)"></head>
      <body><p><a href="\(first)">Go to the notebook</a></p></body></html>

      """
    var response = Response.page(page)
    response.headers.append(("Set-Cookie", cookie))
    return response
  }

  /// The answer, which a thread of the pool makes. Fails where too many requests wait.
  func answer(_ request: Request, on loop: any EventLoop) -> EventLoopFuture<Response> {
    guard waiting.add(1, ordering: .relaxed).newValue <= limits.waiting else {
      waiting.subtract(1, ordering: .relaxed)
      return loop.makeSucceededFuture(.plain(503, "Too much is asked at once. Try again."))
    }
    return pool.runIfActive(eventLoop: loop) { [self] in
      defer { waiting.subtract(1, ordering: .relaxed) }
      return Visit(site: self, request: request).answer()
    }
  }
}
