package import Git

/// The texts and notes that are to be forgotten, in every version: notes-forget(1).
package struct Forgetting: Sendable {
  /// The kind of thing that goes.
  package enum Kind: String, Sendable {
    /// A text, wherever it stands.
    case text
    /// Lines of some notes.
    case lines
    /// Notes and attachments with all their versions.
    case note

    /// The kind as the subject of a version says it.
    package var words: String {
      switch self {
      case .text: "a text"
      case .lines: "lines"
      case .note: "a note"
      }
    }
  }

  /// The files or texts that go.
  enum Cut: Sendable {
    /// A text, in every note and message.
    case text(TextCut)
    /// The notes of a trail, whole.
    case notes(NoteTrail)
    /// Lines of the notes of a trail, in no other note.
    case lines(LineCut, NoteTrail)
    /// Whatever went from the history of who had it forgotten.
    case learned(LearnedCut)
  }

  /// Sixteen random bytes in hexadecimal digits: what versions say of it, which tells nothing of what went.
  package let id: String
  let cut: Cut

  init(id: String, cut: Cut) { (self.id, self.cut) = (id, cut) }

  /// A text, in every note and message.
  package static func text(_ text: TextCut, id: String) -> Forgetting {
    Forgetting(id: id, cut: .text(text))
  }

  /// The notes of a trail, whole.
  package static func notes(_ trail: NoteTrail, id: String) -> Forgetting {
    Forgetting(id: id, cut: .notes(trail))
  }

  /// Lines of the notes of a trail, in no other note.
  package static func lines(_ lines: LineCut, _ trail: NoteTrail, id: String) -> Forgetting {
    Forgetting(id: id, cut: .lines(lines, trail))
  }

  package var kind: Kind {
    switch cut {
    case .text: .text
    case .lines: .lines
    case .notes, .learned: .note
    }
  }

  /// The texts that go wherever they stand.
  var texts: [TextCut] {
    switch cut {
    case .text(let text): [text]
    case .learned(let cut): cut.texts
    case .notes, .lines: []
    }
  }

  /// The header of a version that was made again: `notes-forgot signed` if the version had a signature,
  /// else `notes-forgot unsigned`. It names no forgetting, so that the order of two of them leaves no trace.
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
