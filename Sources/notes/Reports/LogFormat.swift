internal import Git
internal import History

/// The format of a version in `notes log --format`, with the placeholders of git-log(1).
struct LogFormat {
  private enum Piece {
    case text(String)
    case field(Character)
  }

  private var pieces: [Piece] = []

  /// Whether the format includes the author.
  var showsAuthor: Bool {
    pieces.contains { if case .field("a") = $0 { true } else { false } }
  }

  /// An ID and a title, for `--oneline`.
  static let oneLine = LogFormat(parsing: "%h  %s")

  private static let fields: Set<Character> = ["H", "h", "s", "B", "a", "I", "t", "d"]

  /// Nil if a placeholder is unknown.
  init?(_ text: String) {
    self.init(parsing: text)
    let known = pieces.allSatisfy {
      if case .field(let field) = $0 { Self.fields.contains(field) } else { true }
    }
    if !known { return nil }
  }

  private init(parsing text: String) {
    var literal = ""
    var characters = text[...]
    while let character = characters.popFirst() {
      guard character == "%" else {
        literal.append(character)
        continue
      }
      switch characters.popFirst() {
      case "%": literal += "%"
      case "n": literal += "\n"
      case let field:
        pieces += [.text(literal), .field(field ?? " ")]
        literal = ""
      }
    }
    pieces.append(.text(literal))
  }

  func text(of commit: Commit, by author: String, title: String) -> String {
    pieces.map { piece in
      switch piece {
      case .text(let text): text
      case .field("H"): commit.id.hex
      case .field("h"): commit.id.short
      case .field("s"): Visible.name(title)
      case .field("B"): commit.message
      case .field("a"): author
      case .field("I"): TimeText.rfc3339(commit.author.time, offset: commit.author.offset)
      case .field("t"): String(commit.author.time)
      case .field: commit.deviceID ?? ""
      }
    }.joined() + "\n"
  }
}
