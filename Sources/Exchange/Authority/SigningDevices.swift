internal import Git
internal import History
internal import Notebook
internal import System

/// Which devices sign: those of which a signed version is here, or is among what came. It is asked only
/// where a version came unsigned in a device's name.
///
/// What was found in the history is kept in `.git/notes/signers`, a cache: without it the history is
/// looked through again.
struct SigningDevices {
  private let notebook: Notebook
  private let heads: [ObjectID]
  /// Those of the history, and those of what came; nil until they are asked for.
  private var known: [String: ObjectID]?
  private var arrived: Set<String>?

  /// Of what came these are the heads.
  init(in notebook: Notebook, heads: [ObjectID]) { (self.notebook, self.heads) = (notebook, heads) }

  mutating func contains(_ deviceID: String, _ content: VersionJudge.Reader) throws -> Bool {
    if try first(by: deviceID) != nil { return true }
    let arrived = try self.arrived ?? ofArrived(content)
    self.arrived = arrived
    return arrived.contains(deviceID)
  }

  /// The first version here that a device has signed.
  mutating func first(by deviceID: String) throws -> ObjectID? {
    let known = try self.known ?? ofHistory()
    self.known = known
    return known[deviceID]
  }

  private var path: String { notebook.stateFolder + "/signers" }

  private func ofHistory() throws -> [String: ObjectID] {
    let repository = notebook.repository
    guard let tip = try repository.head().commit else { return [:] }
    let lines = StateLines(parsing: (try? Disk.readIfThere(path)) ?? [])
    let seen = try lines["seen"].flatMap { ObjectID(hex: $0) }
      .flatMap { try repository.contains($0) ? $0 : nil }
    var found: [String: ObjectID] = [:]
    for line in lines.lines where seen != nil && line.key != "seen" {
      found[line.key] = ObjectID(hex: line.value)
    }
    if seen == tip { return found }
    let walk = try repository.walk(
      from: [tip], hiding: seen.map { [$0] } ?? [], order: .oldestFirst)
    while let id = try walk.next() {
      let commit = try repository.commit(id)
      guard let named = commit.deviceID, found[named] == nil else { continue }
      if try JudgedCommit(id, repository.object(id).data).isSignedByItsDevice { found[named] = id }
    }
    var new = StateLines(["seen": tip])
    for (device, id) in found.sorted(by: { $0.key < $1.key }) { new.append(device, id.hex) }
    try? Disk.replace(path, with: new.bytes, waits: false)
    return found
  }

  private func ofArrived(_ content: VersionJudge.Reader) throws -> Set<String> {
    var found: Set<String> = []
    var (pending, seen) = (heads, Set(heads))
    let shown = try notebook.repository.head().commit
    while let id = pending.popLast() {
      if id == shown { continue }
      if try notebook.repository.contains(id), let shown,
        try notebook.repository.isAncestor(id, of: shown)
      {
        continue
      }
      let commit = try JudgedCommit(id, content(id))
      pending += commit.value.parents.filter { seen.insert($0).inserted }
      guard let named = commit.value.deviceID, !found.contains(named) else { continue }
      if try commit.isSignedByItsDevice { found.insert(named) }
    }
    return found
  }
}
