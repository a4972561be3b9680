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
  let peer: PeerIdentity
  let isGiving = false
  let traffic = Traffic()
  var isWaitingForOthers = false
  let waker: @Sendable () -> Void = {}
  private let theirs: Shown
  private let source: Repository
  private let here: Repository
  private var arrived: Quarantine?

  init(to other: CrowdDevice, showing heads: [ObjectID], from here: Repository) {
    let name = "DEVICE\(other.number)"
    peer = PeerIdentity(name: name, deviceID: name, role: .writer, address: "")
    theirs = Shown(tip: heads.first, heads: heads)
    source = other.served
    self.here = here
  }

  func open(showing own: Shown, _ options: SessionOptions) -> LinkTerms {
    LinkTerms(
      theirs: theirs,
      exchange: SessionRules.Terms(gives: false, takes: true, owesAnswers: false, ends: true))
  }

  func fetch(_ wanted: [ObjectID], known: [ObjectID]) throws {
    let writer = try source.pack(wants: wanted, haves: known.filter { try source.contains($0) })
    let quarantine = try here.quarantine()
    while let piece = try writer.next() { try quarantine.append(piece) }
    arrived = quarantine
  }

  func next(until deadline: Instant?) -> LinkEvent? {
    defer { arrived = nil }
    return arrived.map { .arrived($0) }
  }

  func show(_ shown: Shown) {}
  func answer(_ shown: Shown, heard: Int, received: Int, conflicts: Int, refusal: MergeRefusal?) {}
  func tell(_ remark: LinkRemark) {}
  func whileBusy<Result>(
    onTick: () -> Void, _ body: @escaping () throws -> Result
  ) throws -> Result { try body() }
  func close(_ reason: ByeReason) {}
  func close(after error: any Error) {}
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

  func begin(_ session: SessionHandle) throws { try sessions.begin(session) }
  func end(_ session: SessionHandle) { _ = sessions.end(session) }
  func update(_ state: PeerState, of session: SessionHandle) {}
}
