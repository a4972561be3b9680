import Git
import Glibc
import TestSupport
import Testing

@testable import Notebook

/// A program in a terminal of its own, driven by keys and read as a screen.
final class Screen {
  private let socket: String

  init(_ command: String, folder: TemporaryFolder) throws {
    socket = folder["tmux"]
    let result = try tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", command)
    guard result.isSuccess else { throw SystemFailure("tmux: \(result.errorText)") }
  }

  deinit { _ = try? tmux("kill-server") }

  func type(_ keys: String...) throws { _ = try tmux(["send-keys"] + keys) }

  var text: String { (try? tmux("capture-pane", "-p"))?.text ?? "" }

  /// Looks at the screen until it shows what is asked for; a look takes a process, not a sleep.
  func wait(for condition: (String) throws -> Bool) throws {
    var deadline = timespec()
    clock_gettime(CLOCK_MONOTONIC, &deadline)
    let end = deadline.tv_sec + 80
    while true {
      if try condition(text) { return }
      clock_gettime(CLOCK_MONOTONIC, &deadline)
      guard deadline.tv_sec < end else { throw SystemFailure("the screen stayed:\n\(text)") }
    }
  }

  private func tmux(_ arguments: String...) throws -> ProcessResult { try tmux(arguments) }

  private func tmux(_ arguments: [String]) throws -> ProcessResult {
    try TestSupport.run(["tmux", "-S", socket] + arguments)
  }
}

struct SystemFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// notes-merge(7), "The stale editor", with the editors themselves: each has the note open while a
/// sync replaces it, and saves its old text with an edit.
@Suite("Editors that have a note open while a sync replaces it")
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

  func syncMeanwhile() throws {
    try other.write("n.txt", "one\nTWO by Bob\nthree\nfour\n")
    _ = try other.notebook.save()
    try home.receive(from: other)
    #expect(try home.read("n.txt") == "one\nTWO by Bob\nthree\nfour\n")
  }

  func expectBoth() throws {
    #expect(try home.read("n.txt") == "one\ntwo\nthree\nfour\nfrom the editor\n")
    _ = try home.notebook.save()
    #expect(try home.read("n.txt") == "one\nTWO by Bob\nthree\nfour\nfrom the editor\n")
    #expect(try home.notebook.save().version == nil)
  }

  @Test("vim")
  func vim() throws {
    let screen = try Screen("vi -u NONE -N \(home.path)/n.txt", folder: folder)
    try screen.wait { $0.contains("four") }
    try syncMeanwhile()
    try screen.type("G", "o", "from the editor", "Escape", ":w!", "Enter")
    // It warns that the file has changed; whoever is in a hurry says yes.
    try screen.wait { screen in
      try screen.contains("(y/n)") || self.home.read("n.txt")?.contains("from the editor") == true
    }
    if screen.text.contains("(y/n)") { try screen.type("y") }
    try screen.wait { _ in try self.home.read("n.txt")?.contains("from the editor") == true }
    try expectBoth()
  }

  @Test("nano")
  func nano() throws {
    let screen = try Screen("nano -I \(home.path)/n.txt", folder: folder)
    try screen.wait { $0.contains("four") }
    try syncMeanwhile()
    try screen.type("M-/", "from the editor", "C-o")
    // nano 8 asks in other words.
    try screen.wait { $0.contains("File Name to Write") || $0.contains("Write to File") }
    try screen.type("Enter")
    try screen.wait { screen in
      try screen.contains("Yes") || self.home.read("n.txt")?.contains("from the editor") == true
    }
    if screen.text.contains("Yes") { try screen.type("y") }
    try screen.wait { _ in try self.home.read("n.txt")?.contains("from the editor") == true }
    try expectBoth()
  }

  @Test("one that loads once and writes in place")
  func inPlace() throws {
    let loaded = try #require(try home.read("n.txt"))
    try syncMeanwhile()
    let descriptor = open(home.path + "/n.txt", O_WRONLY | O_TRUNC | O_CLOEXEC)
    let text = loaded + "from the editor\n"
    #expect(write(descriptor, text, text.utf8.count) == text.utf8.count)
    close(descriptor)
    try expectBoth()
  }
}
