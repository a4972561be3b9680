package import Git

/// One tree of a sum of trees.
package struct MergeTerm {
  package var tree: ObjectID
  /// The notes that hold blocks of ours, with the size of their markers.
  package var conflicts: [TreePath: Int]
  /// The head the tree belongs to; no base needs one.
  package var head: Commit?

  package init(tree: ObjectID, conflicts: [TreePath: Int], head: Commit? = nil) {
    self.tree = tree
    self.conflicts = conflicts
    self.head = head
  }
}

/// The content of a file, under whatever name.
struct FileValue: Hashable {
  var mode: FileMode
  var id: ObjectID
}

/// A file of a term, or of the merged tree before names are settled.
struct TermFile {
  var value: FileValue
  /// The position of the head that has it, or of the first head it comes from.
  var owner: Int
  /// The name that head has for it.
  var source: TreePath
  /// The size of the markers of its blocks, nil when it has none.
  var markerSize: Int?
  /// Whether this merge put the blocks there.
  var isNewConflict = false
}

/// The files in which the terms of a sum differ from a reference tree.
struct TermFiles {
  /// Every path at which some term differs from the reference.
  private(set) var paths: Set<TreePath> = []
  /// Per term: what it has where it differs; nil where it has nothing.
  private(set) var changed: [[TreePath: FileValue?]] = []
  /// The reference's files where some term differs.
  private(set) var reference: [TreePath: FileValue] = [:]
  private let terms: [MergeTerm]
  // Per term: under which name it has a file that is looked at under the reference's name.
  private var renamed: [[TreePath: TreePath]]

  init(store: any MergeStore, reference: ObjectID, terms: [MergeTerm]) throws {
    self.terms = terms
    renamed = Array(repeating: [:], count: terms.count)
    var known: [ObjectID: [TreePath: FileValue?]] = [reference: [:]]
    for term in terms {
      if known[term.tree] == nil {
        var files: [TreePath: FileValue?] = [:]
        for change in try store.changes(from: reference, to: term.tree) {
          files.updateValue(change.new.map(Self.value), forKey: change.path)
          if let old = change.old { self.reference[change.path] = Self.value(old) }
          paths.insert(change.path)
        }
        known[term.tree] = files
      }
      changed.append(known[term.tree] ?? [:])
    }
  }

  /// The files that terms with different sets of changes have changed.
  var changedDifferently: Set<TreePath> {
    var first: [TreePath: ObjectID] = [:]
    var found: Set<TreePath> = []
    for (term, files) in zip(terms, changed) {
      for path in files.keys {
        if first[path, default: term.tree] != term.tree { found.insert(path) }
        first[path] = first[path] ?? term.tree
      }
    }
    return found
  }

  private static func value(_ entry: TreeEntry) -> FileValue {
    FileValue(mode: entry.mode, id: entry.id)
  }

  /// The file of a term at a path at which some term differs.
  func file(_ path: TreePath, in term: Int) -> TermFile? {
    (changed[term][path] ?? reference[path]).map { value in
      let name = renamed[term][path] ?? path
      return TermFile(
        value: value, owner: term, source: name, markerSize: terms[term].conflicts[name])
    }
  }

  /// Looks at a file that the term renamed under its old name.
  mutating func undoRename(from source: TreePath, to target: TreePath, in term: Int) {
    changed[term].updateValue(changed[term][target] ?? reference[target], forKey: source)
    changed[term].updateValue(nil, forKey: target)
    renamed[term][source] = target
  }
}
