public import Git
internal import History
public import Notebook

extension Notebook {
  /// How many versions are searched for the newest of each device.
  private static let searched = 2_000

  /// The newest version here that each of these devices has signed, by the versions' own dates. They are also
  /// known for devices that never connect to this one and exchange versions only by hubs or other devices.
  public func newestVersions(of devices: Set<String>) throws -> [String: Commit] {
    if devices.isEmpty { return [:] }
    var found: [String: Commit] = [:]
    var pending = [try state().tip].compactMap { $0 }
    var known = Set(pending)
    var next = 0
    let proofs = VersionProofs(in: self)
    defer { proofs.remember() }
    while next < pending.count, next < Self.searched {
      let commit = try repository.commit(pending[next])
      next += 1
      for parent in commit.parents where known.insert(parent).inserted { pending.append(parent) }
      guard let device = commit.deviceID, devices.contains(device) else { continue }
      // Anybody can write a device's address and a late date into a version.
      if found[device].map({ $0.author.time < commit.author.time }) ?? true,
        try proofs.author(of: commit).proof == .verified
      {
        found[device] = commit
      }
    }
    return found
  }
}
