package import Git

/// The texts and notes that are to be forgotten, in every version: notes-forget(1).
package struct Forgetting: Sendable {
  /// The kind of thing that goes.
  package enum Kind: String, Sendable {
    /// A text, wherever it stands.
    case text
    /// A note with all its versions, or lines of one note.
    case note
  }

  /// The files or texts that go.
  package enum Cut: Sendable {
    /// A text, in every note and message.
    case text(TextCut)
    /// The notes of a trail, whole.
    case notes(NoteTrail)
    /// Lines of the notes of a trail, in no other note.
    case lines(LineCut, NoteTrail)
  }

  /// Sixteen random bytes in hexadecimal digits: what versions say of it, which tells nothing of what went.
  package let id: String
  package let cut: Cut

  package init(id: String, cut: Cut) { (self.id, self.cut) = (id, cut) }

  package var kind: Kind { if case .notes = cut { .note } else { .text } }

  /// The header of a version that was made again: `notes-forgot ID`, and `signed` behind it if the version
  /// had a signature and has none now.
  package static let header = "notes-forgot"
  /// The header by which a note keeps its ID though the version that added it was made again: `ID PATH`, the
  /// path in hexadecimal digits.
  package static let idHeader = "notes-id"
}

/// The versions in which notes that are to be forgotten begin and change. From there they are followed
/// through the whole history, by the rules by which logs follow a note.
package struct NoteTrail: Sendable {
  /// By version, what the notes are called there.
  let seeds: [ObjectID: Set<TreePath>]

  package init(_ seeds: [ObjectID: Set<TreePath>]) { self.seeds = seeds }
}

/// The file that takes the place of another one in a version that is made again.
enum Replacement: Hashable {
  case gone
  case file(TreeEntry)

  var entry: TreeEntry? { if case .file(let entry) = self { entry } else { nil } }
}
