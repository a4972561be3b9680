package import Git

/// One tree of a sum of trees.
package struct MergeTerm {
  package var tree: ObjectID
  /// The notes with conflict blocks, and the size of their markers.
  package var conflicts: [TreePath: Int]
  /// The head that the tree belongs to; nil for a base.
  package var head: Commit?

  package init(tree: ObjectID, conflicts: [TreePath: Int], head: Commit? = nil) {
    self.tree = tree
    self.conflicts = conflicts
    self.head = head
  }
}

/// The content of a file, whatever its name.
struct FileValue: Hashable {
  var mode: FileMode
  var id: ObjectID
}

/// A file of a term, or of the merged tree before names are settled.
struct TermFile {
  var value: FileValue
  /// The position of the head that has it; if several do, of the first.
  var owner: Int
  /// The file's name in that head.
  var source: TreePath
  /// The size of the markers of its blocks; nil if it has none.
  var markerSize: Int?
  /// Whether this merge made the blocks.
  var isNewConflict = false
}

/// The files in which the terms of a sum differ from a reference tree.
struct TermFiles {
  /// Every path at which some term differs from the reference.
  private(set) var paths: Set<TreePath> = []
  /// For each term, its values at these paths; nil if it has no file there.
  private(set) var changed: [[TreePath: FileValue?]] = []
  /// The reference's files at these paths.
  private(set) var reference: [TreePath: FileValue] = [:]
  private let terms: [MergeTerm]
  // For each term, the names of its renamed files, by their names in the reference.
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

  /// The files that were changed by several terms with different sets of changes.
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

  /// Whether the first `count` terms all have the same new file at a path.
  func isAddedAlike(_ path: TreePath, byFirst count: Int) -> Bool {
    let found = Set(changed.prefix(count).map { $0[path] ?? nil })
    return found.count == 1 && !found.contains(nil)
  }

  private static func value(_ entry: TreeEntry) -> FileValue {
    FileValue(mode: entry.mode, id: entry.id)
  }

  /// A term's file at a path at which some term differs.
  func file(_ path: TreePath, in term: Int) -> TermFile? {
    (changed[term][path] ?? reference[path]).map { value in
      let name = renamed[term][path] ?? path
      return TermFile(
        value: value, owner: term, source: name, markerSize: terms[term].conflicts[name])
    }
  }

  /// Gives a file that the term renamed its old name.
  mutating func undoRename(from source: TreePath, to target: TreePath, in term: Int) {
    changed[term].updateValue(changed[term][target] ?? reference[target], forKey: source)
    changed[term].updateValue(nil, forKey: target)
    renamed[term][source] = target
  }
}
