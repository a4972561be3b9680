internal import Git
internal import History
internal import Notebook
internal import WorkTree

struct FileDiff {
  let path: TreePath
  /// What the file was called before, when it has another name.
  var formerPath: TreePath?
  let old: [UInt8]?
  let new: [UInt8]?

  var kind: ChangeKind {
    old == nil ? .added : new == nil ? .deleted : formerPath == nil ? .modified : .renamed
  }

  var json: JSON {
    let diff = LineDiff(from: old ?? [], to: new ?? [])
    let counts = diff.isBinary ? nil : (added: diff.added, removed: diff.removed)
    return [
      "path": path, "kind": kind.rawValue, "former_path": formerPath,
      "added": counts?.added, "removed": counts?.removed,
      "binary": diff.isBinary,
    ]
  }
}

extension FileDiff {
  /// The texts of a change between two versions.
  init(_ change: VersionChange, in notebook: Notebook) throws {
    path = change.path
    formerPath = change.formerPath
    old = try change.old.map { try notebook.repository.blob($0) }
    new = try change.new.map { try notebook.repository.blob($0) }
  }
}

extension LineDiff.Line.Kind {
  var sign: String {
    switch self {
    case .context: " "
    case .removed: "-"
    case .added: "+"
    }
  }

  var style: Style? {
    switch self {
    case .context: nil
    case .removed: .red
    case .added: .green
    }
  }
}
