public import Git

/// Why a file in the folder is not versioned, or one that is versioned is not in the folder.
public enum SkipReason: Hashable, Codable, Sendable {
  case symbolicLink
  /// A socket, a pipe or a device.
  case specialFile
  /// Larger than the limit: its size in bytes.
  case tooLarge(size: Int)
  /// It could not be read: the error number.
  case unreadable(errno: Int32)
  /// A folder with a repository of its own.
  case nestedRepository
  /// Its name is one that no device takes from another: why.
  case unfitName(why: String)
  /// It kept changing while it was read; a later save gets it.
  case changing
  /// It is versioned, but the file system does not take its name, or takes it for another note's.
  case sparse
}

/// A file that is not versioned, or not in the folder, and why.
public struct SkippedFile: Hashable, Codable, Sendable {
  /// Where it is, or would be, in the folder; a folder's path where all in it is left out.
  public let path: TreePath
  /// Why it is left out.
  public let reason: SkipReason

  package init(path: TreePath, reason: SkipReason) {
    self.path = path
    self.reason = reason
  }
}

/// Which files are never notes.
public enum SkipRules {
  /// The largest file that is versioned, in bytes: 50 MiB, as git hosts take them without a word.
  public static let defaultSizeLimit = 50 << 20

  /// Whether a name is what editors and desktops leave behind: backups, swap and lock files,
  /// half-written files (notes-merge(7), "Files that are not versioned").
  package static func isDebris(_ name: some Collection<UInt8>) -> Bool {
    guard let first = name.first else { return true }
    func ends(_ suffix: StaticString) -> Bool {
      name.count >= suffix.utf8CodeUnitCount
        && name.suffix(suffix.utf8CodeUnitCount).elementsEqual(bytes(suffix))
    }
    func begins(_ prefix: StaticString) -> Bool { name.starts(with: bytes(prefix)) }
    func bytes(_ text: StaticString) -> UnsafeBufferPointer<UInt8> {
      UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }
    // vim: swap files `.NAME.swp` and its successors `.swo`, `.swx`, …; the file it tries a folder's
    // permissions with is called 4913.
    if first == UInt8(ascii: "."), name.count > 5 {
      let tail = Array(name.suffix(4))
      if tail[0] == UInt8(ascii: "."), tail[1] == UInt8(ascii: "s"), tail[2] == UInt8(ascii: "w"),
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(tail[3])
      {
        return true
      }
    }
    if name.elementsEqual(bytes("4913")) { return true }
    // Backups (vim, emacs, nano, gedit), emacs' autosaves and locks, LibreOffice's locks.
    if ends("~") || (first == UInt8(ascii: "#") && ends("#")) || begins(".#") { return true }
    if begins(".~lock.") && ends("#") { return true }
    // Half-written files of tools that rename when done, and the desktop's own.
    if ends(".tmp") || begins(".goutputstream-") || ends(".part") || ends(".crdownload") {
      return true
    }
    return name.elementsEqual(bytes(".DS_Store")) || name.elementsEqual(bytes("Thumbs.db"))
      || name.elementsEqual(bytes("desktop.ini")) || begins(".fuse_hidden") || begins(".nfs0")
  }
}
