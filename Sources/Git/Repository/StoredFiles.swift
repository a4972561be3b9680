internal import Glibc
internal import System

/// A pack of the repository.
public struct StoredPack: Sendable {
  /// The path of its files without their suffixes.
  let path: String
  /// The size of the pack file in bytes.
  public let size: Int
}

extension Repository {
  /// The number of loose objects, and their disk space in bytes. An estimate reads every eighth folder,
  /// as IDs are evenly distributed.
  public func looseObjects(isEstimated: Bool = false) -> (count: Int, bytes: Int) {
    let step = isEstimated ? 8 : 1
    var count = 0
    var bytes = 0
    for folder in stride(from: UInt8(0), through: 255 - UInt8(step - 1), by: step) {
      for id in loose.ids(inFolder: folder) {
        var status = stat()
        guard Counted.lstat(loose.path(of: id), &status) == 0 else { continue }
        count += 1
        // stat(2) counts blocks of 512 bytes.
        bytes += Int(status.st_blocks) * 512
      }
    }
    return (count * step, bytes * step)
  }

  /// Removes unfinished object files of git, libgit2 and notes that are so old that no program is still
  /// writing them.
  func removeUnfinishedObjects() {
    let root = loose.folder
    for folder in [root] + (0...255).map({ root + "/" + String(hexadecimal: [$0]) }) {
      for name in Disk.namesIfAny(in: folder)
      where name.hasPrefix("tmp_obj_") || name.hasPrefix("tmp_object_git2_") {
        let path = folder + "/" + name
        var status = stat()
        if Counted.lstat(path, &status) == 0, WallClock.age(of: status) > Self.longestWriting {
          unlink(path)
        }
      }
    }
  }

  private static var longestWriting: Int { 86_400 }  // seconds

  /// The packs that may be replaced, smallest first: all without a .keep file. Empty if there is a multi-pack
  /// index (git-multi-pack-index(1)).
  public func replaceablePacks() -> [StoredPack] {
    let folder = packFolder
    let names = Set(Disk.namesIfAny(in: folder))
    guard !names.contains("multi-pack-index") else { return [] }
    return names.compactMap { name -> StoredPack? in
      guard name.hasPrefix("pack-"), name.hasSuffix(".idx") else { return nil }
      let stem = String(name.dropLast(4))
      var status = stat()
      // .mtimes: git's pack of unreachable objects, with the times for pruning.
      guard ![".keep", ".promisor", ".mtimes"].contains(where: { names.contains(stem + $0) }),
        Counted.lstat(folder + "/" + stem + ".pack", &status) == 0
      else { return nil }
      return StoredPack(path: folder + "/" + stem, size: Int(status.st_size))
    }.sorted { ($0.size, $0.path) < ($1.size, $1.path) }
  }

  /// Removes a pack's files: the index first, so that no program finds an index without a pack.
  func remove(_ pack: StoredPack) {
    for suffix in [".idx", ".rev", ".bitmap", ".pack"] { unlink(pack.path + suffix) }
  }
}
