internal import Glibc

extension Repository {
  /// Puts all loose objects and those of `packs` into one new pack, then removes the files and packs that it
  /// replaces. Returns the number of objects; it drops none. Each object is read back from the new pack to be
  /// indexed. The pack is durable before anything is removed, so readers always find an object.
  ///
  /// - Parameter progress: called with the number of packed objects and of all objects.
  public func repack(_ packs: [StoredPack], progress: (Int, Int) -> Void = { _, _ in }) throws
    -> Int
  {
    removeQuarantineLeftovers()
    removeUnfinishedObjects()
    let (kinds, loose) = try objectsToPack(in: packs)
    guard !kinds.isEmpty else { return 0 }
    let folder = try QuarantineFolder(for: self)
    let pack = try write(kinds, to: folder, progress: progress)
    let packed = Set(pack.all.map(\.id))
    guard packed.isSuperset(of: kinds.keys) else { throw PackError.malformed("it lacks objects") }
    let new = try adopt(pack, from: folder)
    for id in loose where packed.contains(id) { unlink(self.loose.path(of: id)) }
    for old in packs where old.path != new { remove(old) }
    close()
    return kinds.count
  }

  /// The objects to pack with their kinds, and the loose ones among them. A loose file damaged by a
  /// power cut stays where it is.
  private func objectsToPack(in packs: [StoredPack]) throws -> ([ObjectID: ObjectKind], [ObjectID])
  {
    var kinds: [ObjectID: ObjectKind] = [:]
    for pack in packs {
      guard let index = PackIndexFile(pack.path + ".idx") else {
        throw PackError.malformed("its index is damaged")
      }
      for position in 0..<index.count {
        let id = index.id(at: position)
        kinds[id] = try header(of: id).kind
      }
    }
    let loose = self.loose.ids().filter { id in
      if kinds[id] != nil { return true }
      // An unreadable object stays where it is.
      guard let object = try? object(id) else { return false }
      kinds[id] = object.kind
      return true
    }
    return (kinds, loose)
  }

  private func write(
    _ objects: [ObjectID: ObjectKind], to folder: QuarantineFolder, progress: (Int, Int) -> Void
  ) throws -> ReceivedObjects {
    let plan = try PackPlan(repacking: objects, repository: self)
    let writer = try PackWriter(repository: self, plan: plan, mayNameOutsiders: false)
    let pack = try ReceivedPack(in: folder.packs, for: self, limits: .own)
    while let piece = try writer.next() {
      try piece.withUnsafeBytes { try pack.append($0) }
      progress(writer.objectsWritten, objects.count)
    }
    return try pack.finish()
  }
}
