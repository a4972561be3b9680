internal import Glibc
internal import System

/// The mark of a pack that no reference leads to yet: `pack-ID.keep`, which git-repack(1) and git-gc(1) leave
/// alone with its pack. It is there before the pack is, goes when a reference leads there, and says in which
/// quarantine the pack arrived: what a killed process left goes with the leftovers of that.
struct KeptPack {
  /// The path of the pack's files without their suffixes.
  let pack: String

  private var path: String { pack + Self.suffix }

  private static let suffix = ".keep"
  private static let words = "arriving in notes/incoming/"

  /// Marks it; false where somebody has marked it already, whose mark stays.
  func put(for folder: String) throws -> Bool {
    let text = Self.words + Self.name(of: folder) + "\n"
    do {
      try Disk.create(path, Array(text.utf8), mode: 0o444, waits: false)
      return true
    } catch GitError.system(_, _, EEXIST) {
      return false
    }
  }

  /// Takes the mark of this quarantine away.
  func remove(for folder: String) {
    if Self.quarantine(in: path) == Self.name(of: folder) { unlink(path) }
  }

  private static func name(of folder: String) -> String {
    folder.split(separator: "/").last.map(String.init) ?? ""
  }

  /// The quarantine that a mark speaks of; nil for one that is not ours.
  private static func quarantine(in path: String) -> String? {
    guard let line = ReferenceFile.firstLine(of: path), line.hasPrefix(words) else { return nil }
    return String(line.dropFirst(words.count))
  }

  /// Takes away the marks of quarantines whose process is gone.
  static func removeLeftovers(in repository: Repository) {
    let folder = repository.packFolder
    for name in Disk.namesIfAny(in: folder) where name.hasSuffix(suffix) {
      guard let quarantine = quarantine(in: folder + "/" + name), !quarantine.contains("/")
      else { continue }
      let lock = QuarantineFolder.root(of: repository) + "/" + quarantine + "/lock"
      if !Disk.isLocked(lock) { unlink(folder + "/" + name) }
    }
  }
}
