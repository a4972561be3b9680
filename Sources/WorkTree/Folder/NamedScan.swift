public import Git
internal import Glibc
internal import System

/// The files that a save looks at.
public enum SaveScope: Sendable {
  case everything
  /// Only these files and folders: the rest is known to be as it was.
  case only(Set<TreePath>)
  /// All but these files, which somebody is in the middle of writing.
  case allBut(Set<TreePath>)

  /// Whether there is nothing to look at.
  package var isEmpty: Bool { if case .only(let paths) = self { paths.isEmpty } else { false } }
}

// Looking at what was named, where the rest of the folder is known to be as it was: what a watcher
// was told of by the system.
extension WorkTree {
  package func scan(_ scope: SaveScope, against index: IndexFile) throws -> WorkingChanges {
    switch scope {
    case .everything: return try scan(against: index)
    case .only(let paths): return try scan(paths, against: index)
    case .allBut(let paths):
      var found = try scan(against: index)
      found.candidates.removeAll { paths.contains($0.path) }
      found.writtenInPlace.removeAll { paths.contains($0.candidate.path) }
      found.deleted.removeAll { paths.contains($0.path) }
      return found
    }
  }

  /// Compares what stands at these paths, and below them, with `index`.
  func scan(_ paths: Set<TreePath>, against index: IndexFile) throws -> WorkingChanges {
    // Any file may have begun or ceased to be ignored.
    if paths.contains(where: { $0.isEmpty || $0.name == ".gitignore" }) {
      return try scan(against: index)
    }
    let access = try FolderAccess(folder: folder)
    let rules = try IgnoreRules(of: self, index: index)
    var changes = WorkingChanges()
    var seen: Set<Int> = []
    func compare(_ path: TreePath) throws {
      guard let status = try access.status(of: path) else { return }
      let position = index.position(of: path)
      if status.st_mode & S_IFMT == S_IFREG {
        if let position {
          guard seen.insert(position).inserted else { return }
          if index.isUnchanged(status, at: position, trusting: fileModes) { return }
        } else if try isExcluded(path, isFolder: false, rules)
          || !(takesUnfitNames || changes.takes(path))
        {
          return
        }
      }
      changes.add(
        FoundFile(status, sizeLimit: sizeLimit), at: path, position: position, of: index)
    }
    // A file in a folder that is named, too, is looked at with it.
    for path in paths.sorted() where !path.ancestors.contains(where: paths.contains) {
      if let repository = access.repository(around: path) {
        let skipped = SkippedFile(path: repository, reason: .nestedRepository)
        if !changes.skipped.contains(skipped) { changes.skipped.append(skipped) }
        continue
      }
      var found: [TreePath] = []
      // One that cannot be looked at is taken as gone here, and the scan of the folder above tells why.
      if let status = try? access.status(of: path) {
        if status.st_mode & S_IFMT == S_IFDIR {
          let listing = try FolderListing(folder: folder, below: path) { path, _ in
            try !index.containsFolder(path) && isExcluded(path, isFolder: true, rules)
          }
          changes.skipped += listing.skipped
          found = listing.files
        } else if try index.sparsePositions.isEmpty || !access.isTakenForAnother(path) {
          found = [path]
        }
      }
      for file in found { try compare(file) }
      try changes.addMissing(atOrBelow: path, of: index, access, except: &seen)
    }
    changes.finish(against: index)
    try separateWaiting(from: &changes, of: index)
    try excludeConverted(from: &changes, of: index, attributesFolders: nil)
    return changes
  }

  /// Whether a path that is not versioned yet is none of ours.
  private func isExcluded(_ path: TreePath, isFolder: Bool, _ rules: IgnoreRules) throws -> Bool {
    if isHidden(path) || !isFolder && SkipRules.isDebris(path.name.bytes) { return true }
    let hasIgnoreFile = IgnoreRules.hasFile(above: path, in: folder)
    return try rules.mayExclude(hasIgnoreFile) && rules.isIgnored(path, isFolder: isFolder)
  }

  /// The folders whose files are versioned, `top` first: those below it that are not ignored, and no
  /// repository of its own.
  public func versionedFolders(below top: TreePath = "") throws -> [TreePath] {
    let index = try indexFile()
    let rules = try IgnoreRules(of: self, index: index)
    if !top.isEmpty, try FolderAccess(folder: folder).repository(around: top) != nil { return [] }
    return try FolderListing(folder: folder, below: top) { path, _ in
      try !index.containsFolder(path) && isExcluded(path, isFolder: true, rules)
    }.folders
  }

  /// Whether a file's name is of those that editors leave behind and that are never versioned.
  public static func isDebris(_ path: TreePath) -> Bool { SkipRules.isDebris(path.name.bytes) }
}
