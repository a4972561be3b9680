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
  /// The options of the sessions.
  public var options = SessionOptions()
  /// The program that reaches them.
  public var program = GitProgram()
  /// Whether a history that shares nothing with the notebook's is merged.
  public var allowsUnrelated = false

  /// The versions from before something was forgotten here that hubs held, by their names: `knownTips`.
  public var replaced: [String: ObjectID] = [:]

  /// A visit to these hubs.
  public init(context: SessionContext, hubs: [Hub]) {
    self.context = context
    self.hubs = hubs
  }

  /// Visits them and adds what came of it to the outcome; what goes wrong with one does not stop the
  /// others. Throws where nothing can be done with any, or `SyncError.stopped` when cancelled.
  public func run(
    addingTo outcome: inout SyncOutcome, cancellation: CancellationToken? = nil,
    onEvent: @escaping (Event) -> Void = { _ in }
  ) throws {
    if hubs.isEmpty { return }
    let notebook = try context.notebook()
    let keeper = options.keeper ?? DirectKeeper(context, options)
    // A device that was removed is told so before any hub is asked.
    _ = try context.mayGive()
    var program = program
    program.cancellation = cancellation
    if options.allowsLarge { program.memoryBytes *= 8 }
    for hub in hubs {
      do {
        let visit = try HubVisit(
          to: hub, from: notebook, keeper, by: program, as: context, options,
          allowsUnrelated: allowsUnrelated, replacing: replaced[hub.name], report: onEvent)
        let result = try visit.run()
        outcome.sessions.append(result)
        onEvent(.finished(result))
      } catch SyncError.stopped {
        throw SyncError.stopped
      } catch {
        let failure = SyncFailure(
          peer: PeerIdentity(hub: hub.name, at: hub.url), address: hub.shownURL, error: error)
        outcome.failures.append(failure)
        onEvent(.failed(failure))
      }
    }
    outcome.tip = try notebook.state().tip
    for index in outcome.sessions.indices { outcome.sessions[index].tip = outcome.tip }
  }
}

extension Hub {
  /// The versions that hubs held at the last visits and that this notebook has with all their history, by their names.
  public static func knownTips(in notebook: Notebook) throws -> [String: ObjectID] {
    let repository = notebook.repository
    guard let own = try notebook.state().tip, let branch = try repository.head().branch else {
      return [:]
    }
    var found: [String: ObjectID] = [:]
    for hub in try notebook.hubs() {
      // One with two branches is looked at first.
      let seen = try repository.references(under: "refs/remotes/\(hub.name)/")
      guard seen.count == 1, let seen = seen.first,
        seen.name == "refs/remotes/\(hub.name)/\(branch)", try repository.contains(seen.id),
        try repository.isAncestor(seen.id, of: own)
      else { continue }
      found[hub.name] = seen.id
    }
    return found
  }
}

extension SessionContext {
  /// Whether edits made here may leave this device where no other device vouches for them: those of a
  /// reader, or of a device that is no member yet, stay with it, as no member would take them. Throws
  /// `MembershipError` if this device was removed.
  func mayGive() throws -> Bool {
    if isGuest { return false }
    _ = try credentials()
    return membership.role(ofDevice: key.deviceID).map { $0 != .reader } ?? false
  }

  /// Whether this device has a clone of the notebook and was never a member: it may read.
  public var isGuest: Bool {
    let status = membership.status(ofDevice: key.deviceID)
    return status.role == nil && !status.isRemoved
  }
}
