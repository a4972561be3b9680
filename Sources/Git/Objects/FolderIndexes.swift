/// Finds names in large folders that are searched repeatedly: searching from the first entry each
/// time would take minutes for 10,000 files.
struct FolderIndexes {
  private var searches: [ObjectID: Int] = [:]
  private var folders: [ObjectID: [TreePath: TreeEntry]] = [:]
  private var entries = 0
  /// The number of entries that were read in searches, whether or not they matched.
  private(set) var entriesRead = 0

  /// Smaller folders are not indexed.
  private static var leastBytes: Int { 4_096 }
  private static var leastSearches: Int { 16 }
  private static var mostEntries: Int { 2_000_000 }

  mutating func entry(
    _ name: TreePath, in tree: ObjectID, content: () throws -> [UInt8]
  ) throws -> TreeEntry? {
    if let known = folders[tree] { return known[name] }
    let content = try content()
    guard content.count >= Self.leastBytes else { return TreeBytes.entry(name, in: content) }
    searches[tree, default: 0] += 1
    guard searches[tree, default: 0] > Self.leastSearches,
      let all = TreeBytes.entries(content)
    else { return TreeBytes.entry(name, in: content) }
    if entries + all.count > Self.mostEntries { (folders, entries) = ([:], 0) }
    entries += all.count
    entriesRead += all.count
    // If a damaged tree has a file and a folder with the same name, the first counts.
    let index = Dictionary(all.map { $0.value(in: content) }.map { ($0.name, $0) }) { first, _ in
      first
    }
    folders[tree] = index
    return index[name]
  }
}
