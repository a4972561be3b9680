internal import Git
internal import History
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
  /// At most twenty rows, and the number of the rest: more would fill screens.
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
  private var names: (word: String, words: String) {
    switch self {
    case .symbolicLink: ("symbolic_link", "a symbolic link")
    case .specialFile: ("special_file", "not a plain file")
    case .tooLarge(let size): ("too_large", "too large (\(Phrase.bytes(size)))")
    case .unreadable(let errno): ("unreadable", "cannot be read: \(String(errorNumber: errno))")
    case .nestedRepository: ("nested_repository", "contains a repository of its own")
    case .unfitName(let why): ("unfit_name", "other devices refuse it: \(why)")
    case .converted(let conversion): ("converted", Visible.name(conversion.description))
    case .changing: ("changing", "being written right now")
    case .sparse: ("not_in_folder", "the file system refuses the name")
    case .obstructed(let obstacle): ("place_taken", obstacle.words)
    case .deletedElsewhere(let obstacle):
      ("deleted_elsewhere", "deleted on another device; \(obstacle.words)")
    case .waiting: ("waiting", "it was left out; a save tries again")
    case .cut(let damage): ("power_cut", damage.words)
    }
  }

  var words: String { names.words }

  /// The step that puts a note into the folder.
  fileprivate func remedy(for path: TreePath) -> String {
    switch self {
    case .obstructed(let obstacle), .deletedElsewhere(let obstacle): obstacle.remedy(for: path)
    case .waiting: "'notes save' tries again"
    case .cut:
      "'notes restore \(Visible.word(path.description))' brings back its last version, 'notes save "
        + "\(Visible.word(path.description))' keeps it as it is"
    default: "rename it: 'notes mv \(Visible.word(path.description)) NEW'"
    }
  }

  fileprivate func json(at path: TreePath) -> JSON {
    let fields: JSON = ["path": path, "reason": names.word]
    switch self {
    case .obstructed(let obstacle), .deletedElsewhere(let obstacle):
      let error = obstacle.errno.map { String(errorNumber: $0) }
      return fields
        + ["obstacle": obstacle.kind.word, "obstacle_path": obstacle.path, "error": error]
    default: return fields
    }
  }
}

extension DamageKind {
  fileprivate var words: String {
    let what =
      switch self {
      case .empty: "is empty"
      case .zeros: "contains only zero bytes"
      case .shortened: "is cut short"
      case .older: "has an older text"
      }
    return what + " since the machine was restarted"
  }
}

extension Obstacle {
  fileprivate var words: String {
    switch kind {
    case .refused:
      "it cannot be replaced: " + (errno.map { String(errorNumber: $0) } ?? "not permitted")
    case .unreadable:
      "the file in its place cannot be read: "
        + (errno.map { String(errorNumber: $0) } ?? "not permitted")
    case .converted: "git converts it"
    default: "\(kind.words) is in its place"
    }
  }

  /// The step that puts a note, or its deletion, into the folder.
  fileprivate func remedy(for note: TreePath) -> String {
    let (place, name) = (Visible.word(path.description), Visible.word(note.description))
    switch kind {
    case .refused:
      return "'ls -ld' and 'lsattr' show why \(name) cannot be written; then 'notes save' tries "
        + "again"
    case .unreadable: return "'chmod u+r \(place)'; then 'notes save' writes the note"
    case .converted:
      return "'git checkout --ignore-skip-worktree-bits \(name)' writes it as git converts it"
    default: return "move \(place) away; then 'notes save' writes the note"
    }
  }
}

extension Obstacle.Kind {
  private var names: (word: String, words: String) {
    switch self {
    case .symbolicLink: ("symbolic_link", "a symbolic link")
    case .folder: ("folder", "a folder")
    case .repository: ("nested_repository", "a repository of its own")
    case .file: ("file", "a file")
    case .special: ("special_file", "something that is not a file")
    case .ignored: ("ignored_file", "a file that this device ignores")
    case .hidden: ("hidden_file", "a hidden file of this device")
    case .debris: ("editor_file", "an editor's own file")
    case .tooLarge: ("large_file", "a file that is too large to be versioned")
    case .converted: ("converted_file", "a file that git converts")
    case .unreadable: ("unreadable_file", "a file that cannot be read")
    case .refused: ("not_replaceable", "a file that cannot be replaced")
    }
  }

  fileprivate var word: String { names.word }
  fileprivate var words: String { names.words }
}

extension SkippedFile: JSONEncodable {
  var json: JSON { reason.json(at: path) }

  /// The notice that a power cut damaged a note, with the remedy.
  var cutNotice: String { "\(Visible.name(path)) \(reason.words);\n  \(remedy)\n" }

  /// The notice that a file is not versioned because git converts it.
  var convertedNotice: String { "\(Visible.name(path)) is not versioned: \(reason.words)\n" }

  /// The message that a versioned note is not in the folder.
  var absence: String {
    let standing = isBehind ? "not up to date" : "not"
    return "\(Visible.name(path)) is \(standing) in this folder: \(reason.words)"
  }

  /// Whether the folder may have an older text of the note.
  fileprivate var isBehind: Bool {
    guard case .obstructed(let obstacle) = reason else { return false }
    return [.refused, .unreadable].contains(obstacle.kind)
  }

  var remedy: String { reason.remedy(for: path) }
}

extension [SkippedFile] {
  /// The sentence that damaged notes were restored to their saved texts.
  func sentence(broughtBackIn version: ObjectID) -> String {
    "Brought back \(Phrase.list(map { Visible.name($0.path) })) as last saved: version "
      + Console.output.paint(version)
  }

  func text(on terminal: Terminal) -> String {
    func section(_ heading: String, _ files: [SkippedFile]) -> String {
      guard !files.isEmpty else { return "" }
      return "\n" + terminal.paint(heading, .bold) + "\n"
        + Table.text(of: files, flexible: 0, on: terminal) {
          [Styled(Visible.name($0.path)), Styled($0.reason.words, .dim)]
        }
    }
    let absent = filter { $0.reason.isVersioned && !$0.isBehind }
    let behind = filter { $0.reason.isVersioned && $0.isBehind }
    let obstructed = absent.first {
      if case .obstructed = $0.reason { true } else { false }
    }
    let cut = filter(\.reason.isPowerLoss)
    return section("Damaged by a power cut", cut)
      + (cut.first.map { "  \($0.remedy)\n" } ?? "")
      + section("Not versioned", filter { !$0.reason.isVersioned && !$0.reason.isPowerLoss })
      + section("Saved, but not in this folder", absent)
      + (obstructed.map { "  \($0.remedy)\n" } ?? "")
      + section("Versioned, but not up to date in this folder", behind)
      + (behind.first.map { "  \($0.remedy)\n" } ?? "")
  }
}

struct SaveReport {
  let result: SaveResult
  /// The excluded files to report; all of them if nil.
  var news: [SkippedFile]?
  /// Saved notes that are not in UTF-8.
  var foreign: [ForeignText] = []
  /// The version's branch; nil if HEAD is detached.
  let branch: String?

  var json: JSON {
    [
      "type": "saved", "version": result.version, "changes": result.changes,
      "skipped": result.skipped, "branch": branch, "foreign_texts": foreign.map(\.json),
      "news": result.news.map(\.json),
    ]
  }

  func text(on terminal: Terminal) -> String {
    let made = result.version.map { version in
      "Saved version \(terminal.paint(version))\n" + result.changes.text(on: terminal)
        + (branch == nil ? StatusReport.words(forBranch: nil) : "")
    }
    let news = news ?? result.skipped
    let absent = news.filter(\.reason.isVersioned)
    let cut = news.filter(\.reason.isPowerLoss)
    let converted = news.filter(\.reason.isConverted)
    let others = news.count - absent.count - cut.count - min(converted.count, 3)
    return (made ?? "Nothing has changed since the last version.\n")
      + foreign.map { $0.sentence + "\n" }.joined() + cut.map(\.cutNotice).joined()
      + converted.prefix(3).map(\.convertedNotice).joined()
      + Self.pointer(to: others, "file", "not versioned")
      + Self.text(ofAbsent: absent)
  }

  /// The text for notes that are not in the folder, with the obstacle and the remedy of one of
  /// them.
  static func text(ofAbsent files: [SkippedFile]) -> String {
    guard files.count == 1, let only = files.first, case .obstructed = only.reason else {
      return pointer(to: files.count, "note", "not in this folder")
    }
    return "\(only.absence);\n  \(only.remedy)\n"
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
      notes: warning: version \(made.short), made with git, has something that other devices refuse: \(what)
      notes: hint: version \(version.short) replaces it and omits that; the folder did not change

      """
  }
}
