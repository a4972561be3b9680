public import Git
internal import Glibc
internal import WorkTree

/// A note that stands in the folder, as its file tells.
public struct PresentNote: Sendable {
  /// Where its file is in the folder.
  public let path: TreePath
  /// When the file was written last: seconds since 1970.
  public let modified: Int64
  /// Whether it may differ from the last version: it is new, or was written since.
  public let isChanged: Bool
}

extension History {
  /// The notes in the folder, by path, unsaved ones too. Nothing is read but the folder's lists and
  /// what the index remembers, which is quick however long the history is.
  public func presentNotes() throws -> [PresentNote] {
    let index = try workTree.indexFile()
    let found = try workTree.scan(against: index)
    var notes: [TreePath: PresentNote] = [:]
    for position in 0..<index.count where index.mode(at: position).isFile {
      let bytes = index.pathBytes(at: position)
      guard TreePath.titleRange(inPath: bytes) != nil else { continue }
      let path = TreePath(bytes: bytes)
      notes[path] = PresentNote(
        path: path, modified: Int64(index.status(at: position).modifiedSeconds),
        isChanged: false)
    }
    for entry in found.deleted { notes[entry.path] = nil }
    for candidate in found.candidates where candidate.path.isNote {
      notes[candidate.path] = PresentNote(
        path: candidate.path, modified: Int64(candidate.modifiedSeconds), isChanged: true)
    }
    return notes.values.sorted { $0.path < $1.path }
  }
}
