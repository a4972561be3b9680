import Exchange
import Git
import History
import Merge
import Notebook
import System
import TestSupport

/// A bare repository that some devices of a world meet at, which have no other link.
final class CrowdHub {
  /// The devices that know it.
  let members: [Int]
  /// How often its branch was moved, how often by a version that only leads it forward, and how often
  /// somebody was faster.
  private(set) var counts: [String: Int] = [:]
  private let hub: Hub
  private let path: String
  private(set) var tip: ObjectID?

  init(in folder: String, for members: [Int]) throws {
    self.members = members
    path = folder + "/" + Self.name
    hub = Hub(name: "hub", url: path)
    let made = try run(["git", "init", "--quiet", "--bare", "--template=", "-b", "main", path])
    guard made.isSuccess else { throw CrowdWorld.Violation(description: "\(made)") }
  }

  /// Its folder's name in that of a world.
  static let name = "hub.git"

  /// Visits it for a device, as a sync does.
  ///
  /// - Parameter meanwhile: what others do between the look at its branch and the push.
  func visit(
    for device: CrowdDevice, meanwhile: @escaping () throws -> Void = {}
  ) throws {
    let link = try HubLink(to: hub, from: device.notebook, by: GitProgram())
    _ = try Session.run(
      over: RacedLink(link, before: meanwhile), device.notebook, CrowdKeeper(device))
    try look(from: device)
  }

  /// "The branch of a hub only moves forward": notes-merge(7), "Hubs".
  private func look(from device: CrowdDevice) throws {
    guard
      let present = ObjectID(
        hex: String(decoding: try readFile(path + "/refs/heads/main").prefix(40), as: UTF8.self))
    else { throw CrowdWorld.Violation(description: "the hub has no branch") }
    guard present != tip else { return }
    let repository = device.notebook.repository
    if let tip, try !repository.isAncestor(tip, of: present) {
      throw CrowdWorld.Violation(description: "the hub's branch went from \(tip) to \(present)")
    }
    counts["moves of a hub's branch", default: 0] += 1
    if try HubMerge.isOne(repository.commit(present), in: repository) {
      counts["versions that lead a hub forward", default: 0] += 1
    }
    tip = present
  }

  func countRace() { counts["races at a hub", default: 0] += 1 }

  /// What must hold when all is quiet: it holds the tip of all, with all of its history.
  func check(holds tip: ObjectID?) throws {
    guard self.tip == tip else {
      throw CrowdWorld.Violation(
        description: "the hub holds \(self.tip?.hex ?? "nothing"), not \(tip?.hex ?? "nothing")")
    }
    let check = try run(["git", "-C", path, "fsck", "--strict", "--no-dangling"])
    guard check.isSuccess else { throw CrowdWorld.Violation(description: "\(check)") }
  }
}

/// A link, and what others do before this side gives what it has.
private final class RacedLink: Link {
  private let link: HubLink
  private var before: (() throws -> Void)?

  init(_ link: HubLink, before: @escaping () throws -> Void) {
    (self.link, self.before) = (link, before)
  }

  func next(until deadline: Instant?) throws -> LinkEvent? {
    let others = before
    before = nil
    try others?()
    return try link.next(until: deadline)
  }

  var peer: PeerIdentity { link.peer }
  var isRemembered: Bool { link.isRemembered }
  var isGiving: Bool { link.isGiving }
  var waker: @Sendable () -> Void { link.waker }
  var isWaitingForOthers: Bool {
    get { link.isWaitingForOthers }
    set { link.isWaitingForOthers = newValue }
  }
  func count(into state: inout PeerState) { link.count(into: &state) }
  func open(showing own: Shown, _ options: SessionOptions) throws -> LinkTerms {
    try link.open(showing: own, options)
  }
  func fetch(_ wanted: [ObjectID], known: [ObjectID]) throws {
    try link.fetch(wanted, known: known)
  }
  func judge(_ heads: [ObjectID], _ commit: (ObjectID) throws -> [UInt8]) throws {
    try link.judge(heads, commit)
  }
  func answerForOwn() throws -> Bool { try link.answerForOwn() }
  func show(_ shown: Shown) { link.show(shown) }
  func answer(_ shown: Shown, heard: Int, received: Int, conflicts: Int, refusal: MergeRefusal?) {
    link.answer(shown, heard: heard, received: received, conflicts: conflicts, refusal: refusal)
  }
  func tell(_ remark: LinkRemark) { link.tell(remark) }
  func whileBusy<Result>(
    onTick: () -> Void, _ body: @escaping () throws -> Result
  ) throws -> Result { try link.whileBusy(onTick: onTick, body) }
  func close(_ reason: ByeReason) { link.close(reason) }
  func close(after error: any Error) { link.close(after: error) }
}
