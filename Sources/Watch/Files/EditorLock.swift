internal import Git

/// The files that editors keep beside one that is open.
enum EditorLock {
  /// The name of the note that a lock file of this name is for, or nil when it is none: vim's
  /// `.NAME.swp`, emacs' `.#NAME`, LibreOffice's `.~lock.NAME#`.
  static func note(lockedBy file: TreePath) -> TreePath? {
    let bytes = file.bytes
    func starts(_ text: String) -> Bool { bytes.starts(with: text.utf8) }
    func ends(_ text: String) -> Bool { bytes.suffix(text.utf8.count).elementsEqual(text.utf8) }
    if starts(".~lock."), ends("#"), bytes.count > 8 {
      return TreePath(bytes: bytes.dropFirst(7).dropLast())
    }
    if starts(".#"), bytes.count > 2 { return TreePath(bytes: bytes.dropFirst(2)) }
    if starts("."), ends(".swp"), bytes.count > 5 {
      return TreePath(bytes: bytes.dropFirst().dropLast(4))
    }
    return nil
  }
}
