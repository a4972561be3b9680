internal import Git
internal import History

/// The result of collecting garbage.
public struct GarbageCollection: Sendable {
  /// How many objects went into a new pack.
  public let objectsPacked: Int
  /// The bytes of the objects on the disk before.
  public let bytesBefore: Int
  /// The bytes of the objects now.
  public let bytesAfter: Int
  /// How many versions that git dropped are kept no longer.
  public internal(set) var versionsReleased = 0

  /// How long versions that git dropped are kept, in days: as long as git keeps the lines of a branch's
  /// log (gc.reflogExpire).
  public static let keepingDays = 90

  /// From how many loose objects on a command packs them, or from how many bytes of them on that are
  /// also this part of what the packs have: every thirty versions of 10,000 notes in one folder, whose
  /// list is stored anew each time, and every few hundred of a small notebook.
  static let looseObjectLimit = 2_000
  static let looseByteLimit = 12 << 20
  static let loosePart = 4
  /// Packs beyond this are merged with their like.
  static let packLimit = 10
  /// From how many packs on a command does so: each push of another device leaves a small one.
  static let packsDue = 100
}

extension Notebook {
  /// Whether so many loose objects have gathered that packing them pays.
  public var isGarbageCollectionDue: Bool {
    let loose = repository.looseObjects(isEstimated: true)
    let packs = repository.replaceablePacks()
    let packed = packs.reduce(0) { $0 + $1.size }
    return loose.count >= GarbageCollection.looseObjectLimit
      || loose.bytes >= max(GarbageCollection.looseByteLimit, packed / GarbageCollection.loosePart)
      || packs.count >= GarbageCollection.packsDue
  }

  /// Packs all that is stored into one pack, with deltas. Nothing is dropped, not even what nothing
  /// leads to any more: whoever looked at it may want it back. Versions that git dropped long ago are
  /// kept no longer, so that git's own collection removes them.
  ///
  /// - Parameter progress: how many objects are packed, of how many.
  /// - Returns: nil when git or another command is at it.
  public func collectGarbage(progress: (Int, Int) -> Void = { _, _ in }) throws
    -> GarbageCollection?
  {
    var collected = try collect(progress: progress) { packs, loose in
      packs.count > 1 || loose > 0 ? packs : []
    }
    if collected != nil { collected?.versionsReleased = try releaseDropped() }
    return collected
  }

  /// Lets go of versions that git dropped, where they are history again or were noticed long ago.
  ///
  /// - Returns: how many versions nothing keeps any more.
  private func releaseDropped() throws -> Int {
    let latest = clock.now().seconds - Int64(GarbageCollection.keepingDays) * 86_400
    guard !(try DroppedVersions.all(in: repository).isEmpty) else { return 0 }
    return try withWriterLock { _ in
      let kept = try DroppedVersions.all(in: repository)
      let tip = try repository.head().commit
      let isBack = { (dropped: DroppedVersions) in
        try tip.map { try self.repository.isAncestor(dropped.newest, of: $0) } ?? false
      }
      let old = try kept.filter { try $0.time < latest || isBack($0) }
      for dropped in old { try repository.delete(reference: dropped.reference) }
      let staying = try repository.references(under: "refs/").map(\.id) + [tip].compactMap { $0 }
      return try repository.commits(
        // References that name no version hold none.
        from: old.map(\.newest), lacking: staying.filter { (try? repository.commit($0)) != nil }
      ).count
    }
  }

  /// Packs the loose objects, and merges small packs with their like when there are many: work that
  /// follows what was added since, not the notebook's size.
  public func collectGarbageIncrementally() throws -> GarbageCollection? {
    try collect(progress: { _, _ in }) { packs, _ in
      packs.count < GarbageCollection.packLimit ? [] : Self.packsToMerge(packs)
    }
  }

  /// The smallest packs such that each pack left is at least as large as all smaller ones together:
  /// then an object is packed again only when what holds it has doubled.
  static func packsToMerge(_ packs: [StoredPack]) -> [StoredPack] {
    var sum = 0
    var merged = 0
    for (position, pack) in packs.enumerated() {
      if pack.size < sum || position == 0 { merged = position + 1 }
      sum += pack.size
    }
    return merged > 1 ? Array(packs.prefix(merged)) : []
  }

  private func collect(
    progress: (Int, Int) -> Void, choose: ([StoredPack], _ loose: Int) -> [StoredPack]
  ) throws -> GarbageCollection? {
    guard let lock = try GCLock(repository) else { return nil }
    defer { withExtendedLifetime(lock) {} }
    let loose = repository.looseObjects()
    let before = loose.bytes + packedBytes
    let packs = choose(repository.replaceablePacks(), loose.count)
    let packed = try repository.repack(packs, progress: progress)
    let after = repository.looseObjects().bytes + packedBytes
    return GarbageCollection(objectsPacked: packed, bytesBefore: before, bytesAfter: after)
  }

  private var packedBytes: Int { repository.replaceablePacks().reduce(0) { $0 + $1.size } }
}
