public import Git
internal import Glibc
internal import WorkTree

extension History {
  /// The notes of the folder that fit a query, the best first; unsaved text counts.
  ///
  /// - Parameter progress: called now and then with how many of how many files are done.
  public func search(
    _ query: SearchQuery, progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> [SearchHit] {
    let rules = IgnoreRules(repository: repository)
    var index: IndexFile?
    let listing = try FolderListing(folder: workTree.folder) { path, hasIgnoreFile in
      guard rules.mayExclude(hasIgnoreFile) else { return false }
      let known = try index ?? workTree.indexFile()
      index = known
      return try !known.containsFolder(path) && rules.isIgnored(path, isFolder: true)
    }
    let search = try FolderSearch(
      query, folder: workTree.folder, listing: listing, sizeLimit: workTree.sizeLimit)
    let total = listing.items.count
    var hits = try search.run { progress($0, total) }
    hits = hits.filter { !SkipRules.isDebris($0.path.name.bytes) }
    if rules.mayExclude(listing.hasIgnoreFile) {
      // Few files are found: asking for these alone is cheaper than for all.
      let known = Set(try workTree.indexFile().entries.map(\.path))
      hits = try hits.filter {
        try known.contains($0.path) || !rules.isIgnored($0.path, isFolder: false)
      }
    }
    return hits.sorted(by: SearchHit.precedes)
  }

  /// The notes that fit a query no more, and those that are deleted and fitted it: each once, as its
  /// last version that did; the best first.
  ///
  /// - Parameters:
  ///   - present: the paths of notes that fit it now, which are left out.
  ///   - progress: called now and then with the number of versions looked at.
  public func searchHistory(
    _ query: SearchQuery, except present: Set<TreePath>, progress: (Int) -> Void = { _ in }
  ) throws -> [SearchHit] {
    let patterns = try SearchPatterns(query)
    let standing = try presentPaths()
    // The present or last path of the note that a former path belongs to.
    var last: [TreePath: TreePath] = [:]
    var settled = present
    var seen: Set<ObjectID> = []
    var hits: [SearchHit] = []
    var count = 0
    try forEachVersion { version in
      count += 1
      progress(count)
      for change in version.changes where change.path.isNote {
        let note = last[change.path] ?? change.path
        if let former = change.formerPath { last[former] = note }
        guard let blob = change.new, !settled.contains(note) else { continue }
        let inTitle = change.path.bytes.withUnsafeBytes { path in
          let title = TreePath.titleRange(inPath: path) ?? 0..<path.count
          return patterns.termsFound(inTitle: UnsafeRawBufferPointer(rebasing: path[title]))
        }
        let isTitleHit = !inTitle.contains(false)
        // A text that did not fit does not fit under the same title either.
        guard isTitleHit || (!query.isTitleOnly && seen.insert(blob).inserted) else { continue }
        let text = try repository.blob(blob)
        text.withUnsafeBytes { bytes in
          guard isTitleHit || patterns.holdsRest(bytes, inTitle: inTitle) else { return }
          var hit = SearchHit(
            change.path, bytes, modified: version.commit.author.time, inTitle: inTitle,
            patterns: patterns)
          hit.former = SearchHit.Former(
            version: version.commit.id, isDeleted: !standing.contains(note))
          hits.append(hit)
          settled.insert(note)
        }
      }
      return true
    }
    return hits.sorted(by: SearchHit.precedes)
  }

  /// The paths of the files that stand in the folder and are versioned or would be.
  func presentPaths() throws -> Set<TreePath> {
    let found = try workTree.scan()
    var paths = Set(try workTree.indexFile().entries.filter { $0.mode.isFile }.map(\.path))
    for entry in found.deleted { paths.remove(entry.path) }
    for candidate in found.candidates { paths.insert(candidate.path) }
    return paths
  }
}
