internal import CLinux
package import Git
internal import Glibc
internal import System

// Files that cannot be in a version because every device would refuse them: notes-merge(7), "Files
// that are too large".
extension FolderAccess {
  /// Whether a file exceeds the limit of all devices.
  static func isTooLarge(_ status: stat) -> Bool {
    status.st_mode & S_IFMT == S_IFREG && Int(status.st_size) > PackLimits.standard.objectBytes
  }

  /// The size of the file at that path if it exceeds the limit of all devices; otherwise, or if there is no
  /// file, nil.
  package func excessiveSize(of path: TreePath) throws -> Int? {
    try status(of: path).flatMap { Self.isTooLarge($0) ? Int($0.st_size) : nil }
  }

  /// Gives a file that was swapped out of the folder a free name beside the note's place.
  package func setAside(_ file: String, beside path: TreePath) throws {
    var number = 1
    while true {
      let place = Self.name(number, beside: path)
      let isMoved = try withParent(of: place, create: true) { parent, name in
        if notes_renameat2(AT_FDCWD, file, parent, name, NOTES_RENAME_NOREPLACE) == 0 {
          return true
        }
        if errno == EEXIST { return false }
        // On file systems that cannot promise to replace nothing, a check comes first.
        if errno == EINVAL || errno == ENOSYS {
          if Counted.faccessat(parent, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 { return false }
          if renameat(AT_FDCWD, file, parent, name) == 0 { return true }
        }
        throw WorkTreeError.file(call: "rename", path: place.description, errno: errno)
      }
      if isMoved == true { return }
      number += 1
    }
  }

  /// `NAME (too large).EXT`, `NAME (too large 2).EXT`, and so on, shortened to the longest allowed
  /// name.
  private static func name(_ number: Int, beside path: TreePath) -> TreePath {
    let name = path.name.bytes
    let dot = name.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 > name.startIndex ? $0 : nil }
    let ending = name[(dot ?? name.endIndex)...].prefix(32)
    let mark = Array((number == 1 ? " (too large)" : " (too large \(number))").utf8)
    var stem = name[..<(dot ?? name.endIndex)].prefix(
      NameRules.longestName - mark.count - ending.count)
    // Cuts at a whole character.
    if stem.endIndex < (dot ?? name.endIndex) {
      while let last = stem.last, last & 0xc0 == 0x80 { stem.removeLast() }
      if let last = stem.last, last >= 0xc0 { stem.removeLast() }
    }
    let new = TreePath(bytes: Array(stem) + mark + Array(ending))
    return path.parent.map { $0.appending(new) } ?? new
  }
}
