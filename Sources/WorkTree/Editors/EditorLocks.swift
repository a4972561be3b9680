internal import CLinux
package import Git
internal import Glibc
internal import System

/// The lock files that editors make beside an open file.
package enum EditorLock {
  private static let affixes = [(".~lock.", "#"), (".#", ""), (".", ".swp")]

  /// The name of the note to which a lock file belongs; nil if this is not the name of a lock file. Lock files
  /// are vim's and nano's `.NAME.swp`, emacs' `.#NAME`, and LibreOffice's `.~lock.NAME#`.
  package static func note(lockedBy file: TreePath) -> TreePath? {
    for (start, end) in affixes {
      let note = file.bytes.dropFirst(start.utf8.count).dropLast(end.utf8.count)
      if !note.isEmpty, file.bytes.elementsEqual(Array(start.utf8) + note + Array(end.utf8)) {
        return TreePath(bytes: note)
      }
    }
    return nil
  }

  /// Whether an editor has a note open, judged by a lock file beside it.
  package static func isOpen(_ note: TreePath, in folder: String) -> Bool {
    birth(of: note, in: folder) != nil
  }

  /// When the editor that has a note open made its lock file, in nanoseconds since 1970: the oldest time
  /// if there are several. Nil if there is no lock file, if its editor has ended, or if the file system
  /// does not record the time.
  static func birth(of note: TreePath, in folder: String) -> Int64? {
    let parent = note.parent.map { $0.bytes + [UInt8(ascii: "/")] } ?? []
    func time(_ start: String, _ end: String, _ process: ([CChar]) -> Int32?) -> Int64? {
      let whole = Array("\(folder)/".utf8) + parent + Array(start.utf8) + note.name.bytes
      let name = (whole + Array(end.utf8)).map { CChar(bitPattern: $0) } + [0]
      let birth = notes_birth_time(name, 0)
      guard birth >= 0, let process = process(name), process > 0,
        kill(process, 0) == 0 || errno == EPERM
      else { return nil }
      return birth
    }
    return [time(".", ".swp", processOfSwapFile), time(".#", "", processOfLink)]
      .compactMap { $0 }.min()
  }

  /// The ID of the process that made a swap file in vim's format: it is at offset 24.
  private static func processOfSwapFile(_ name: [CChar]) -> Int32? {
    let file = Counted.open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var header = [UInt8](repeating: 0, count: 28)
    guard Glibc.read(file, &header, header.count) == header.count,
      header.starts(with: Array("b0".utf8))
    else { return nil }
    return header[24...].reversed().reduce(Int32(0)) { $0 << 8 | Int32($1) }
  }

  /// The ID of the process that made a link in emacs' format: `USER@HOST.PROCESS:BOOT`.
  private static func processOfLink(_ name: [CChar]) -> Int32? {
    var target = [CChar](repeating: 0, count: 512)
    let count = readlink(name, &target, target.count)
    guard count > 0 else { return nil }
    let text = target[..<count].map { UInt8(bitPattern: $0) }.prefix { $0 != UInt8(ascii: ":") }
    guard let dot = text.lastIndex(of: UInt8(ascii: ".")) else { return nil }
    return Int32(String(decoding: text[(dot + 1)...], as: UTF8.self))
  }
}
