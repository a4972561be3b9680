import Exchange
import Git
import History
import Membership
import Notebook
import System
import WorkTree

/// The link to what another device of the same process showed at some time: it gives, takes nothing,
/// and is never late.
final class RepositoryLink: Link {
  let isGiving = false
  let traffic = Traffic()
  let waker: @Sendable () -> Void = {}
  private let source: Repository
  private let here: Repository
  private var arrived: Quarantine?

  init(to other: CrowdDevice, from here: Repository) {
    source = other.served
    self.here = here
  }

  func send(_ message: LinkMessage) throws {
    guard case .want(let wanted, let known) = message else { return }
    let writer = try source.pack(wants: wanted, haves: known.filter { try source.contains($0) })
    let quarantine = try here.quarantine()
    while let piece = try writer.next() { try quarantine.append(piece) }
    arrived = quarantine
  }

  func next(until deadline: Instant?, isPatient: Bool) -> LinkEvent? {
    defer { arrived = nil }
    return arrived.map { .arrived($0) }
  }

  func give(_ pack: PackSender) {}
  func whileBusy<Result>(
    onTick: () -> Void, _ body: @escaping () throws -> Result
  ) throws -> Result { try body() }
  func close(after error: (any Error)?) {}
}

/// Merges for a device of the crowd, whose world saves when it wants to.
///
/// Sendable although the notebook is not: a world and its sessions are on one thread.
final class CrowdKeeper: SessionKeeper, @unchecked Sendable {
  let sessions: SessionTable
  private let notebook: Notebook

  init(_ device: CrowdDevice) {
    sessions = SessionTable(ownDevice: "DEVICE\(device.number)")
    notebook = device.notebook
  }

  func currentState() throws -> (state: NotebookState, replaced: PortableVersion?) {
    (try notebook.state(), nil)
  }

  func merge(
    _ heads: [ObjectID], from peer: PeerIdentity, meter: WorkMeter
  ) throws -> MergeOutcome {
    try notebook.merge(heads, options: MergeOptions(allowsMassDeletion: true))
  }
}
