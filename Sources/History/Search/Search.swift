public import Git
internal import Glibc
internal import WorkTree

extension History {
  /// The notes in the folder that match a query, the best first, including unsaved text. `progress`
  /// is called with the numbers of finished and of all files.
  public func search(
    _ query: SearchQuery, progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> [SearchHit] {
    let index = try workTree.indexFile()
    let rules = try IgnoreRules(of: workTree, index: index)
    let listing = try FolderListing(folder: workTree.folder) { path, hasIgnoreFile in
      guard !index.containsFolder(path) else { return false }
      return try workTree.isHidden(path)
        || rules.mayExclude(hasIgnoreFile) && rules.isIgnored(path, isFolder: true)
    }
    let paths = listing.files.filter(query.covers)
    let search = try FolderSearch(
      query, folder: workTree.folder, paths: paths, sizeLimit: workTree.sizeLimit)
    let hits = try search.run { progress($0, paths.count) }
    // Exclude files that are not notes of the notebook. Usually few files match, so checking the hits costs less than
    // checking all files.
    return try hits.filter { hit in
      if SkipRules.isDebris(hit.path.name.bytes) { return false }
      if let position = index.position(of: hit.path) {
        // Skip a file in a waiting note's place: it is not the note.
        return try !index.skipsWorktree(at: position) || workTree.absence(of: hit.path) == nil
      }
      return try !workTree.isHidden(hit.path)
        && !(rules.mayExclude(listing.hasIgnoreFile) && rules.isIgnored(hit.path, isFolder: false))
    }.sorted(by: SearchHit.precedes)
  }

  /// The notes that matched a query in the past and do not match now, and deleted notes that matched:
  /// each once, with its last matching version; the best first. Notes in `present` are left out.
  /// `progress` is called with the number of searched versions.
  public func searchHistory(
    _ query: SearchQuery, except present: Set<TreePath>, progress: (Int) -> Void = { _ in }
  ) throws -> [SearchHit] {
    let patterns = try SearchPatterns(query)
    let standing = Set(try presentFiles().map(\.path))
    // For a former path, the note's present or last path.
    var last: [TreePath: TreePath] = [:]
    var settled = present
    var seen: Set<ObjectID> = []
    var hits: [SearchHit] = []
    var count = 0
    try forEachVersion { version in
      count += 1
      progress(count)
      for change in version.changes {
        guard query.covers(change.path), let inTitle = patterns.termsFound(inTitleOf: change.path)
        else { continue }
        let note = last[change.path] ?? change.path
        if let former = change.formerPath { last[former] = note }
        guard let blob = change.new, !settled.contains(note) else { continue }
        let isTitleHit = !inTitle.contains(false)
        // Each text is searched once. If the title has all terms, the version matches whatever its text is.
        guard isTitleHit || (!query.isTitleOnly && seen.insert(blob).inserted) else { continue }
        let text = patterns.prepare(try repository.blob(blob))
        guard patterns.holdsRest(text, inTitle: inTitle) else { continue }
        var hit = SearchHit(
          change.path, text, modified: version.commit.author.time, inTitle: inTitle,
          patterns: patterns)
        hit.former = SearchHit.Former(
          version: version.commit.id, isDeleted: !standing.contains(note))
        hits.append(hit)
        settled.insert(note)
      }
      return true
    }
    return hits.sorted(by: SearchHit.precedes)
  }
}
