internal import Git
internal import Notebook
internal import System

/// The versions that were found to be signed by the devices that they name, in
/// `.git/notes/cache/verified`: their IDs, sorted, 20 bytes each.
///
/// An ID stands for the version's bytes and so for its signature, whoever is a member: what was verified
/// once is verified for ever. Without the file the signatures are verified again.
struct VerifiedVersions {
  private let path: String
  private let stored: [UInt8]
  private var new: Set<ObjectID> = []

  /// What was found so far; nothing where the file is not there or cannot be read.
  init(in stateFolder: String) {
    path = stateFolder + "/cache/verified"
    stored = (try? Disk.readIfThere(path)) ?? []
  }

  func contains(_ id: ObjectID) -> Bool {
    let place = (0..<count).partitionPoint { self.id(at: $0) < id }
    return place < count && self.id(at: place) == id || new.contains(id)
  }

  mutating func insert(_ id: ObjectID) { new.insert(id) }

  /// Keeps what was inserted. Where that fails, it is verified again.
  mutating func save() {
    if new.isEmpty { return }
    new.formUnion((0..<count).map(id))
    var bytes: [UInt8] = []
    bytes.reserveCapacity(new.count * ObjectID.byteCount)
    for id in new.sorted() { id.appendBytes(to: &bytes) }
    try? Disk.makeFolder(Disk.parent(of: path), mode: 0o777)
    try? Disk.replace(path, with: bytes, isShared: true, waits: false)
    self = VerifiedVersions(path: path, stored: bytes)
  }

  private init(path: String, stored: [UInt8]) { (self.path, self.stored) = (path, stored) }

  private var count: Int { stored.count / ObjectID.byteCount }

  private func id(at place: Int) -> ObjectID {
    ObjectID(in: stored.span.bytes, at: place * ObjectID.byteCount) ?? .zero
  }
}
