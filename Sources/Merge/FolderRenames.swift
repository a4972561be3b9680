internal import Git

/// Folders that some heads renamed. Files that other heads add to such a folder stay in the former folder; the
/// merge reports this.
struct FolderRenames {
  /// For each head, the former folders of files that moved, with the files' contents and last
  /// names.
  private var moved: [[TreePath: TreePath]]
  private let store: any MergeStore
  private let trees: [ObjectID]
  private let files: TermFiles

  /// The folders that heads renamed, found from the heads' changes. `files` are the files before renames are
  /// undone.
  init(store: any MergeStore, files: TermFiles, heads: [MergeTerm]) {
    (self.store, self.files, trees) = (store, files, heads.map(\.tree))
    moved = heads.indices.map { Self.moved(files.changed[$0], files.reference) }
  }

  private struct Content: Hashable {
    let name: TreePath
    let id: ObjectID
  }

  private static func moved(
    _ changed: [TreePath: FileValue?], _ reference: [TreePath: FileValue]
  ) -> [TreePath: TreePath] {
    var new: [Content: TreePath] = [:]
    for (path, value) in changed where reference[path] == nil {
      guard let value, value.id != .emptyBlob else { continue }
      let content = Content(name: path.name, id: value.id)
      new[content] = min(path, new[content] ?? path)
    }
    if new.isEmpty { return [:] }
    var moved: [TreePath: TreePath] = [:]
    for (path, value) in changed where value == nil {
      guard let folder = path.parent, let former = reference[path],
        let target = new[Content(name: path.name, id: former.id)]?.parent, target != folder
      else { continue }
      moved[folder] = min(target, moved[folder] ?? target)
    }
    return moved
  }

  /// The new files of the merge that are in a folder which another head renamed.
  func reports(on merged: [TreePath: TermFile]) throws -> [MergeReport] {
    if moved.allSatisfy(\.isEmpty) { return [] }
    var reports: [MergeReport] = []
    for (path, file) in merged.sorted(by: { $0.key < $1.key }) where files.reference[path] == nil {
      guard let folder = path.parent else { continue }
      for (head, moved) in moved.enumerated() where head != file.owner {
        if let target = moved[folder], try store.entry(at: folder, in: trees[head]) == nil {
          reports.append(MergeReport(path: path, kind: .folderRenamed(to: target)))
          break
        }
      }
    }
    return reports
  }
}
