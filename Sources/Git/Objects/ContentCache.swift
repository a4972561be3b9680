/// An object's kind and content.
public typealias StoredObject = (kind: ObjectKind, data: [UInt8])

/// The contents that were read last, up to a number of bytes; the oldest are dropped first. A merge compares the same
/// tree with each head, and unpacking a tree of 10,000 notes takes longer than comparing it. The capacity grows, up to
/// a limit, so that the longest delta chain of git fits.
struct ContentCache<Key: Hashable> {
  private var contents: [Key: StoredObject] = [:]
  private var order: [Key] = []
  private var first = 0
  private var bytes = 0
  private var capacity: Int
  private let limit: Int

  /// git's own packs have chains of 50 deltas (pack.depth).
  private static var longestChain: Int { 50 }
  /// A content larger than the capacity divided by this is not cached.
  private static var largestPart: Int { 4 }
  // The bytes that an entry takes besides its content.
  private static var overhead: Int { 128 }

  /// - Parameter limit: the most bytes that the capacity may grow to.
  init(capacity: Int, limit: Int? = nil) {
    self.capacity = capacity
    self.limit = max(limit ?? capacity, capacity)
  }

  subscript(key: Key) -> StoredObject? { contents[key] }

  mutating func keep(_ object: StoredObject, for key: Key) {
    capacity = max(capacity, min(limit, object.data.count * (Self.longestChain + 1)))
    guard object.data.count <= capacity / Self.largestPart,
      contents.updateValue(object, forKey: key) == nil
    else { return }
    order.append(key)
    bytes += object.data.count + Self.overhead
    while bytes > capacity, first < order.count {
      bytes -= contents.removeValue(forKey: order[first]).map { $0.data.count + Self.overhead } ?? 0
      first += 1
    }
    if first > 4096 {
      order.removeFirst(first)
      first = 0
    }
  }
}
