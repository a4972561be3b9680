internal import Git
internal import History

/// The result of a garbage collection.
public struct GarbageCollection: Sendable {
  /// The number of objects in the new pack.
  public let objectsPacked: Int
  /// The size of the objects on the disk before.
  public let bytesBefore: Int
  /// The size of the objects now.
  public let bytesAfter: Int
  /// How many versions that git dropped are no longer kept.
  public internal(set) var versionsReleased = 0

  /// How long versions that git dropped are kept, in days: as long as git keeps the lines of a branch's
  /// log (gc.reflogExpire).
  public static let keepingDays = 90

  /// A command packs loose objects if there are more than this number of them, or if their size exceeds both
  /// limits below: a number of bytes, and a part of the packs' size. For a folder with 10,000 notes that is
  /// about every thirty versions, because each version stores the folder's list again. For a small notebook it
  /// is every few hundred versions.
  static let looseObjectLimit = 2_000
  static let looseByteLimit = 12 << 20
  static let loosePart = 4
  /// Beyond this number, packs are merged.
  static let packLimit = 10
  /// The number of packs from which a command merges them: each push of another device leaves a
  /// small one.
  static let packsDue = 100
}

extension Notebook {
  /// Whether so many objects are loose that packing them is worthwhile.
  public var isGarbageCollectionDue: Bool {
    let loose = repository.looseObjects(isEstimated: true)
    let packs = repository.replaceablePacks()
    let packed = packs.reduce(0) { $0 + $1.size }
    return loose.count >= GarbageCollection.looseObjectLimit
      || loose.bytes >= max(GarbageCollection.looseByteLimit, packed / GarbageCollection.loosePart)
      || packs.count >= GarbageCollection.packsDue
  }

  /// Packs all objects into one pack, with deltas. Deletes nothing, not even unreachable objects: somebody may
  /// want them back. No longer keeps versions that git dropped long ago, so git's own collection removes them.
  ///
  /// - Parameter progress: called with the numbers of packed objects and of all objects.
  /// - Returns: nil if git or another command is packing.
  public func collectGarbage(progress: (Int, Int) -> Void = { _, _ in }) throws
    -> GarbageCollection?
  {
    var collected = try collect(progress: progress) { packs, loose in
      packs.count > 1 || loose > 0 ? packs : []
    }
    if collected != nil { collected?.versionsReleased = try releaseDropped() }
    return collected
  }

  /// Deletes the references to dropped versions that are in the history again, or whose drop was noticed more
  /// than `keepingDays` ago.
  ///
  /// - Returns: how many versions no reference keeps any more.
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
        // References to things other than versions do not keep any.
        from: old.map(\.newest), lacking: staying.filter { (try? repository.commit($0)) != nil }
      ).count
    }
  }

  /// Packs the loose objects, and merges small packs if there are many: the cost depends on the new
  /// objects, not on the notebook's size.
  public func collectGarbageIncrementally() throws -> GarbageCollection? {
    try collect(progress: { _, _ in }) { packs, _ in
      packs.count < GarbageCollection.packLimit ? [] : Self.packsToMerge(packs)
    }
  }

  /// The smallest packs, as many as needed so that each remaining pack is at least as large as all smaller ones
  /// together. So an object is packed again only after its pack's size has doubled.
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
