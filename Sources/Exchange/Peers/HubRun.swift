public import Git
internal import History
internal import Membership
public import Notebook
public import System

/// The hubs' part of a run of `notes sync`: one after the other is fetched from, merged, and pushed to.
public struct HubRun: Sendable {
  private let context: SessionContext
  /// Which hubs.
  public var hubs: [Hub]
  /// What the sessions do.
  public var options = SessionOptions()
  /// What reaches them.
  public var program = GitProgram()
  /// Whether a history that shares nothing with the notebook's is merged.
  public var allowsUnrelated = false

  /// A visit to these hubs.
  public init(context: SessionContext, hubs: [Hub]) {
    self.context = context
    self.hubs = hubs
  }

  /// Visits them and adds what came of it to the outcome; what goes wrong with one does not stop the
  /// others. Throws where nothing can be done with any, or `SyncError.stopped` when cancelled.
  public func run(
    addingTo outcome: inout SyncOutcome, cancellation: CancellationToken? = nil,
    onEvent: (Event) -> Void = { _ in }
  ) throws {
    if hubs.isEmpty { return }
    let notebook = try Notebook.open(at: context.folder)
    let keeper = options.keeper ?? DirectKeeper(context, options)
    var hubOptions = HubOptions()
    hubOptions.allowsUnrelated = allowsUnrelated
    hubOptions.cancellation = cancellation
    hubOptions.gives = try mayGive()
    var program = program
    program.cancellation = cancellation
    for hub in hubs {
      do {
        let result = try withoutActuallyEscaping(onEvent) { report in
          let link = try HubLink(
            to: hub, from: notebook, by: program, hubOptions, report: report)
          return try Session.run(over: link, notebook, keeper, options, report)
        }
        outcome.sessions.append(result)
        onEvent(.finished(result))
      } catch SyncError.stopped {
        throw SyncError.stopped
      } catch {
        let failure = SyncFailure(
          peer: PeerIdentity(hub: hub.name, at: hub.url), address: hub.url, error: error)
        outcome.failures.append(failure)
        onEvent(.failed(failure))
      }
    }
    outcome.tip = try notebook.state().tip
    for index in outcome.sessions.indices { outcome.sessions[index].tip = outcome.tip }
  }

  /// Whether what is written here may leave this device: what a reader writes stays with it, as no
  /// member would take it. Throws `MembershipError` where this device is no member.
  private func mayGive() throws -> Bool {
    _ = try context.credentials()
    return context.membership.role(ofDevice: context.key.deviceID).map { $0 != .reader } ?? false
  }
}
