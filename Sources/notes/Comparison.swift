internal import Git
internal import History
internal import Notebook
internal import WorkTree

/// What `notes diff` compares.
struct Comparison {
  private enum End {
    /// The name that was given; nil for the last version.
    case version(String?)
    case folder
  }

  private let path: TreePath?
  private let old: End
  private let new: End

  /// Reads the arguments: a note, versions, or both in this order. A lone one is a note if a note
  /// has that name, else it names versions.
  init(_ subjects: [String], in notebook: Notebook) throws {
    var path: TreePath?
    var versions: String?
    if subjects.count == 2 {
      path = try NotebookLocator.note(subjects[0], in: notebook, among: .former)
      versions = subjects[1]
    } else if let subject = subjects.first {
      do {
        path =
          try NotebookLocator.path(ofFile: subject, in: notebook)
          ?? notebook.history.note(exactly: subject, among: .deleted)
          ?? notebook.history.note(named: subject)
      } catch NotebookError.noSuchNote {
        if Self.looksLikeVersions(subject, in: notebook) {
          versions = subject
        } else if let at = subject.lastIndex(of: "@"), at != subject.startIndex {
          // As other commands name a note's version.
          path = try NotebookLocator.note(String(subject[..<at]), in: notebook, among: .former)
          versions = String(subject[subject.index(after: at)...])
        } else {
          path = try NotebookLocator.note(subject, in: notebook, among: .former)
        }
      }
    }
    self.path = path
    guard let versions else {
      (old, new) = (.version(nil), .folder)
      return
    }
    func end(_ name: some StringProtocol) -> End { .version(name.isEmpty ? nil : String(name)) }
    if let dots = versions.firstRange(of: "..") {
      old = end(versions[..<dots.lowerBound])
      new = end(versions[dots.upperBound...])
    } else {
      (old, new) = (end(versions), .folder)
    }
  }

  private static func looksLikeVersions(_ text: String, in notebook: Notebook) -> Bool {
    if text.contains(".."), !text.contains("@") { return true }
    return (try? notebook.history.version(named: text)) != nil
  }

  func files(in notebook: Notebook) throws -> [FileDiff] {
    if let path { return try oneFile(path, in: notebook) }
    let before = try tree(old, in: notebook)
    if case .folder = new { return try againstFolder(before, in: notebook) }
    return try committed(from: before, to: tree(new, in: notebook), in: notebook)
  }

  private func tree(_ end: End, in notebook: Notebook) throws -> ObjectID? {
    guard case .version(let name?) = end else {
      return try notebook.repository.head().commit.map { try notebook.repository.commit($0).tree }
    }
    return try notebook.history.version(named: name).tree
  }

  private func committed(
    from old: ObjectID?, to new: ObjectID?, in notebook: Notebook
  ) throws -> [FileDiff] {
    try notebook.history.changes(from: old, to: new).map { try FileDiff($0, in: notebook) }
  }

  // MARK: One note, under the name it had at each end

  private func oneFile(_ path: TreePath, in notebook: Notebook) throws -> [FileDiff] {
    let before = try side(old, of: path, in: notebook)
    let after = try side(new, of: path, in: notebook)
    if before.text == nil, after.text == nil { return [] }
    let isRenamed = before.text != nil && after.text != nil && before.path != after.path
    if before.text == after.text, !isRenamed { return [] }
    return [
      FileDiff(
        path: after.text == nil ? before.path : after.path,
        formerPath: isRenamed ? before.path : nil, old: before.text, new: after.text)
    ]
  }

  private func side(
    _ end: End, of path: TreePath, in notebook: Notebook
  ) throws -> (path: TreePath, text: [UInt8]?) {
    switch end {
    case .folder:
      do { return (path, try notebook.workTree.text(of: path)) } catch NotebookError.noSuchNote {
        return (path, nil)
      }
    case .version(let name):
      do {
        let version = try notebook.history.noteVersion(
          named: name ?? Self.last(in: notebook), of: path)
        return (version.path, try notebook.history.text(of: version))
      } catch NotebookError.notInVersion {
        return (path, nil)
      }
    }
  }

  private static func last(in notebook: Notebook) throws -> String {
    guard let tip = try notebook.repository.head().commit else {
      throw NotebookError.noSuchVersion("~0")
    }
    return tip.hex
  }

  // MARK: The folder

  /// The folder differs from a version where it differs from the last one, and where the last one
  /// differs from that.
  private func againstFolder(_ old: ObjectID?, in notebook: Notebook) throws -> [FileDiff] {
    let repository = notebook.repository
    let tip = try repository.head().commit.map { try repository.commit($0).tree }
    var paths = Set(try notebook.status().changes.map(\.path))
    for change in try repository.changes(from: old, to: tip) { paths.insert(change.path) }
    let files = try paths.sorted().compactMap { path -> FileDiff? in
      let before = try old.flatMap { tree -> [UInt8]? in
        guard let entry = try repository.entry(at: path, in: tree), entry.mode.isFile else {
          return nil
        }
        return try repository.blob(entry.id)
      }
      var after: [UInt8]?
      do { after = try notebook.workTree.text(of: path) } catch NotebookError.noSuchNote {}
      return before == after ? nil : FileDiff(path: path, old: before, new: after)
    }
    return Self.pairedByText(files)
  }

  /// A file that went while one with the same text came was renamed.
  private static func pairedByText(_ files: [FileDiff]) -> [FileDiff] {
    var gone: [[UInt8]: TreePath] = [:]
    for file in files where file.new == nil {
      if let old = file.old, !old.isEmpty { gone[old] = file.path }
    }
    var moved: Set<TreePath> = []
    let found = files.map { file -> FileDiff in
      guard file.old == nil, let new = file.new, let former = gone.removeValue(forKey: new) else {
        return file
      }
      moved.insert(former)
      return FileDiff(path: file.path, formerPath: former, old: new, new: new)
    }
    return found.filter { !(moved.contains($0.path) && $0.new == nil) }
  }
}
