internal import System

/// Objects in memory that are stored together in one pack. The trees of a folder are deltas, except the first: the
/// trees of 10,000 versions of 10,000 notes have 4.5 GB, and differ in a few bytes.
final class PackedWrites {
  private struct Entry {
    let kind: ObjectKind
    /// The object, or a delta.
    let bytes: [UInt8]
    /// The tree that a delta applies to.
    var base: ObjectID?
    /// The whole tree at the beginning of its chain of deltas, and the chain's length.
    var first: ObjectID?
    var depth = 0
  }

  private var entries: [ObjectID: Entry] = [:]
  private var order: [ObjectID] = []
  /// The tree that was written last for each folder.
  private var latest: [TreePath: ObjectID] = [:]
  private var cache = ContentCache<ObjectID>(capacity: 4 << 20, limit: 32 << 20)
  private var size = 0

  private static let fullSize = 8 << 20
  // git's own limit (pack.depth).
  private static let longestChain = 50
  /// A delta is stored only if it saves at least this part of the tree: a half.
  private static let worthwhileShare = 2
  /// The memory that an object takes besides its bytes.
  private static let overhead = 200

  /// Whether the objects in memory are so large that they should be stored now.
  var isFull: Bool { size >= Self.fullSize }

  func contains(_ id: ObjectID) -> Bool { entries[id] != nil }

  /// - Parameter folder: the folder of a tree.
  func add(_ kind: ObjectKind, _ content: [UInt8], id: ObjectID, of folder: TreePath?) {
    var entry = Entry(kind: kind, bytes: content)
    if let folder {
      if let delta = delta(of: content, to: latest[folder]) { entry = delta }
      latest[folder] = id
    }
    if kind == .tree { cache.keep((kind, content), for: id) }
    entries[id] = entry
    order.append(id)
    size += entry.bytes.count + Self.overhead
  }

  private func delta(of content: [UInt8], to former: ObjectID?) -> Entry? {
    guard var base = former, let known = entries[base] else { return nil }
    if known.depth >= Self.longestChain, let first = known.first { base = first }
    guard let old = object(base)?.data, let delta = PackDelta.tree(from: old, to: content),
      delta.count < content.count / Self.worthwhileShare
    else { return nil }
    return Entry(
      kind: .tree, bytes: delta, base: base, first: entries[base]?.first ?? base,
      depth: (entries[base]?.depth ?? 0) + 1)
  }

  /// The object with this ID; nil if it is not here.
  func object(_ id: ObjectID) -> StoredObject? {
    if let known = cache[id] { return known }
    guard let entry = entries[id] else { return nil }
    guard let base = entry.base else { return (entry.kind, entry.bytes) }
    // The recursion ends, because a chain has at most 50 deltas.
    guard let old = object(base),
      let content = PackDelta.applied(entry.bytes, to: old.data, limit: .max)
    else { return nil }
    return (entry.kind, content)
  }

  func store(in repository: Repository) throws {
    if order.isEmpty { return }
    let pack = try NewPack(in: repository)
    var piece = try PackPiece(of: pack)
    for id in order {
      guard let entry = entries[id] else { continue }
      try piece.add(id, entry.kind, entry.bytes, deltaAgainst: entry.base)
      if piece.isFull { try pack.append(&piece) }
    }
    try pack.append(&piece)
    try pack.finish(in: repository)
  }
}

extension Repository {
  /// Runs `body`, which must not move a reference, and durably stores all objects that it writes, in packs.
  /// Stores a pack each time that enough objects are in memory, and at the end.
  package func withPackedWrites(_ body: () throws -> Void) throws {
    packed = PackedWrites()
    defer { packed = nil }
    try body()
    try packed?.store(in: self)
  }

  /// Stores the objects in memory if they are many.
  func storePackedIfFull() throws {
    guard let full = packed, full.isFull else { return }
    try full.store(in: self)
    packed = PackedWrites()
  }

  /// Runs `body`. Until it ends, git-repack(1) does not touch the packs that `body` makes, even after `body`
  /// moves a reference. For objects that no reference of this repository will name.
  package func keepingPacks<Result>(_ body: () throws -> Result) rethrows -> Result {
    keepsPacks = true
    defer {
      keepsPacks = false
      unreferenced = []
    }
    return try body()
  }
}
