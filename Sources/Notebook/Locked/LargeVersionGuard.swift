internal import Git
internal import History
internal import WorkTree

/// The guard against versions that would fill the disk: notes-protocol(7), "Large versions". A few
/// bytes can describe many files of 64 MiB each, all equal.
struct LargeVersionGuard {
  let workTree: WorkTree
  let options: MergeOptions

  /// Smaller versions need no question and no check of the disk.
  private static var smallest: Int { 1 << 20 }

  func check(checkoutFrom former: ObjectID?, to tip: ObjectID) throws {
    guard options.operation == .receive, !options.allowsLarge else { return }
    let repository = workTree.repository
    var sizes: [ObjectID: Int] = [:]
    var bytes = 0
    for change in try repository.changes(
      from: former.map { try repository.commit($0).tree }, to: repository.commit(tip).tree)
    {
      guard let file = change.new, file.mode.isFile else { continue }
      let size = try sizes[file.id] ?? repository.header(of: file.id).size
      sizes[file.id] = size
      bytes += size
    }
    if bytes <= min(Self.smallest, options.unaskedBytes) { return }
    let free = try workTree.freeBytes()
    guard bytes <= options.unaskedBytes, bytes <= free / 2 else {
      throw NotebookError.largeVersion(bytes: bytes, free: free)
    }
  }
}
