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
    let visit = try HubVisit(to: hub, from: device.notebook, CrowdKeeper(device), by: GitProgram())
    visit.meanwhile = meanwhile
    _ = try visit.run()
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
