internal import Git
internal import Membership
internal import Notebook
internal import State
internal import System

/// For each device that lost the right to make versions: this device's tip at the time when it learned of that.
/// The file is `.git/notes/former-writers`, lines with a device and the tip. A clock can be set to any time,
/// but a version that was here before the removal was made before it.
struct FormerWriters {
  private let repository: Repository
  private var tips: [String: ObjectID]

  /// Reads the record, and adds the present tip for each new former writer. Called before anything is
  /// received.
  init(_ signers: [String: Signer], in notebook: Notebook) throws {
    repository = notebook.repository
    let path = notebook.stateFolder[.formerWriters]
    let stored = try Disk.lines(of: path) ?? StateLines()
    var known: [String: ObjectID] = [:]
    for line in stored.lines {
      guard let tip = ObjectID(hex: line.value) else {
        throw StateDamage(path, "a line is no version")
      }
      known[line.key] = tip
    }
    let former = signers.values.filter { $0.isFormer }.map(\.deviceID)
    var tips = known.filter { signers[$0.key]?.isFormer == true }
    if former.contains(where: { tips[$0] == nil }), let tip = try repository.head().commit {
      for device in former where tips[device] == nil { tips[device] = tip }
    }
    self.tips = tips
    if tips == known { return }
    var lines = StateLines()
    for (device, tip) in tips.sorted(by: { $0.key < $1.key }) { lines.append(device, tip.hex) }
    do {
      try Disk.replace(path, with: lines.bytes, isShared: true)
    } catch {
      // A reader on a read-only medium receives nothing new: the next call has the same result.
    }
  }

  /// Whether a version of a device was here when the device lost its right to make versions. True without a
  /// record, for instance if this device got the notebook later.
  func hadBefore(_ id: ObjectID, by device: String) throws -> Bool {
    guard let tip = tips[device], try repository.contains(tip) else { return true }
    return try repository.isAncestor(id, of: tip)
  }
}

extension Signer {
  /// Whether the device was a writer and no longer is.
  var isFormer: Bool { if case .former = right { true } else { false } }
}
