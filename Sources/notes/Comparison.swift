internal import Git
internal import Notebook

/// What `notes diff` compares.
struct Comparison {
  /// One end: a version, or the folder as it is.
  private enum End {
    case version(Commit?)
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
      path = try Place.note(subjects[0], in: notebook, includingDeleted: true)
      versions = subjects[1]
    } else if let subject = subjects.first {
      do {
        path = try Place.note(subject, in: notebook)
      } catch NotebookError.noSuchNote {
        if Self.looksLikeVersions(subject, in: notebook) {
          versions = subject
        } else {
          path = try Place.note(subject, in: notebook, includingDeleted: true)
        }
      }
    }
    self.path = path
    let tip = try notebook.repository.head().commit.map { try notebook.repository.commit($0) }
    guard let versions else {
      (old, new) = (.version(tip), .folder)
      return
    }
    func version(_ name: some StringProtocol) throws -> Commit? {
      name.isEmpty ? tip : try notebook.version(named: String(name), of: path)
    }
    if let dots = versions.firstRange(of: "..") {
      old = .version(try version(versions[..<dots.lowerBound]))
      new = .version(try version(versions[dots.upperBound...]))
    } else {
      (old, new) = (.version(try version(versions)), .folder)
    }
  }

  private static func looksLikeVersions(_ text: String, in notebook: Notebook) -> Bool {
    if text.contains("..") { return true }
    return (try? notebook.version(named: text)) != nil
  }

  /// The files that differ, by path.
  func files(in notebook: Notebook) throws -> [FileDiff] {
    switch (old, new) {
    case (.version(let old), .version(let new)):
      return try committed(from: old, to: new, in: notebook)
    case (.version(let old), .folder):
      return try againstFolder(old, in: notebook)
    case (.folder, _): return []
    }
  }

  private func wants(_ candidate: TreePath) -> Bool { path == nil || path == candidate }

  private func committed(from old: Commit?, to new: Commit?, in notebook: Notebook) throws
    -> [FileDiff]
  {
    let repository = notebook.repository
    return try repository.changes(from: old?.tree, to: new?.tree).filter { wants($0.path) }
      .map { change in
        FileDiff(
          path: change.path, old: try change.old.map { try repository.blob($0.id) },
          new: try change.new.map { try repository.blob($0.id) })
      }
  }

  /// The folder differs from a version where it differs from the last one, and where the last one
  /// differs from that.
  private func againstFolder(_ old: Commit?, in notebook: Notebook) throws -> [FileDiff] {
    let repository = notebook.repository
    let tip = try repository.head().commit.map { try repository.commit($0) }
    var paths = Set(try notebook.status().changes.map(\.path))
    for change in try repository.changes(from: old?.tree, to: tip?.tree) {
      paths.insert(change.path)
    }
    return try paths.filter(wants).sorted().compactMap { path in
      let before = try old.flatMap { version -> [UInt8]? in
        guard let entry = try repository.entry(at: path, in: version.tree), entry.mode.isFile else {
          return nil
        }
        return try repository.blob(entry.id)
      }
      var after: [UInt8]?
      do { after = try notebook.text(of: path) } catch NotebookError.noSuchNote {}
      return before == after ? nil : FileDiff(path: path, old: before, new: after)
    }
  }
}
