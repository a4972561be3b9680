internal import Glibc

/// A program that edits notes, driven as a person does.
public struct RealEditor: Sendable, CustomStringConvertible {
  /// Keys by tmux's names; what begins with `"` is typed as it is.
  public typealias Keys = [String]

  /// What an editor asks, and what says that its own text is meant.
  public typealias Question = (text: String, keys: Keys)

  public let name: String
  public var description: String { name }
  /// The shell's command line, of a note's path.
  public let command: @Sendable (String) -> String
  /// What it shows when it has the note, whose last line that is.
  public var ready: @Sendable (_ line: String) -> String = { $0 }
  /// Brings up its question about a note that another program has changed, without a change of its own.
  public var nudge: Keys = []
  /// Goes to the end of the note and types a line.
  public let type: @Sendable (String) -> Keys
  /// Saves.
  public let save: Keys
  public var questions: [Question] = []
  /// Loads the note again; nil where it cannot.
  public var reload: Keys?
  /// Takes the last line away.
  public var deleteLast: Keys?
  public let quit: Keys
  /// Whether it writes a text that it wrote before.
  public var writesUnchanged = true
  /// Whether it puts another file in the note's place.
  public var replaces = false
  /// Whether it forgets the keys that came before a question of its own.
  public var forgetsKeys = false

  public static let all: [RealEditor] = [
    vi("vim, backupcopy=yes", "vim -u NONE -N --cmd 'set bkc=yes'"),
    vi("vim, backupcopy=no", "vim -u NONE -N --cmd 'set bkc=no'"),
    vi("vim, backupcopy=auto", "vim -u NONE -N --cmd 'set bkc=auto'"),
    vi("neovim", "nvim -u NONE -i NONE"),
    nano, emacs, micro, kakoune, ed,
  ]

  /// Those that scripts/deps installs: vim, nano and ed for the tests, the others for all of them.
  public static let played = all.filter { editor in
    TestEnvironment.isFull || ["vim, backupcopy=auto", "nano", "ed"].contains(editor.name)
  }

  private static func vi(_ name: String, _ command: String) -> RealEditor {
    RealEditor(
      name: name, command: { "\(command) '\($0)'" },
      nudge: ["Escape", "\":checktime", "Enter"],
      type: { ["Escape", "G", "o", "\"\($0)", "Escape"] }, save: ["\":w", "Enter"],
      questions: [
        ("(y/n)", ["y"]), ("Load File", ["Enter"]), ("Press ENTER", ["Enter"]),
      ],
      reload: ["\":e!", "Enter"], deleteLast: ["G", "d", "d"], quit: ["\":q!", "Enter"],
      forgetsKeys: true)
  }

  private static let nano = RealEditor(
    name: "nano", command: { "nano -I '\($0)'" }, type: { ["M-/", "\"\($0)"] },
    save: ["C-o", "Enter"], questions: [("continue saving", ["y"])], quit: ["C-x", "n"])

  private static let emacs = RealEditor(
    name: "emacs", command: { "emacs -nw -Q '\($0)'" }, nudge: ["M->", "Space"],
    type: { ["M->", "Enter", "\"\($0)"] }, save: ["C-x", "C-s"],
    questions: [
      ("really edit the buffer?", ["y"]), ("Save anyway? (yes or no)", ["\"yes", "Enter"]),
      ("Revert buffer from file", ["\"yes", "Enter"]),
      ("Discard edits and reread", ["\"yes", "Enter"]),
    ],
    reload: ["M-x", "\"revert-buffer", "Enter"], deleteLast: ["M->", "C-p", "C-k", "C-k"],
    quit: ["C-x", "C-c"], writesUnchanged: false, forgetsKeys: true)

  private static let micro = RealEditor(
    name: "micro", command: { "micro '\($0)'" }, nudge: ["C-End"],
    type: { ["C-End", "\"\($0)", "Enter"] }, save: ["C-s"],
    questions: [("Reload file?", ["n"])], quit: ["C-q", "n"])

  private static let kakoune = RealEditor(
    name: "kakoune", command: { "kak -n '\($0)'" },
    type: { ["Escape", "g", "e", "o", "\"\($0)", "Escape"] }, save: ["\":w", "Enter"],
    questions: [("modified externally", ["n"])],
    reload: ["\":e!", "Enter"], deleteLast: ["g", "e", "x", "d"], quit: ["\":q!", "Enter"])

  private static let ed = RealEditor(
    name: "ed", command: { "ed -p 'ed> ' '\($0)'" }, ready: { _ in "ed>" },
    type: { ["\"$a", "Enter", "\"\($0)", "Enter", "\".", "Enter"] }, save: ["\"w", "Enter"],
    reload: ["\"E", "Enter"], deleteLast: ["\"$d", "Enter"], quit: ["\"Q", "Enter"])
}

/// An editor that has a note open on a screen of its own.
public final class EditorSession {
  public let editor: RealEditor
  private let screen: TmuxScreen
  private let note: String

  /// Opens a note of a folder, and waits until its last line is shown.
  public init(_ editor: RealEditor, note: String, in folder: String, home: String, lastLine: String)
    throws
  {
    self.editor = editor
    self.note = folder + "/" + note
    screen = try TmuxScreen(
      ["sh", "-c", editor.command(self.note)], home: home, in: folder,
      environment: TestEnvironment.isolated(home: home))
    try screen.wait(for: editor.ready(lastLine))
  }

  private func press(_ keys: RealEditor.Keys) throws {
    for key in keys {
      if key.hasPrefix("\"") {
        try screen.type(String(key.dropFirst()))
      } else {
        try screen.press(key)
      }
    }
  }

  /// Presses keys and says what the editor asks that its own text is meant, until that holds.
  ///
  /// - Parameters:
  ///   - again: whether the keys are pressed again after a question.
  ///   - patience: how many seconds pass without a question first.
  private func press(
    _ keys: RealEditor.Keys, for wanted: String, again: Bool = false, patience: Double = 0,
    until holds: () throws -> Bool
  ) throws {
    try press(keys)
    var (answered, quiet) = ("", now())
    try screen.wait(for: wanted) { shown in
      if let (question, keys) = editor.questions.first(where: { shown.contains($0.text) }) {
        if answered != question { try press(keys) }
        (answered, quiet) = (question, now())
        return false
      }
      if now() - quiet < patience { return false }
      if try holds() { return true }
      if again, !answered.isEmpty { try press(keys) }
      answered = ""
      return false
    }
  }

  /// Types a line at the end. Where another program has changed the note since, the editor may ask first:
  /// it keeps what it has.
  public func type(_ line: String, afterChange: Bool) throws {
    if afterChange {
      try press(editor.nudge, for: "no question", patience: Self.timer) { true }
    }
    try press(editor.type(line), for: line, again: editor.forgetsKeys) {
      try screen.text.contains(line)
    }
  }

  /// kakoune looks every half second whether a file has changed, and its question takes the keys that come
  /// then.
  private static let timer = 1.2

  /// In seconds, by a clock that nobody sets.
  private func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// Saves; `isSaved` is asked of the note until it is so.
  public func save(until isSaved: () throws -> Bool) throws {
    try press(editor.save, for: "a save of \(editor)", until: isSaved)
  }

  /// Saves what it saved before. False where the editor would not write.
  public func saveAgain() throws -> Bool {
    guard editor.writesUnchanged else { return false }
    let before = try FileStamp(of: note)
    try save { try FileStamp(of: note) != before }
    return true
  }

  /// Loads the note again, whose last line is that.
  public func reload(lastLine: String) throws {
    try press(editor.reload ?? [], for: lastLine) {
      try editor.name == "ed" || screen.text.contains(lastLine)
    }
  }

  public func deleteLast() throws { try press(editor.deleteLast ?? []) }
  public func quit() throws { try press(editor.quit) }
}

/// Which file a path names, and when it was written.
private struct FileStamp: Equatable {
  private let values: [Int]

  init(of path: String) throws {
    var status = stat()
    guard lstat(path, &status) == 0 else { throw SystemError("lstat", path) }
    values = [Int(status.st_ino), status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
  }
}

/// What holds of each editor that has a note open while other devices change it.
public struct EditorStory {
  /// What came out otherwise than the story tells.
  public struct Broken: Error, CustomStringConvertible {
    public let description: String

    public init(description: String) { self.description = description }
  }

  /// Where the note `n.txt` is.
  public let folder: String
  public let home: String
  /// The other device changes the note; returns when the change is here.
  public let receive: (String) throws -> Void
  /// What the editor wrote is a version, and merged; the text that it comes to is given.
  public let settle: (_ isSettled: (String) -> Bool) throws -> Void
  /// Whether it is known that the editor has read the note again.
  public let knowsReads: (RealEditor) -> Bool

  public init(
    in folder: String, home: String, knowsReads: @escaping (RealEditor) -> Bool,
    receive: @escaping (String) throws -> Void,
    settle: @escaping (_ isSettled: (String) -> Bool) throws -> Void
  ) {
    (self.folder, self.home, self.knowsReads) = (folder, home, knowsReads)
    (self.receive, self.settle) = (receive, settle)
  }

  /// Plays a story in a notebook of its own, up to three times: an editor that asks something at an unlucky
  /// moment loses keys, on a busy machine above all; what fails three times is no lost key.
  public static func attempts(_ story: () throws -> Void) throws {
    for _ in 0..<2 {
      do {
        return try story()
      } catch {
        print("played again: \(error)")
      }
    }
    try story()
  }

  /// The note before.
  public static let start = "one\ntwo\nthree\nfour\n"

  /// The note, read without a trace.
  public func text() throws -> String {
    let file = open(folder + "/n.txt", O_RDONLY | O_CLOEXEC | 0o1000000)  // O_NOATIME
    guard file >= 0 else { throw SystemError("open", folder) }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = read(file, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
  }

  private func expect(_ lines: [String], without gone: [String] = [], _ event: String) throws {
    func isRight(_ text: String) -> Bool {
      let all = text.split(separator: "\n").map(String.init)
      return lines.allSatisfy { line in all.count { $0 == line } == 1 }
        && !gone.contains(where: all.contains) && !text.contains("<<<<")
    }
    do {
      try settle(isRight)
    } catch {
      throw Broken(description: "\(event): \(error)\n\(try text())")
    }
    let text = try text()
    guard isRight(text) else { throw Broken(description: "\(event):\n\(text)") }
  }

  /// Two saves without a look at what came lose nothing, and bring no conflict; who loads the note again and
  /// takes away what came is obeyed at once.
  public func play(_ editor: RealEditor) throws {
    let session = try EditorSession(
      editor, note: "n.txt", in: folder, home: home, lastLine: "four")
    var lines = ["one", "TWO by Bob", "three", "four", "five by Bob"]
    try receive("one\nTWO by Bob\nthree\nfour\nfive by Bob\n")
    for line in ["first line", "second line"] {
      try session.type(line, afterChange: true)
      lines.append(line)
      try session.save { try text().contains(line) }
      try expect(lines, without: ["two"], "the save of the \(line)")
      if try session.saveAgain() { try expect(lines, without: ["two"], "the same text again") }
    }
    guard editor.reload != nil, knowsReads(editor) else { return try session.quit() }
    try receive(text() + "six by Bob\n")
    try session.reload(lastLine: "six by Bob")
    try session.deleteLast()
    try session.save { try !text().contains("six by Bob") }
    try expect(lines, without: ["six by Bob", "two"], "who takes away what was read")
    try session.quit()
  }
}
