internal import Git
internal import Notebook
internal import System
internal import WorkTree

extension ChangeKind {
  var cell: Styled {
    switch self {
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

  var cells: [Styled] { [kind.cell, Styled(Visible.renaming(of: path, from: formerPath))] }
}

extension Visible {
  static func renaming(of path: TreePath, from former: TreePath?) -> String {
    (former.map { name($0) + " → " } ?? "") + name(path)
  }
}

extension Table {
  /// At most twenty, and how many more there are: all of them would fill screens.
  static func text<Item>(
    of items: [Item], flexible: Int, on terminal: Terminal, _ row: (Item) -> [Styled]
  ) -> String {
    let table = Table(flexible: flexible, indent: "  ", rows: items.prefix(20).map(row))
    let rest = items.count - 20
    return table.text(on: terminal) + (rest > 0 ? "  and \(Phrase.number(rest)) more\n" : "")
  }
}

extension [Change] {
  func text(on terminal: Terminal) -> String {
    Table.text(of: self, flexible: 1, on: terminal, \.cells)
  }
}

extension SkipReason {
  fileprivate var names: (word: String, words: String) {
    switch self {
    case .symbolicLink: ("symbolic_link", "a symbolic link")
    case .specialFile: ("special_file", "not a plain file")
    case .tooLarge(let size): ("too_large", "too large (\(Phrase.bytes(size)))")
    case .unreadable(let errno): ("unreadable", "cannot be read: \(String(errorNumber: errno))")
    case .nestedRepository: ("nested_repository", "holds a repository of its own")
    case .unfitName(let why): ("unfit_name", "not fit for other devices: \(why)")
    case .changing: ("changing", "being written right now")
    case .sparse: ("not_in_folder", "the file system does not take the name")
    }
  }

  var words: String { names.words }
}

extension SkippedFile: JSONEncodable {
  var json: JSON { ["path": path, "reason": reason.names.word] }
}

extension [SkippedFile] {
  func text(on terminal: Terminal) -> String {
    func section(_ heading: String, _ files: [SkippedFile]) -> String {
      guard !files.isEmpty else { return "" }
      return "\n" + terminal.paint(heading, .bold) + "\n"
        + Table.text(of: files, flexible: 0, on: terminal) {
          [Styled(Visible.name($0.path)), Styled($0.reason.words, .dim)]
        }
    }
    return section("Not versioned", filter { $0.reason != .sparse })
      + section("Versioned, but not in this folder", filter { $0.reason == .sparse })
  }
}

struct SaveReport {
  let result: SaveResult

  var json: JSON {
    [
      "type": "saved", "version": result.version, "changes": result.changes,
      "skipped": result.skipped,
    ]
  }

  func text(on terminal: Terminal) -> String {
    let made = result.version.map { version in
      "Saved version \(terminal.paint(version))\n" + result.changes.text(on: terminal)
    }
    let sparse = result.skipped.count { $0.reason == .sparse }
    return (made ?? "Nothing changed since the last version.\n")
      + Self.pointer(to: result.skipped.count - sparse, "file", "not versioned")
      + Self.pointer(to: sparse, "note", "not in this folder")
  }

  static func pointer(to count: Int, _ thing: String, _ what: String) -> String {
    let verb = count == 1 ? "is" : "are"
    return count == 0
      ? "" : "\(Phrase.count(count, thing)) \(verb) \(what); 'notes status' shows why\n"
  }
}

extension PortableVersion {
  var fields: JSON { ["made": made, "version": version, "left_out": excluded] }

  var warning: String {
    let shown = excluded.prefix(3).map { "\(Visible.name($0.path)) (\($0.reason.words))" }
    let more = excluded.count > 3 ? ["\(Phrase.number(excluded.count - 3)) more"] : []
    let what = excluded.isEmpty ? "a time or a name" : Phrase.list(shown + more)
    return """
      notes: warning: version \(made.short), made with git, holds what no device takes: \(what)
      notes: hint: version \(version.short) without it stands in its place; the folder is as it was

      """
  }
}
