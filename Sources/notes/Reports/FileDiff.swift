internal import Git
internal import History
internal import Notebook
internal import WorkTree

/// How one file differs between two states.
struct FileDiff {
  let path: TreePath
  /// What the file was called before, when it has another name.
  var formerPath: TreePath?
  /// The bytes before and after; nil where there is no file.
  let old: [UInt8]?
  let new: [UInt8]?

  var kind: ChangeKind {
    old == nil ? .added : new == nil ? .deleted : formerPath == nil ? .modified : .renamed
  }

  var json: JSON {
    let diff = LineDiff(from: old ?? [], to: new ?? [])
    return [
      "path": .path(path), "kind": .string(kind.rawValue),
      "former_path": formerPath.map(JSON.path) ?? .null,
      "added": diff.isBinary ? .null : .int(diff.added),
      "removed": diff.isBinary ? .null : .int(diff.removed), "binary": .bool(diff.isBinary),
    ]
  }
}
