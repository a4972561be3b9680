internal import Git

/// Which files a term renamed: notes-merge(7), "Renames".
enum RenameDetection {
  static func renames(
    store: any MergeStore, files: TermFiles, positiveCount: Int
  ) throws -> [[TreePath: TreePath]] {
    files.changed.map { _ in [:] }
  }
}
