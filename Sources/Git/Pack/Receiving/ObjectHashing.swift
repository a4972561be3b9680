internal import Synchronization
internal import System

/// Unpacked objects whose IDs two threads compute together. libgit2's SHA-1, which detects collisions, takes
/// most of the time of receiving the trees of a large folder.
struct ObjectHashing {
  private var objects: [(entry: Int, kind: ObjectKind, content: [UInt8])] = []
  private var bytes = 0
  private let limits: PackLimits

  /// The number of bytes from which a second thread is worth starting.
  private static let fullSize = 4 << 20

  /// The approximate memory of an object besides its content, in bytes.
  private static let overhead = 200

  init(_ limits: PackLimits) { self.limits = limits }

  var isFull: Bool { bytes >= Self.fullSize }

  mutating func add(_ entry: Int, _ kind: ObjectKind, _ content: [UInt8]) {
    objects.append((entry, kind, content))
    bytes += content.count + Self.overhead
  }

  /// Returns the added objects with their IDs, and empties the list.
  mutating func take() throws -> [(entry: Int, kind: ObjectKind, id: ObjectID)] {
    let work = Work(objects.map { ($0.kind, $0.content) }, limits)
    let helper = isFull ? HelperThread { work.share() } : nil
    work.share()
    helper?.join()
    let found = zip(objects, work.found.withLock { $0 })
    (objects, bytes) = ([], 0)
    return try found.map { object, id in
      (object.entry, object.kind, try id ?? limits.id(of: object.kind, object.content))
    }
  }

  private final class Work: Sendable {
    let found: Mutex<[ObjectID?]>
    private let objects: [(kind: ObjectKind, content: [UInt8])]
    private let limits: PackLimits
    private let next = Atomic(0)

    init(_ objects: [(kind: ObjectKind, content: [UInt8])], _ limits: PackLimits) {
      (self.objects, self.limits) = (objects, limits)
      found = Mutex([ObjectID?](repeating: nil, count: objects.count))
    }

    func share() {
      while case let place = next.add(1, ordering: .relaxed).oldValue, place < objects.count {
        // If no ID can be computed, it is computed again later, which throws the reason.
        let id = try? limits.id(of: objects[place].kind, objects[place].content)
        found.withLock { $0[place] = id }
      }
    }
  }
}
