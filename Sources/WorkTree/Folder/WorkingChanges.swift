public import Git
internal import Glibc
internal import System

/// The kind of change of a file.
public enum ChangeKind: String, Hashable, Codable, Sendable {
  case added
  case modified
  case deleted
  case renamed
}

/// A file that differs between two states of the notebook.
public struct Change: Hashable, Codable, Sendable {
  /// The file's path in the newer state; its former path, if it was deleted.
  public let path: TreePath
  /// The kind of change between the two.
  public let kind: ChangeKind
  /// The file's former path, if it was renamed and the rename is known.
  public let formerPath: TreePath?

  /// A change of this file; `formerPath` is only for a renamed file.
  public init(path: TreePath, kind: ChangeKind, formerPath: TreePath? = nil) {
    self.path = path
    self.kind = kind
    self.formerPath = formerPath
  }
}

extension Change {
  package init(_ change: TreeChange) {
    self.init(
      path: change.path,
      kind: change.old == nil ? .added : change.new == nil ? .deleted : .modified)
  }

  /// The differences between two trees, by path.
  package static func all(
    from old: ObjectID?, to new: ObjectID?, in repository: Repository
  ) throws -> [Change] {
    var changes: [Change] = []
    try repository.forEachChange(from: old, to: new) { changes.append(Change($0)) }
    return changes.sorted { $0.path < $1.path }
  }
}

/// A file to read: a new file, or one whose status differs from the status in the index.
package struct Candidate {
  package let path: TreePath
  /// The file's size in bytes and its modification time, both when its status was read.
  package let size: Int
  package let modifiedSeconds: UInt32
  /// The file's position in the index; nil for a new file.
  package let position: Int?

  package var isNew: Bool { position == nil }

  init(_ path: TreePath, _ status: stat, position: Int?) {
    self.path = path
    size = Int(status.st_size)
    modifiedSeconds = UInt32(truncatingIfNeeded: status.st_mtim.tv_sec)
    self.position = position
  }
}

/// The differences between the folder and the index, which describes the last version or checkout.
package struct WorkingChanges {
  /// Files to read: new ones, and those whose status differs from the index's.
  package var candidates: [Candidate] = []
  /// Versioned files that no longer exist.
  package var deleted: [IndexEntry] = []
  package var skipped: [SkippedFile] = []
  /// Folders that ignore rules leave out, and the number of ignored notes outside of them.
  var excludedFolders: [TreePath] = []
  var ignoredNotes = 0
  /// Files that have another name on the disk.
  var hardLinks: [TreePath] = []
  /// Files that were written in the place of waiting notes.
  package var writtenInPlace: [WrittenInPlace] = []
  /// The positions of notes whose place something else has taken, and whose entries do not have the skip-worktree bit
  /// yet.
  package var newlySparse: [Int] = []

  /// Whether a new file with that path may be in a version. If other devices refused one name, they would not
  /// receive anything else either (notes-protocol(7), PACKS). If it may not, reports the file.
  mutating func takes(_ path: TreePath) -> Bool {
    guard let why = NameRules.problem(withPath: path) else { return true }
    skipped.append(SkippedFile(path: path, reason: .unfitName(why: why)))
    return false
  }

  mutating func add(
    _ found: FoundFile, at path: TreePath, position: Int?, of index: IndexFile
  ) {
    switch found {
    case .none: break
    case .skipped(let reason):
      let file = SkippedFile(path: path, reason: reason)
      // A link or submodule of a foreign commit is never written, so nothing is in its place.
      if let position, index.mode(at: position).isFile, let obstacle = Obstacle(file) {
        addSparse(path, position, obstacle)
      } else {
        skipped.append(file)
      }
    case .file(let status):
      if status.st_nlink > 1 { hardLinks.append(path) }
      candidates.append(Candidate(path, status, position: position))
    }
  }

  /// Adds a versioned file that an obstacle keeps out of the folder.
  mutating func addSparse(_ path: TreePath, _ position: Int, _ obstacle: Obstacle) {
    skipped.append(SkippedFile(path: path, reason: .obstructed(by: obstacle)))
    newlySparse.append(position)
  }

  /// Adds a versioned file that the folder lacks. It counts as deleted, unless it is left out of the folder, or
  /// it or a folder above it could not be read.
  mutating func addMissing(
    _ position: Int, of index: IndexFile, unseen: [SkippedFile], _ access: FolderAccess
  ) throws {
    let entry = index[position]
    if entry.skipsWorktree {
      let absence = try access.absence(of: entry.path)
      // The skipped files may already include something in this file's place.
      if absence == nil, skipped.contains(where: { $0.path == entry.path }) { return }
      let reason = absence ?? .changing
      if case .obstructed(let obstacle) = reason, obstacle.kind == .repository {
        skipped.removeAll { $0.path == entry.path }
      }
      return skipped.append(SkippedFile(path: entry.path, reason: reason))
    }
    let unseen = unseen.first { $0.path == entry.path || entry.path.isBelow($0.path) }
    guard let unseen else { return deleted.append(entry) }
    // If a folder above the file is a separate repository, the file may still exist in it.
    if let obstacle = Obstacle(unseen), obstacle.kind != .repository || unseen.path == entry.path {
      if obstacle.path == entry.path { skipped.removeAll { $0 == unseen } }
      addSparse(entry.path, position, obstacle)
    }
  }

  /// Adds the versioned files that a scan of the whole folder did not find, and finishes the lists.
  mutating func complete(_ seen: [Bool], of index: IndexFile, _ access: FolderAccess) throws {
    let unseen = skipped
    // Links and submodules of foreign commits are never created or deleted.
    for position in 0..<index.count where !seen[position] && index.mode(at: position).isFile {
      try addMissing(position, of: index, unseen: unseen, access)
    }
    finish(against: index)
  }

  /// Adds the versioned files at a path and below it that were not found, except those left out of the folder.
  mutating func addMissing(
    atOrBelow path: TreePath, of index: IndexFile, _ access: FolderAccess,
    except seen: inout Set<Int>
  ) throws {
    // If a folder was replaced by a link, its files do not count as deleted, as in a scan of the
    // whole folder.
    let obstacle = access.obstacle(of: path).flatMap {
      $0.path != path && $0.kind != .file ? $0 : nil
    }
    for position in index.positions(atOrBelow: path)
    where !seen.contains(position) && index.mode(at: position).isFile {
      if index.skipsWorktree(at: position) { continue }
      if let obstacle {
        addSparse(index.path(at: position), position, obstacle)
      } else {
        try addMissing(position, of: index, unseen: skipped, access)
      }
      seen.insert(position)
    }
  }

  /// Finishes the lists. A new file is not saved if a version could not contain both it and a left-out note: it
  /// has the name of a folder around the note, or is in a folder with the note's name.
  mutating func finish(against index: IndexFile) {
    candidates.sort { $0.path < $1.path }
    // A folder that changes while it is listed may list a name twice.
    if zip(candidates, candidates.dropFirst()).contains(where: { $0.path == $1.path }) {
      candidates = candidates.indices.filter { place in
        place == 0 || candidates[place].path != candidates[place - 1].path
      }.map { candidates[$0] }
    }
    newlySparse.removeAll { index.skipsWorktree(at: $0) }
    let sparse = newlySparse + index.sparsePositions
    if sparse.isEmpty { return }
    let places = Set(sparse.map { index.path(at: $0) })
    let ways = Set(places.flatMap(\.ancestors))
    candidates.removeAll {
      $0.isNew && (ways.contains($0.path) || $0.path.ancestors.contains(where: places.contains))
    }
  }

  /// Drops everything that is not at or below one of these paths.
  package mutating func keep(atOrBelow paths: [TreePath]) {
    func isWanted(_ path: TreePath) -> Bool { paths.contains { path == $0 || path.isBelow($0) } }
    candidates.removeAll { !isWanted($0.path) }
    deleted.removeAll { !isWanted($0.path) }
    writtenInPlace.removeAll { !isWanted($0.candidate.path) }
  }

  /// Whether no file must be read.
  package var isEmpty: Bool { candidates.isEmpty && deleted.isEmpty && newlySparse.isEmpty }
}

extension WorkTree {
  /// The index as the last version or checkout left it, read without libgit2 if its form allows. The
  /// index can be made again: a damaged or lost one is replaced by one made from HEAD.
  package func indexFile() throws -> IndexFile {
    if let file = try IndexFile(ofRepositoryAt: repository.gitFolder) {
      return try file.isMissing && repository.head().commit != nil ? indexOfHead() : file
    }
    do {
      let found = try repository.readIndex()
      return try IndexFile(entries: found.entries, unmerged: found.unmerged)
    } catch GitError.library {
      return try indexOfHead()
    }
  }

  /// The index from which the next one is made.
  ///
  /// - Parameter isFirst: for the index of a first checkout, when there may be none yet.
  package func indexForChange(isFirst: Bool = false) throws -> IndexFile {
    if isFirst, let file = try IndexFile(ofRepositoryAt: repository.gitFolder), file.isMissing {
      return file
    }
    let file = try indexFile()
    return try file.isIntact() ? file : try indexOfHead()
  }

  /// An index of HEAD's files, without their status.
  private func indexOfHead() throws -> IndexFile {
    let tree = try repository.head().commit.map { try repository.commit($0).tree }
    let access = try FolderAccess(folder: folder)
    let held = try WaitingFiles(in: stateFolder)
    return try IndexFile(
      entries: tree.map(repository.files)?.map { path, entry in
        IndexEntry(
          path: path, mode: entry.mode, id: entry.id, status: FileStatus(stat()),
          skipsWorktree: entry.mode.isFile && (held[path] != nil || access.cannotHold(path)))
      } ?? [])
  }

  /// The differences between the folder and the last version, by status, or by bytes if the status is not
  /// enough. Both lists are sorted by path.
  package func changes() throws -> UnsavedChanges {
    forgetSettings()
    let index = try indexFile()
    let tree = try repository.head().commit.map { try repository.commit($0).tree }
    let found = try scan(against: index)
    let cut = try damagedFiles(among: found.candidates, of: index)
    var result = UnsavedChanges(unmerged: index.unmergedPaths, hardLinks: found.hardLinks.sorted())
    var skipped = found.skipped + cut.map(\.skipped)
    // git may have changed its index since the last version.
    let last = index.tree == tree && tree != nil ? nil : try LastVersion(tree, in: repository)
    func former(_ path: TreePath, _ position: Int?) -> (id: ObjectID, mode: FileMode)? {
      if let last { return last[path] }
      return position.map { (index.id(at: $0), index.mode(at: $0)) }
    }
    func add(_ path: TreePath, _ kind: ChangeKind) {
      result.changes.append(Change(path: path, kind: kind))
    }
    var seen = Set(cut.map(\.path) + found.deleted.map(\.path))
    for entry in found.deleted where last == nil || last?[entry.path] != nil {
      add(entry.path, .deleted)
    }
    for file in found.writtenInPlace.map(\.candidate) {
      seen.insert(file.path)
      add(file.path, .modified)
    }
    for candidate in found.candidates where seen.insert(candidate.path).inserted {
      let path = candidate.path
      let before = former(path, candidate.position)
      guard let before else {
        if Counted.access("\(folder)/\(path)", R_OK) == 0 || errno == ENOENT {
          add(path, .added)
        } else {
          skipped.append(SkippedFile(path: path, reason: .unreadable(errno: errno)))
        }
        continue
      }
      switch try FileContent.read(path, in: folder, sizeLimit: sizeLimit) {
      case .read(let content):
        if try repository.hash(blob: content.bytes) != before.id
          || fileModes.mode(of: content.mode, known: before.mode) != before.mode
        {
          add(path, .modified)
        }
      case .gone: add(path, .deleted)
      case .skipped(let reason): skipped.append(SkippedFile(path: path, reason: reason))
      }
    }
    seen.formUnion(skipped.map(\.path))
    last?.forEachDifference(from: index, besides: seen) { add($0, $1) }
    result.ignoredNotes = try found.excludedFolders.reduce(found.ignoredNotes) { count, top in
      let files = try FolderListing(folder: folder, below: top) { path, _ in isHidden(path) }.files
      return count + files.count { $0.titleRange != nil && !Self.isDebris($0) && !isHidden($0) }
    }
    result.changes.sort { $0.path < $1.path }
    result.skipped = skipped.eachPathOnce
    return result
  }
}

/// The differences between the folder and the last version.
package struct UnsavedChanges {
  /// The differences, by path.
  package fileprivate(set) var changes: [Change] = []
  /// Files that are not versioned, or not in the folder, and why, by path.
  package fileprivate(set) var skipped: [SkippedFile] = []
  /// How many notes the ignore rules leave out.
  package fileprivate(set) var ignoredNotes = 0
  /// Files that git could not merge. Until a person has resolved them, a save does nothing.
  package let unmerged: [TreePath]
  /// Files that have another name on the disk.
  package let hardLinks: [TreePath]

  fileprivate init(unmerged: [TreePath], hardLinks: [TreePath]) {
    (self.unmerged, self.hardLinks) = (unmerged, hardLinks)
  }
}

/// The files of the last version, if git's index differs from it.
private struct LastVersion {
  private let files: [TreePath: TreeEntry]

  init(_ tree: ObjectID?, in repository: Repository) throws {
    let files = try tree.map { try repository.files(in: $0) } ?? []
    self.files = Dictionary(files.map { ($0.path, $0.entry) }) { first, _ in first }
  }

  subscript(path: TreePath) -> (id: ObjectID, mode: FileMode)? {
    files[path].map { ($0.id, $0.mode) }
  }

  /// Calls back for each file that was staged with git: it differs between the index and the last version, and
  /// the folder's file is as in the index.
  func forEachDifference(
    from index: IndexFile, besides seen: Set<TreePath>, _ body: (TreePath, ChangeKind) -> Void
  ) {
    for position in 0..<index.count where index.mode(at: position).isFile {
      let path = index.path(at: position)
      if seen.contains(path) { continue }
      let former = files[path]
      if former == nil {
        body(path, .added)
      } else if former?.id != index.id(at: position) || former?.mode != index.mode(at: position) {
        body(path, .modified)
      }
    }
    for (path, entry) in files
    where entry.mode.isFile && !seen.contains(path) && index.position(of: path) == nil {
      body(path, .deleted)
    }
  }
}

extension [SkippedFile] {
  /// One entry for each path: a versioned note missing in the folder matters more than an unversioned
  /// file in its place.
  package var eachPathOnce: [SkippedFile] {
    var first: [TreePath: SkippedFile] = [:]
    for file in self where first[file.path]?.reason.isVersioned != true {
      if first[file.path] == nil || file.reason.isVersioned { first[file.path] = file }
    }
    return first.values.sorted { $0.path < $1.path }
  }
}

extension TreePath {
  /// The folders around the path, innermost first, without the notebook's own.
  package var ancestors: [TreePath] { Array(sequence(first: self, next: \.parent).dropFirst()) }

  /// Whether the path is in that folder, at any depth.
  package func isBelow(_ folder: TreePath) -> Bool {
    bytes.count > folder.bytes.count && bytes[folder.bytes.count] == UInt8(ascii: "/")
      && bytes.starts(with: folder.bytes)
  }
}
