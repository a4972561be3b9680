internal import Glibc

/// What a tree object of a peer may look like.
enum QuarantineTree {
  /// Checks names, modes and order of every entry.
  static func check(_ content: UnsafeRawBufferPointer, id: ObjectID) throws {
    guard let entries = TreeBytes.entries(content) else {
      throw PackError.refused(id, "a damaged tree")
    }
    var previous: TreeEntryBytes?
    for (position, entry) in entries.enumerated() {
      if let why = NameRules.problem(with: entry.name(in: content)) {
        throw PackError.refused(id, why)
      }
      guard hasAllowedMode(entry) else {
        throw PackError.refused(id, "an entry that is neither a file nor a folder")
      }
      if let previous {
        let order = previous.compare(
          in: content, with: entry.name(in: content), isTree: entry.isTree)
        guard order < 0 else {
          throw PackError.refused(id, order == 0 ? "a name twice" : "a tree out of order")
        }
      }
      if entry.isTree, isFile(entry, among: entries[..<position], in: content) {
        throw PackError.refused(id, "a name twice")
      }
      previous = entry
    }
  }

  /// Modes as git writes them, without a leading zero.
  private static func hasAllowedMode(_ entry: TreeEntryBytes) -> Bool {
    let length = entry.nameStart - 1 - entry.start
    switch entry.mode {
    case .regular, .executable: return length == 6
    case .tree: return length == 5
    default: return false
    }
  }

  /// Whether a file has the folder's name. Between the two in git's order stand only names that
  /// begin with it.
  private static func isFile(
    _ folder: TreeEntryBytes, among entries: ArraySlice<TreeEntryBytes>,
    in content: UnsafeRawBufferPointer
  ) -> Bool {
    let name = folder.name(in: content)
    for entry in entries.reversed() {
      let other = entry.name(in: content)
      guard other.count >= name.count, let left = name.baseAddress, let right = other.baseAddress,
        memcmp(left, right, name.count) == 0
      else { return false }
      if other.count == name.count { return true }
    }
    return false
  }
}
