public import Channel
internal import Git
internal import Membership
package import Notebook

extension Session {
  /// Holds a session on a connection that has just been authenticated, to its end, on this thread.
  ///
  /// - Parameter onEvent: is told what happens; called on this thread.
  /// - Returns: what was done.
  /// - Throws: `SyncError`, or what the notebook or the channel throws; the peer has been told why,
  ///   and what was not applied is forgotten.
  public static func run(
    on connection: Connection, as context: SessionContext,
    options: SessionOptions = SessionOptions(), onEvent: (Event) -> Void = { _ in }
  ) throws -> SessionResult {
    try withoutActuallyEscaping(onEvent) { report in
      let stream = MessageStream(connection: connection, timeouts: context.timeouts)
      do {
        let notebook = try Notebook.open(at: context.folder)
        let link = try DeviceLink(stream, as: context, notebook) { report(.progress($0)) }
        let keeper =
          options.keeper
          ?? DirectKeeper(context, allowsMassDeletion: options.allowsMassDeletion)
        let notebookID = context.membership.notebookID
        return try run(over: link, notebook, keeper, options) {
          report($0.happening(in: notebookID))
        }
      } catch {
        // Does nothing where the link has closed it.
        stream.close(after: error)
        throw error
      }
    }
  }

  /// Holds a session over a link, to its end, and closes it.
  package static func run(
    over link: any Link, _ notebook: Notebook, _ keeper: any SessionKeeper,
    _ options: SessionOptions = SessionOptions(), _ report: @escaping (Event) -> Void = { _ in }
  ) throws -> SessionResult {
    do {
      let session = try Session(link, notebook, keeper, options, report)
      let result = try session.run()
      link.close(.done)
      return result
    } catch let end as SessionEnd {
      link.close(end.reason)
      throw SyncError.ended(end.reason)
    } catch {
      link.close(after: error)
      if case GitError.unfit = error {
        // Somebody made it while the session began. The next one looks at everything.
        try? notebook.forgetPortableHistory()
      }
      if let error = error as? PackError { throw SyncError.packRefused(error) }
      throw error
    }
  }

  /// Ends a connection that has just been authenticated without a session, and tells the peer why.
  public static func refuse(
    _ connection: Connection, as context: SessionContext, because error: SyncError
  ) {
    MessageStream(connection: connection, timeouts: context.timeouts).close(after: error)
  }
}

/// A session was ended from here.
struct SessionEnd: Error {
  let reason: ByeReason
}
