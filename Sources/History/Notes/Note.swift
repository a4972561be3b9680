public import Git
internal import WorkTree

extension TreePath {
  /// Whether the path is a note's, judged by its suffix.
  public var isNote: Bool { titleRange != nil }

  /// The note's title: the file's name without the suffix. For an attachment, the whole name.
  public var noteTitle: String {
    titleRange.map { TreePath(bytes: bytes[$0]).description } ?? name.description
  }

  /// The suffix that makes the file a note, as written: `.txt`, `.md`; empty for an attachment.
  public var noteSuffix: String {
    titleRange.map { TreePath(bytes: bytes[$0.upperBound...]).description } ?? ""
  }

  /// The path without the suffix that makes it a note.
  var withoutNoteSuffix: TreePath {
    titleRange.map { TreePath(bytes: bytes[..<$0.upperBound]) } ?? self
  }
}
