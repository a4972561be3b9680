internal import Glibc
internal import System

/// The mark of a pack without a reference to it yet: `pack-ID.keep`, which makes git-repack(1) and
/// git-gc(1) ignore the pack. It is made before the pack and removed when a reference leads to the
/// pack. It names the quarantine in which the pack arrived: if a process is killed, the mark is
/// removed together with that quarantine's leftovers.
struct KeptPack {
  /// The path of the pack's files without their suffixes.
  let pack: String

  private var path: String { pack + Self.suffix }

  private static let suffix = ".keep"
  private static let words = "arriving in notes/incoming/"

  /// Marks the pack; returns false if it already has a mark, which is not changed.
  func put(for folder: String) throws -> Bool {
    let text = Self.words + Self.name(of: folder) + "\n"
    do {
      try Disk.create(path, Array(text.utf8), mode: 0o444, waits: false)
      return true
    } catch GitError.system(_, _, EEXIST) {
      return false
    }
  }

  /// Removes the mark of this quarantine.
  func remove(for folder: String) {
    if Self.quarantine(in: path) == Self.name(of: folder) { unlink(path) }
  }

  private static func name(of folder: String) -> String {
    folder.split(separator: "/").last.map(String.init) ?? ""
  }

  /// The quarantine that a mark names; nil if notes did not make the mark.
  private static func quarantine(in path: String) -> String? {
    guard let line = ReferenceFile.firstLine(of: path), line.hasPrefix(words) else { return nil }
    return String(line.dropFirst(words.count))
  }

  /// Removes the marks of quarantines whose process has ended.
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
