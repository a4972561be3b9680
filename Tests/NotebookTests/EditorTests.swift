import Git
import Glibc
import TestSupport
import Testing

@testable import Notebook
@testable import WorkTree

/// A program that edits notes, driven as a person does.
struct RealEditor: Sendable, CustomTestStringConvertible {
  /// Keys by tmux's names; what begins with `"` is typed as it is.
  typealias Keys = [String]

  let name: String
  /// The shell's command line, of a note's path.
  let command: @Sendable (String) -> String
  /// Goes to the end of the note and types a line; another one.
  let type: @Sendable (String) -> Keys
  /// Saves, whatever it asks.
  let save: Keys
  /// What it may ask then, and what says yes.
  var answers: [(question: String, keys: Keys)] = []
  let quit: Keys
  var testDescription: String { name }

  static let all: [RealEditor] = [
    vi("vim, backupcopy=yes", "vim -u NONE -N --cmd 'set bkc=yes'"),
    vi("vim, backupcopy=no", "vim -u NONE -N --cmd 'set bkc=no'"),
    vi("vim, backupcopy=auto", "vim -u NONE -N --cmd 'set bkc=auto'"),
    vi("neovim", "nvim -u NONE -i NONE"),
    RealEditor(
      name: "ed", command: { "ed -p 'ed> ' '\($0)'" },
      type: { ["\"$a", "Enter", "\"\($0)", "Enter", "\".", "Enter"] }, save: ["\"w", "Enter"],
      quit: ["\"q", "Enter"]),
  ]

  /// Those that are here. scripts/deps installs vim and ed for the tests, neovim for all of them.
  static let present = all.filter { editor in
    if ["vim", "ed"].contains(editor.program) { return true }
    return (try? run(["sh", "-c", "command -v \(editor.program)"]).isSuccess) == true
  }

  var program: Substring { command("").prefix { $0 != " " } }

  private static func vi(_ name: String, _ command: String) -> RealEditor {
    RealEditor(
      name: name, command: { "\(command) '\($0)'" },
      type: { ["Escape", "G", "o", "\"\($0)", "Escape"] }, save: ["\":w!", "Enter"],
      answers: [("(y/n)", ["y"])], quit: ["\":q!", "Enter"])
  }
}

/// notes-merge(7), "The stale editor", with the editors themselves: each has the note open while a sync
/// replaces it, types, saves, and saves again.
@Suite("Editors that have a note open while a sync replaces it", .serialized)
struct EditorTests {
  let home: Fixture
  let other: Fixture
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    home = try Fixture()
    try home.write("n.txt", "one\ntwo\nthree\nfour\n")
    _ = try home.notebook.save()
    other = try home.clone(device: "Bob")
  }

  /// The other device changes a line and appends one.
  func syncMeanwhile(_ text: String) throws {
    try other.write("n.txt", text)
    _ = try other.notebook.save()
    try home.receive(from: other)
  }

  /// The note, read without a trace.
  private var text: String {
    get throws { String(decoding: try home.notebook.workTree.text(of: "n.txt"), as: UTF8.self) }
  }

  private func press(_ keys: RealEditor.Keys, _ screen: TmuxScreen) throws {
    for key in keys {
      if key.hasPrefix("\"") {
        try screen.type(String(key.dropFirst()))
      } else {
        try screen.press(key)
      }
    }
  }

  /// Presses keys, and says yes to all that is asked, until the note has a line.
  private func save(
    _ line: String, with editor: RealEditor, _ keys: RealEditor.Keys, _ screen: TmuxScreen
  ) throws {
    try press(keys, screen)
    var answered = ""
    try screen.wait(for: line) { shown in
      if try text.contains(line) { return true }
      for (question, keys) in editor.answers
      where shown.contains(question) && answered != question {
        answered = question
        try press(keys, screen)
      }
      return false
    }
  }

  @Test(arguments: RealEditor.present)
  func `Two saves without a look at what came lose nothing`(editor: RealEditor) throws {
    let command = editor.command(home.path + "/n.txt")
    let environment = try TestEnvironment.isolated(home: folder["home"])
    let screen = try TmuxScreen(
      ["sh", "-c", command], home: folder["home"], in: home.path, environment: environment)
    try screen.wait(for: editor.name == "ed" ? "ed>" : "four")
    try syncMeanwhile("one\nTWO by Bob\nthree\nfour\nfive by Bob\n")
    try press(editor.type("first line"), screen)
    try save("first line", with: editor, editor.save, screen)
    _ = try home.notebook.save()
    let merged = try text
    #expect(merged.contains("TWO by Bob") && merged.contains("five by Bob"))
    #expect(merged.contains("first line") && !merged.contains("<<<<"))
    try press(editor.type("second line"), screen)
    try save("second line", with: editor, editor.save, screen)
    _ = try home.notebook.save()
    let again = try text
    for line in ["TWO by Bob", "five by Bob", "first line", "second line"] {
      #expect(again.contains(line), "\(line) in:\n\(again)")
    }
    #expect(!again.contains("<<<<") && !again.contains("\ntwo\n"))
    #expect(try home.notebook.save().version == nil)
    try press(editor.quit, screen)
  }

  @Test(arguments: ["sed -i s/three/THREE/ n.txt", "echo appended >> n.txt"])
  func `Programs that write what came are taken at their word`(command: String) throws {
    try syncMeanwhile("one\nTWO by Bob\nthree\nfour\nfive by Bob\n")
    #expect(try run(["sh", "-c", command], in: home.path).isSuccess)
    let written = try text
    let saved = try home.notebook.save()
    #expect(saved.news.isEmpty)
    #expect(try text == written)
    #expect(written.contains("TWO by Bob") && written.contains("five by Bob"))
  }

  @Test("one that loads once and writes in place")
  func inPlace() throws {
    let loaded = try #require(try home.read("n.txt"))
    try syncMeanwhile("one\nTWO by Bob\nthree\nfour\n")
    let descriptor = open(home.path + "/n.txt", O_WRONLY | O_TRUNC | O_CLOEXEC)
    let text = loaded + "from the editor\n"
    #expect(write(descriptor, text, text.utf8.count) == text.utf8.count)
    close(descriptor)
    let saved = try home.notebook.save()
    #expect(saved.remarks.map(\.evidence) == [.unread])
    #expect(saved.news.map(\.devices) == [["Bob"]])
    #expect(try home.read("n.txt") == "one\nTWO by Bob\nthree\nfour\nfrom the editor\n")
    #expect(try home.notebook.save().version == nil)
  }
}
