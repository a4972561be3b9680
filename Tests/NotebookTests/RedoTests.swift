import Git
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Notebook
@testable import WorkTree

/// notes-undo(1) and notes-redo(1): several at once, out of order, and in any order.
@Suite struct RedoTests {
  // notes-redo(1): "Takes back the last notes-undo(1) ..., or the last n, as a new version."
  @Test func `Several undos are taken back together`() throws {
    let home = try Fixture()
    for number in 1...4 {
      try home.write("Note.txt", "\(number)\n")
      _ = try home.notebook.save()
    }
    for _ in 1...3 { _ = try home.notebook.undo() }
    #expect(try home.read("Note.txt") == "1\n")
    #expect(throws: NotebookError.self) { try home.notebook.redo(4) }
    let trial = try home.notebook.redo(2, trial: true)
    #expect(try home.read("Note.txt") == "1\n")
    let redone = try home.growing { try home.notebook.redo(2) }
    #expect(trial.changes == redone.changes && trial.operations == redone.operations)
    #expect(try home.read("Note.txt") == "3\n")
    #expect(
      try home.notebook.history.operations().map(\.isUndone)
        == [false, false, false, false, true, false, false, false])
    // As one operation.
    _ = try home.notebook.undo()
    #expect(try home.read("Note.txt") == "1\n")
    #expect(
      try home.notebook.history.operations().map(\.isUndone)
        == [false, true, false, false, false, true, true, true, false])
    _ = try home.notebook.redo(2)
    #expect(try home.read("Note.txt") == "4\n")
    #expect(try home.notebook.history.versions().next()?.subject == "Redo 2 undos")
  }

  // notes-undo(1): "With several, the last is taken back first"; what was taken back alone before
  // stays so.
  @Test(arguments: [false, true])
  func `What was taken back alone stays taken back`(isSaved: Bool) throws {
    let home = try Fixture()
    try home.write("Note.txt", "a\n")
    _ = try home.notebook.save()
    var made: [ObjectID] = []
    for name in ["One.txt", "Two.txt"] {
      made.append(
        try #require(try home.notebook.create(TreePath(name), text: Array(name.utf8))))
    }
    _ = try home.notebook.undo(.version(made[0].hex))
    try home.write("Note.txt", "b\n")
    if isSaved { _ = try home.notebook.save() }
    let trial = try home.notebook.undo(.last(2), trial: true)
    let done = try home.notebook.undo(.last(2))
    #expect(trial.changes == done.changes)
    #expect(try home.notebook.history.notes().map(\.title) == ["Note"])
    #expect(try home.read("Note.txt") == "a\n")
    _ = try home.notebook.redo(2)
    #expect(try home.notebook.history.notes().map(\.title) == ["Note", "One", "Two"])
    #expect(try home.read("Note.txt") == "b\n")
  }

  @Test func `A trial knows what is not saved, and says of one version what comes true`() throws {
    let home = try Fixture()
    try home.write("Note.txt", "a\nb\nc\nd\ne\n")
    _ = try home.notebook.save()
    try home.write("Note.txt", "A\nb\nc\nd\ne\n")
    let edited = try #require(try home.notebook.save().version)
    // The unsaved edit takes the other back by itself: nothing is left to undo.
    try home.write("Note.txt", "a\nb\nc\nd\nE\n")
    try home.write("New.txt", "new\n")
    let choice = OperationChoice.version(edited.hex)
    let trial = try home.notebook.undo(choice, trial: true)
    #expect(try home.read("Note.txt") == "a\nb\nc\nd\nE\n")
    #expect(try home.notebook.status().changes.map(\.path) == ["New.txt", "Note.txt"])
    let done = try home.notebook.undo(choice)
    #expect(trial.changes == done.changes && trial.changes.isEmpty)
    // An unsaved edit of the same line is in the way, as it would be.
    try home.write("Note.txt", "x\nb\nc\nd\ne\n")
    let saved = try #require(try home.notebook.save().version)
    try home.write("Note.txt", "y\nb\nc\nd\ne\n")
    #expect(throws: NotebookError.self) {
      try home.notebook.undo(.version(saved.hex), trial: true)
    }
  }

  @Test func `Whatever was done, undo and redo lead through the same states`() throws {
    var random = SplitMix64.reported()
    for _ in 0..<8 {
      let home = try Fixture.withHistory()
      // What stood before and after each operation that can be undone, and each undo since.
      var done: [(before: [TreePath: [UInt8]], after: [TreePath: [UInt8]])] = []
      var undone = done
      for step in 0..<25 {
        home.seconds.now += 30
        let before = try home.texts()
        switch Int.random(in: 0..<5, using: &random) {
        case 0 where !done.isEmpty:
          let count = Int.random(in: 1...min(3, done.count), using: &random)
          let choice = OperationChoice.last(count)
          let trial = try home.notebook.undo(choice, trial: true, allowsMassDeletion: true)
          #expect(try home.texts() == before)
          let real = try home.growing {
            try home.notebook.undo(choice, allowsMassDeletion: true)
          }
          #expect(trial.changes == real.changes)
          let wanted = done[done.count - count].before
          #expect(try home.texts() == wanted)
          done.removeLast(count)
          undone.append((before, wanted))
        case 1 where !undone.isEmpty:
          let count = Int.random(in: 1...min(3, undone.count), using: &random)
          _ = try home.growing { try home.notebook.redo(count, allowsMassDeletion: true) }
          let wanted = undone[undone.count - count].before
          #expect(try home.texts() == wanted)
          undone.removeLast(count)
          // Operations that together change nothing are undone and redone by versions that change nothing.
          if before != wanted { done.append((before, wanted)) }
        default:
          try change(home, step, &random)
          let after = try home.texts()
          // notes-undo(1): "The command skips operations … that changed nothing". A save of a text that the
          // writer held from before may be one: its merge may give the same texts.
          if after == before { continue }
          done.append((before, after))
          // An undo from before is redone on top of what came since, which is another matter.
          undone = []
        }
      }
      #expect(try home.notebook.history.operations().count > 10)
    }
  }

  /// Does something to a notebook.
  private func change(_ home: Fixture, _ step: Int, _ random: inout SplitMix64) throws {
    let notes = try home.notebook.history.notes().map(\.path)
    let note = notes.randomElement(using: &random)
    let text = (0..<6).map { "\($0) \(Int.random(in: 0..<3, using: &random))\n" }.joined()
    switch (Int.random(in: 0..<6, using: &random), note) {
    case (0, let note?): _ = try home.notebook.rename(note, to: TreePath("moved/\(step).txt"))
    case (1, let note?): _ = try home.notebook.delete([note], allowsMassDeletion: true)
    case (2, let note?):
      guard let old = try? home.notebook.history.version(named: "~1", of: note) else { return }
      // The note need not have been there then.
      _ = try? home.notebook.restore(note, from: old)
    case (3, let note?):
      try home.write(note.description, text)
      _ = try home.notebook.save(allowsMassDeletion: true)
    case (4, _):
      let old = try home.notebook.history.version(
        named: "~\(Int.random(in: 0..<3, using: &random))")
      _ = try home.notebook.restore(from: old, label: "then", allowsMassDeletion: true)
    default: _ = try home.notebook.create(TreePath("made/\(step).txt"), text: Array(text.utf8))
    }
  }
}
