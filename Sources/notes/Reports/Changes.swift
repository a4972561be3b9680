internal import Git
internal import Notebook
internal import System
internal import WorkTree

/// How a list shows what happened to a file: a sign's worth of colour and a word.
enum ChangeWord {
  static func cell(_ kind: ChangeKind) -> Styled {
    switch kind {
    case .added: Styled("added", .green)
    case .modified: Styled("changed", .yellow)
    case .deleted: Styled("deleted", .red)
    case .renamed: Styled("renamed", .cyan)
    }
  }
}

extension Change: JSONEncodable {
  var json: JSON {
    let fields: JSON = ["path": path, "kind": kind.rawValue]
    return formerPath.map { fields + ["former_path": $0] } ?? fields
  }
}

/// A list of changed files, cut where it would fill screens.
struct ChangeList {
  let changes: [Change]
  var limit = 20

  func text(on terminal: Terminal) -> String {
    var table = Table(flexible: 1, indent: "  ")
    for change in changes.prefix(limit) {
      let name = Visible.name(change.path)
      let former = change.formerPath.map { Visible.name($0) + " → " } ?? ""
      table.add([ChangeWord.cell(change.kind), Styled(former + name)])
    }
    var lines = table.lines(for: terminal)
    if changes.count > limit {
      lines.append("  and \(Phrase.number(changes.count - limit)) more")
    }
    return lines.map { $0 + "\n" }.joined()
  }
}

extension SkipReason {
  var word: String {
    switch self {
    case .symbolicLink: "symbolic_link"
    case .specialFile: "special_file"
    case .tooLarge: "too_large"
    case .unreadable: "unreadable"
    case .nestedRepository: "nested_repository"
    case .unfitName: "unfit_name"
    case .changing: "changing"
    case .sparse: "not_in_folder"
    }
  }

  var words: String {
    switch self {
    case .symbolicLink: "a symbolic link"
    case .specialFile: "not a plain file"
    case .tooLarge(let size): "too large (\(Phrase.bytes(size)))"
    case .unreadable(let errno): "cannot be read: \(String(errorNumber: errno))"
    case .nestedRepository: "holds a repository of its own"
    case .unfitName(let why): "not fit for other devices: \(why)"
    case .changing: "being written right now"
    case .sparse: "the file system does not take the name"
    }
  }
}

extension SkippedFile: JSONEncodable {
  var json: JSON { ["path": path, "reason": reason.word] }
}

/// The files that are not versioned, or not in the folder, and why.
struct SkippedFiles {
  let files: [SkippedFile]

  init(_ files: [SkippedFile]) { self.files = files }

  func text(on terminal: Terminal) -> String {
    Self.section("Not versioned", files.filter { $0.reason != .sparse }, terminal)
      + Self.section(
        "Versioned, but not in this folder", files.filter { $0.reason == .sparse }, terminal)
  }

  private static func section(
    _ heading: String, _ files: [SkippedFile], _ terminal: Terminal
  ) -> String {
    guard !files.isEmpty else { return "" }
    var table = Table(flexible: 0, indent: "  ")
    for file in files.prefix(20) {
      table.add([
        Styled(Visible.name(file.path)), Styled(file.reason.words, .dim),
      ])
    }
    var lines = table.lines(for: terminal)
    if files.count > 20 { lines.append("  and \(Phrase.number(files.count - 20)) more") }
    return "\n" + terminal.paint(heading, .bold) + "\n"
      + lines.map { $0 + "\n" }.joined()
  }
}
