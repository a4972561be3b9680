public import Git
internal import Glibc
internal import History
internal import Merge
internal import System
public import WorkTree

/// The files that an import added, or would add.
public struct Imported: Sendable {
  /// The added files, by path in the notebook.
  public fileprivate(set) var added: [TreePath] = []
  /// The total size of the files in bytes.
  public fileprivate(set) var bytes = 0
  /// The number of versions: one for each second, day, month or year of the files' last changes.
  public fileprivate(set) var versions = 0
  /// Files that the notebook already has with the same text.
  public fileprivate(set) var present = 0
  /// Files that are not added because the notebook has another file with that name; by path in the
  /// notebook.
  public fileprivate(set) var taken: [TreePath] = []
  /// Files that are not added because the notebook's `.gitignore` files exclude them.
  public fileprivate(set) var ignored = 0
  /// The things that cannot be versioned, and the reasons.
  public fileprivate(set) var skipped: [SkippedFile] = []
  /// The added files that look like keys or credentials.
  public fileprivate(set) var secrets: [TreePath] = []
  /// The last version made; nil if nothing was added, and in a dry run.
  public fileprivate(set) var version: ObjectID?
}

extension Notebook {
  /// Adds the files of another folder, except hidden ones: notes-import(1). Existing notes and the other folder
  /// do not change.
  ///
  /// - Parameters:
  ///   - target: the folder of the notebook for the files; its top if empty.
  ///   - includesSecrets: whether to also add files that look like keys. If false, and there is such a file,
  ///     nothing is added.
  ///   - progress: called with the number of checked files.
  /// - Throws: `WorkTreeError.file`, `.massDeletion`. Then nothing is added.
  public func importFiles(
    from source: String, into target: TreePath = "", includesSecrets: Bool = false,
    trial: Bool = false, progress: (Int, Int) throws -> Void = { _, _ in }
  ) throws -> Imported {
    if trial {
      var found = Import(into: self, at: target, from: try history.tipTree())
      return try found.look(at: source, progress: progress)
    }
    return try withWriterLock { transaction in
      try transaction.save()
      var found = Import(into: self, at: target, from: try history.tipTree())
      var last: ObjectID?
      do {
        last = try repository.withBatchedWrites(isBeforeMove: true) {
          let imported = try found.look(at: source, keepsTexts: true, progress: progress)
          // This error drops everything that was stored so far.
          if !includesSecrets, !imported.secrets.isEmpty { throw Import.HoldsSecrets() }
          return try transaction.writer.makeVersions(found.groups)
        }
      } catch is Import.HoldsSecrets {}
      if let last {
        var options = MergeOptions(operation: .create)
        options.mustBeWritten = Set(found.imported.added)
        try transaction.merge([last], options: options)
        found.imported.version = last
      }
      return found.imported
    }
  }
}

/// A folder's rules for files that are kept back.
private struct KeptBackRules {
  let ignored: IgnoreRules
  let converted: ConversionRules

  init(of workTree: WorkTree, index: IndexFile) throws {
    ignored = try IgnoreRules(of: workTree, index: index)
    converted = try ConversionRules(of: workTree, index: index)
  }
}

/// The files of a folder to import.
private struct Import {
  struct HoldsSecrets: Error {}

  private let notebook: Notebook
  private let target: TreePath
  private let tree: ObjectID?
  private(set) var files: [ImportedFile] = []
  var imported = Imported()

  init(into notebook: Notebook, at target: TreePath, from tree: ObjectID?) {
    self.notebook = notebook
    self.target = target
    self.tree = tree
  }

  /// Scans the folder.
  ///
  /// - Parameter keepsTexts: whether to store the texts as objects.
  mutating func look(
    at source: String, keepsTexts: Bool = false, progress: (Int, Int) throws -> Void
  ) throws -> Imported {
    let workTree = notebook.workTree
    let index = try workTree.indexFile()
    let rules = try KeptBackRules(of: workTree, index: index)
    // The other folder's own rules also keep files back.
    let rulesThere = try KeptBackRules(
      of: sourceWorkTree(at: source), index: IndexFile(entries: []))
    var names = NamesInUse(try tree.map { try notebook.repository.files(in: $0).map(\.path) } ?? [])
    let listing = try FolderListing(folder: source) { path, _ in SkipRules.isHidden(path) }
    imported.skipped = listing.skipped
    let root = try Disk.open(source, O_RDONLY | O_DIRECTORY)
    defer { close(root) }
    let paths = listing.files.sorted().filter {
      !SkipRules.isHidden($0) && !WorkTree.isDebris($0)
    }
    for (position, path) in paths.enumerated() {
      try progress(position, paths.count)
      if let reason = Self.reason(toSkip: path, in: root) {
        imported.skipped.append(SkippedFile(path: path, reason: reason))
        continue
      }
      let place = target.isEmpty ? path : target.appending(path)
      if let why = NameRules.problem(withPath: place) {
        imported.skipped.append(SkippedFile(path: path, reason: .unfitName(why: why)))
        continue
      }
      let content: FileContent
      switch try FileContent.read(path, in: source, sizeLimit: workTree.sizeLimit) {
      case .gone: continue
      case .skipped(let reason):
        imported.skipped.append(SkippedFile(path: path, reason: reason))
        continue
      case .read(let read): content = read
      }
      if try rules.ignored.isIgnored(place, isFolder: false)
        || rulesThere.ignored.isIgnored(path, isFolder: false)
      {
        imported.ignored += 1
        continue
      }
      if let conversion = try rules.converted.conversion(of: place, holding: { content.bytes })
        ?? rulesThere.converted.conversion(of: path, holding: { content.bytes })
      {
        imported.skipped.append(SkippedFile(path: path, reason: .converted(by: conversion)))
        continue
      }
      guard names.take(place) else {
        try leaveOut(place, content)
        continue
      }
      if FolderPreview.isSecret(path, size: content.bytes.count, root: root) {
        imported.secrets.append(place)
      }
      imported.added.append(place)
      imported.bytes += content.bytes.count
      let repository = notebook.repository
      let id =
        try keepsTexts
        ? repository.write(blob: content.bytes) : repository.hash(blob: content.bytes)
      files.append(
        ImportedFile(
          path: place, entry: TreeEntry(name: place.name, mode: .regular, id: id),
          written: content.written))
    }
    imported.versions = groups.count
    return imported
  }

  /// The folder as a work tree. If it is the top of a repository, that repository and its rules apply.
  private func sourceWorkTree(at source: String) throws -> WorkTree {
    if Counted.access(source + "/.git/HEAD", F_OK) == 0 {
      do {
        return WorkTree(folder: source, repository: try Repository.open(at: source))
      } catch GitError.foreignOwner {
        // Another user's git configuration is ignored, but rules in the folder apply.
      }
    }
    return WorkTree(folder: source, repository: notebook.repository)
  }

  private static func reason(toSkip path: TreePath, in root: Int32) -> SkipReason? {
    var status = stat()
    guard Counted.fstatat(root, path.cString, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return nil
    case S_IFLNK: return .symbolicLink
    default: return .specialFile
    }
  }

  /// Skips a file whose name is in use, by the same text or by another.
  private mutating func leaveOut(_ place: TreePath, _ content: FileContent) throws {
    let there = try tree.flatMap { try notebook.repository.entry(at: place, in: $0) }
    if try there?.id == notebook.repository.hash(blob: content.bytes) {
      imported.present += 1
    } else {
      imported.taken.append(place)
    }
  }

  /// The most versions that an import makes: each contains the whole list of notes.
  private static let mostVersions = 500

  /// The files grouped by their last change: to the second, day, month or year, whichever gives few
  /// enough versions.
  var groups: [[ImportedFile]] {
    let (day, year) = (86_400 as Int64, 31_556_952 as Int64)
    for span in [1, day, year / 12, year] {
      let groups = Dictionary(grouping: files) { $0.written / span }
      if groups.count <= Self.mostVersions || span == year {
        return groups.sorted { $0.key < $1.key }.map(\.value)
      }
    }
    return []
  }
}

/// A file to import.
package struct ImportedFile: Sendable {
  let path: TreePath
  let entry: TreeEntry
  /// When the file was last changed, in seconds since 1970.
  let written: Int64
}

extension VersionWriter {
  /// Stores a version for each group of files, one after the other on top of the tip. Moves no reference.
  ///
  /// - Returns: the last version; nil if there are no groups.
  func makeVersions(_ groups: [[ImportedFile]]) throws -> ObjectID? {
    var parent = try tip()
    for files in groups {
      let tree = try repository.write(
        tree: parent?.tree,
        replacing: Dictionary(uniqueKeysWithValues: files.map { ($0.path, $0.entry) }))
      let id = try makeVersion(
        of: tree, parents: parent.map { [$0] } ?? [],
        message: Change.summary(of: files.map { Change(path: $0.path, kind: .added) }),
        written: files.map(\.written).max())
      parent = try repository.commit(id)
    }
    return groups.isEmpty ? nil : parent?.id
  }
}

/// The names of a notebook's files, compared so that they are distinct on all file systems.
private struct NamesInUse {
  private var spellings: [[NameKey]: TreePath] = [:]
  private var files: Set<TreePath> = []

  init(_ paths: [TreePath]) {
    for path in paths { _ = take(path) }
  }

  /// Reserves a name for a file; false if a file or folder has it, or one that differs only by
  /// case.
  mutating func take(_ path: TreePath) -> Bool {
    var keys: [NameKey] = []
    var found: [([NameKey], TreePath)] = []
    var place = TreePath("")
    for name in path.components {
      keys.append(NameKey(name))
      place = place.appending(name)
      if let spelling = spellings[keys] {
        if spelling != place || place == path || files.contains(place) { return false }
      } else {
        found.append((keys, place))
      }
    }
    for (keys, place) in found { spellings[keys] = place }
    files.insert(path)
    return true
  }
}
