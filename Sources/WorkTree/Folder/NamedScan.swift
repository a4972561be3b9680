public import Git
internal import Glibc
internal import System

/// The files that a save checks.
public enum SaveScope: Sendable {
  case everything
  /// Only these files and folders: the rest is known to be unchanged.
  case only(Set<TreePath>)
  /// All except these files, which somebody is writing right now.
  case allBut(Set<TreePath>)

  /// Whether there is nothing to check.
  package var isEmpty: Bool { if case .only(let paths) = self { paths.isEmpty } else { false } }
}

// Scans of named files, when the rest of the folder is known to be unchanged: the files that the
// system has reported to a watcher.
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

  /// Compares the files at these paths, and below them, with `index`.
  func scan(_ paths: Set<TreePath>, against index: IndexFile) throws -> WorkingChanges {
    // A changed `.gitignore` can affect any file, so the whole folder is scanned.
    if paths.contains(where: { $0.isEmpty || $0.name == ".gitignore" }) {
      return try scan(against: index)
    }
    let access = try FolderAccess(folder: folder)
    access.keepsOpen = true
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
    // A file is scanned together with its folder if both are named.
    for path in paths.sorted() where !path.ancestors.contains(where: paths.contains) {
      if let repository = access.repository(around: path) {
        let skipped = SkippedFile(path: repository, reason: .nestedRepository)
        if !changes.skipped.contains(skipped) { changes.skipped.append(skipped) }
        continue
      }
      var found: [TreePath] = []
      // An unreadable file counts as deleted here, and the scan of the folder above reports the
      // reason.
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

  /// Whether a file that no version has must also stay out of the next version.
  private func isExcluded(_ path: TreePath, isFolder: Bool, _ rules: IgnoreRules) throws -> Bool {
    if isHidden(path) || !isFolder && SkipRules.isDebris(path.name.bytes) { return true }
    let hasIgnoreFile = IgnoreRules.hasFile(above: path, in: folder)
    return try rules.mayExclude(hasIgnoreFile) && rules.isIgnored(path, isFolder: isFolder)
  }

  /// The folders whose files are versioned, `top` first. Folders below `top` count if they are not ignored and
  /// are not a separate repository.
  public func versionedFolders(below top: TreePath = "") throws -> [TreePath] {
    let index = try indexFile()
    let rules = try IgnoreRules(of: self, index: index)
    if !top.isEmpty, try FolderAccess(folder: folder).repository(around: top) != nil { return [] }
    return try FolderListing(folder: folder, below: top) { path, _ in
      try !index.containsFolder(path) && isExcluded(path, isFolder: true, rules)
    }.folders
  }

  /// Whether a file's name is one of those that editors leave behind and that are never versioned.
  public static func isDebris(_ path: TreePath) -> Bool { SkipRules.isDebris(path.name.bytes) }
}
