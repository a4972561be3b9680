package import Git
package import State
internal import System
internal import WorkTree

/// Versions about which a permanent fact was found, in a file of `.git/notes/cache`: their IDs, sorted, 20
/// bytes each.
///
/// An ID covers the version's bytes and its whole history. If the file is lost, the facts are found again.
package struct VersionMemory {
  /// The kinds of facts.
  package enum Kind {
    /// The version is signed by the device that it names, whether or not that device is a member.
    case verified
    /// The derived merge is equal to the computed merge of its versions.
    case merges

    var file: StateFolder.File {
      switch self {
      case .verified: .verified
      case .merges: .merges
      }
    }
  }

  private let path: String
  private let stored: [UInt8]
  private var new: Set<ObjectID> = []

  /// The facts found so far; none if the file is missing or unreadable.
  package init(_ kind: Kind, in state: StateFolder) {
    path = state[kind.file]
    stored = Disk.contentIfAny(path) ?? []
  }

  package func contains(_ id: ObjectID) -> Bool {
    let place = (0..<count).partitionPoint { self.id(at: $0) < id }
    return place < count && self.id(at: place) == id || new.contains(id)
  }

  package mutating func insert(_ id: ObjectID) { new.insert(id) }

  /// Writes the inserted IDs to the file. If that fails, they are verified again.
  package mutating func save() {
    if new.isEmpty { return }
    new.formUnion((0..<count).map(id))
    var bytes: [UInt8] = []
    bytes.reserveCapacity(new.count * ObjectID.byteCount)
    for id in new.sorted() { id.appendBytes(to: &bytes) }
    Disk.keep(bytes, at: path)
    self = VersionMemory(path: path, stored: bytes)
  }

  private init(path: String, stored: [UInt8]) { (self.path, self.stored) = (path, stored) }

  private var count: Int { stored.count / ObjectID.byteCount }

  private func id(at place: Int) -> ObjectID {
    ObjectID(in: stored.span.bytes, at: place * ObjectID.byteCount) ?? .zero
  }
}
