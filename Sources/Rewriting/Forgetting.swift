package import Git

/// The texts and notes to forget, in every version: notes-forget(1).
package struct Forgetting: Sendable {
  /// The kind of forgotten content.
  package enum Kind: String, Sendable {
    /// A text, wherever it is.
    case text
    /// Lines of some notes.
    case lines
    /// Notes and attachments with all their versions.
    case note

    /// The kind in words, for the subject of a version.
    package var words: String {
      switch self {
      case .text: "a text"
      case .lines: "lines"
      case .note: "a note"
      }
    }
  }

  /// The files or texts to remove.
  enum Cut: Sendable {
    /// A text, in every note and message.
    case text(TextCut)
    /// The notes of a trail, completely.
    case notes(NoteTrail)
    /// Lines of the notes of a trail, in no other note.
    case lines(LineCut, NoteTrail)
    /// Everything that the device which forgot it has removed from the history.
    case learned(LearnedCut)
  }

  /// Sixteen random bytes in hexadecimal digits: versions name the forgetting by it, and it reveals
  /// nothing about the content.
  package let id: String
  let cut: Cut

  init(id: String, cut: Cut) { (self.id, self.cut) = (id, cut) }

  /// A text, in every note and message.
  package static func text(_ text: TextCut, id: String) -> Forgetting {
    Forgetting(id: id, cut: .text(text))
  }

  /// The notes of a trail, completely.
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

  /// The texts to remove wherever they are.
  var texts: [TextCut] {
    switch cut {
    case .text(let text): [text]
    case .learned(let cut): cut.texts
    case .notes, .lines: []
    }
  }

  /// The header of a rewritten version: `notes-forgot signed` if the version had a signature, otherwise
  /// `notes-forgot unsigned`. It names no forgetting, so the order of two forgettings leaves no trace.
  package static let header = "notes-forgot"
  /// The header by which a note keeps its ID although the version that added it was rewritten: `ID PATH`,
  /// the path in hexadecimal digits.
  package static let idHeader = "notes-id"
}

/// The versions in which notes to forget begin and change. From there they are followed through the
/// whole history, by the rules for the log of a note.
package struct NoteTrail: Sendable {
  /// By version, the names of the notes there.
  let seeds: [ObjectID: Set<TreePath>]

  package init(_ seeds: [ObjectID: Set<TreePath>]) { self.seeds = seeds }
}

/// The replacement of a file in a rewritten version.
enum Replacement: Hashable {
  case gone
  case file(TreeEntry)

  var entry: TreeEntry? { if case .file(let entry) = self { entry } else { nil } }
}

/// The content to forget, as found in a history.
package struct ForgettingFindings: Hashable, Sendable {
  /// How many versions have the content.
  package private(set) var versions = 0
  /// The names of the changed notes, in any version.
  package private(set) var paths: Set<TreePath> = []
  /// Attachments that contain a text: these are not changed.
  package internal(set) var attachments: Set<TreePath> = []

  /// The names of all files of all versions.
  package internal(set) var allPaths: Set<TreePath> = []

  mutating func add(_ files: [TreePath: Replacement], hasMessage: Bool) {
    if files.isEmpty, !hasMessage { return }
    versions += 1
    paths.formUnion(files.keys)
  }
}
