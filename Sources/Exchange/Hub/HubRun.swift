public import Git
internal import History
internal import Membership
public import Notebook
internal import State
public import System

/// The part of `notes sync` for hubs: fetches from each in turn, merges, and pushes.
public struct HubRun: Sendable {
  private let context: SessionContext
  /// The hubs to visit.
  public var hubs: [Hub]
  /// The options of the sessions.
  public var options = SessionOptions()
  /// The git program for access to the hubs.
  public var program = GitProgram()
  /// Whether to merge a history that has nothing in common with the notebook's.
  public var allowsUnrelated = false

  /// The hubs' versions from before a forgetting on this device, by the hubs' names: `knownTips`.
  public var replaced: [String: ObjectID] = [:]

  /// A visit to these hubs.
  public init(context: SessionContext, hubs: [Hub]) {
    self.context = context
    self.hubs = hubs
  }

  /// Visits the hubs and adds the results to the outcome; a failure at one does not stop the others.
  /// Throws if no hub can be visited at all, or `SyncError.stopped` when cancelled.
  public func run(
    addingTo outcome: inout SyncOutcome, cancellation: CancellationToken? = nil,
    onEvent: @escaping (Event) -> Void = { _ in }
  ) throws {
    if hubs.isEmpty { return }
    let notebook = try context.notebook()
    let keeper = options.keeper ?? DirectKeeper(context, options)
    // A removed device gets an error before any hub is visited.
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
  /// The hubs' versions at the last visits that this notebook has with all their history, by the
  /// hubs' names.
  public static func knownTips(in notebook: Notebook) throws -> [String: ObjectID] {
    let repository = notebook.repository
    guard let own = try notebook.state().tip, let branch = try repository.head().branch else {
      return [:]
    }
    var found: [String: ObjectID] = [:]
    for hub in try notebook.hubs() {
      // A hub with two branches must be fetched first.
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
  /// Whether edits made here may leave this device without another device to vouch for them. A
  /// reader's edits, or those of a device that has not joined yet, stay here, as every member would
  /// refuse them. Throws `MembershipError` if this device was removed.
  func mayGive() throws -> Bool {
    if isGuest { return false }
    _ = try credentials()
    return membership.role(ofDevice: key.deviceID).map { $0 != .reader } ?? false
  }

  /// Whether this device has a clone of the notebook and may become a member: it was never one, or it was removed and
  /// has asked again by a link or a file. It can only read.
  public var isGuest: Bool {
    let status = membership.status(ofDevice: key.deviceID)
    if status.role != nil { return false }
    return !status.isRemoved
      || AskedAdmission(in: StateFolder(ofNotebookIn: folder))?.isOpen == true
  }
}
