package import Git
package import State
internal import System
internal import WorkTree

/// The versions of which something was found that is true for ever, in a file of `.git/notes/cache`: their IDs,
/// sorted, 20 bytes each.
///
/// An ID stands for the version's bytes and all that it was made of. Without the file it is found again.
package struct VersionMemory {
  /// The kinds of facts about versions that are kept.
  package enum Kind {
    /// They are signed by the devices that they name, whoever is a member.
    case verified
    /// They are derived merges that hold what their versions merge to.
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

  /// The facts that were found so far; none if the file is not there or cannot be read.
  package init(_ kind: Kind, in state: StateFolder) {
    path = state[kind.file]
    stored = Disk.contentIfAny(path) ?? []
  }

  package func contains(_ id: ObjectID) -> Bool {
    let place = (0..<count).partitionPoint { self.id(at: $0) < id }
    return place < count && self.id(at: place) == id || new.contains(id)
  }

  package mutating func insert(_ id: ObjectID) { new.insert(id) }

  /// Keeps what was inserted. If that fails, it is verified again.
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
