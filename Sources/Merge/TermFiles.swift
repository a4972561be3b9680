internal import Git

/// The files in which the terms of a sum differ from a reference tree.
struct TermFiles {
  /// Every path at which some term differs from the reference.
  private(set) var paths: Set<TreePath> = []
  /// Per term: what it has where it differs; nil where it has nothing.
  private(set) var changed: [[TreePath: FileValue?]] = []
  private var inReference: [TreePath: FileValue] = [:]
  // Per term: under which name it has a file that is looked at under the reference's name.
  private var renamed: [[TreePath: TreePath]]

  init(store: any MergeStore, reference: ObjectID, terms: [MergeTerm]) throws {
    renamed = Array(repeating: [:], count: terms.count)
    var known: [ObjectID: [TreePath: FileValue?]] = [reference: [:]]
    for term in terms {
      if known[term.tree] == nil {
        var files: [TreePath: FileValue?] = [:]
        for change in try store.changes(from: reference, to: term.tree) {
          files.updateValue(change.new.map { FileValue($0) }, forKey: change.path)
          if let old = change.old { inReference[change.path] = FileValue(old) }
          paths.insert(change.path)
        }
        known[term.tree] = files
      }
      changed.append(known[term.tree] ?? [:])
    }
  }

  /// What the reference has at a path at which some term differs.
  func reference(_ path: TreePath) -> FileValue? { inReference[path] }

  /// What a term has at a path at which some term differs.
  func value(_ path: TreePath, in term: Int) -> FileValue? {
    changed[term][path] ?? inReference[path]
  }

  /// The term's own name for the file.
  func name(of path: TreePath, in term: Int) -> TreePath { renamed[term][path] ?? path }

  /// Looks at a file that the term renamed under its old name.
  mutating func undoRename(from source: TreePath, to target: TreePath, in term: Int) {
    changed[term].updateValue(value(target, in: term), forKey: source)
    changed[term].updateValue(nil, forKey: target)
    renamed[term][source] = target
  }
}
