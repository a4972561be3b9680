import Git
import NotebookSupport
import Testing

@testable import History
@testable import Merge
@testable import Notebook

@Suite struct ResolveTests {
  /// Two devices that changed the same word of a note; the first has both edits.
  private func conflict(_ ours: String, _ theirs: String, base: String = "one\ntwo\nthree\n")
    throws -> Fixture
  {
    let ada = try Fixture(device: "Ada")
    try ada.write("Note.txt", base)
    _ = try ada.notebook.save()
    let ben = try ada.clone(device: "Ben")
    try ada.write("Note.txt", ours)
    _ = try ada.notebook.save()
    ben.seconds.now += 60
    try ben.write("Note.txt", theirs)
    _ = try ben.notebook.save()
    try ada.receive(from: ben)
    ada.seconds.now += 120
    return ada
  }

  @Test(arguments: [
    (Resolution.older, "one\nTWO\nthree\n"), (.newer, "one\nzwei\nthree\n"),
    (.both, "one\nTWO\nzwei\nthree\n"), (.side(name: "Ben"), "one\nzwei\nthree\n"),
  ])
  func `The chosen side stands alone and the conflict is over`(
    resolution: Resolution, expected: String
  ) throws {
    let ada = try conflict("one\nTWO\nthree\n", "one\nzwei\nthree\n")
    #expect(try ada.notebook.history.conflicts().map(\.path) == ["Note.txt"])
    #expect(try ada.notebook.resolve("Note.txt", keeping: resolution) != nil)
    #expect(try ada.read("Note.txt") == expected)
    #expect(try ada.notebook.history.conflicts().isEmpty)
    #expect(try ada.notebook.state().conflictCount == 0)
  }

  @Test func `Nobody's name and no conflict are said`() throws {
    let ada = try conflict("one\nTWO\nthree\n", "one\nzwei\nthree\n")
    #expect(throws: MergeError.noSide(name: "Eve")) {
      try ada.notebook.resolve("Note.txt", keeping: .side(name: "Eve"))
    }
    _ = try ada.notebook.resolve("Note.txt", keeping: .older)
    #expect(throws: MergeError.noConflict) {
      try ada.notebook.resolve("Note.txt", keeping: .older)
    }
  }

  private static let two = (
    ours: "one\nTWO\nthree\nfour\nFIVE\nsix\n", theirs: "one\nzwei\nthree\nfour\nfünf\nsix\n",
    base: "one\ntwo\nthree\nfour\nfive\nsix\n"
  )

  // notes-resolve(1): "Resolve only this block, from 1".
  @Test func `One block is settled and the other stays`() throws {
    let ada = try conflict(Self.two.ours, Self.two.theirs, base: Self.two.base)
    #expect(throws: MergeError.noBlock(number: 3, of: 2)) {
      try ada.notebook.resolve("Note.txt", keeping: .older, blocks: [2])
    }
    #expect(try ada.notebook.resolve("Note.txt", keeping: .newer, blocks: [1]) != nil)
    let text = try #require(try ada.read("Note.txt"))
    #expect(text.contains("<<<<<<< Ada") && text.hasSuffix("three\nfour\nfünf\nsix\n"))
    #expect(try ada.notebook.history.conflicts().map(\.blockCount) == [1])
  }

  // notes-resolve(1): "Your choice is merged with text that a program writes to the note in the meantime."
  @Test func `What is written meanwhile is merged with what was chosen`() throws {
    let ada = try conflict(Self.two.ours, Self.two.theirs, base: Self.two.base)
    let note = try ada.notebook.conflictedNote(at: "Note.txt")
    #expect(note.blocks.map { $0.map(\.name) } == [["Ada", "Ben"], ["Ada", "Ben"]])
    #expect(try ada.notebook.base(of: note) == Array(Self.two.base.utf8))
    let typed = try #require(try ada.read("Note.txt"))
    try ada.write("Note.txt", typed + "seven\n")
    #expect(try ada.notebook.settle(note, as: note.text(keeping: .older)) != nil)
    #expect(try ada.read("Note.txt") == Self.two.ours + "seven\n")
    #expect(try ada.notebook.history.conflicts().isEmpty)
    #expect(try ada.notebook.settle(note, as: note.text) == nil)
  }

  // Where both change one block, neither is dropped.
  @Test func `A block that was settled otherwise meanwhile is in conflict again`() throws {
    let ada = try conflict(Self.two.ours, Self.two.theirs, base: Self.two.base)
    let note = try ada.notebook.conflictedNote(at: "Note.txt")
    // Who settles it by hand has read it.
    #expect(try ada.read("Note.txt")?.contains("<<<<<<<") == true)
    try ada.write("Note.txt", Self.two.theirs)
    _ = try ada.notebook.settle(note, as: note.text(keeping: .older))
    let text = try #require(try ada.read("Note.txt"))
    #expect(text.contains("TWO") && text.contains("zwei"), "\(text)")
    #expect(try ada.notebook.history.conflicts().map(\.path) == ["Note.txt"])
  }

  @Test func `A fine-grained merge goes back to markers`() throws {
    let ada = try conflict(
      "one\ntwo\nthree\nfrom Ada\n", "one\ntwo\nthree\nfrom Ben\n")
    #expect(try ada.read("Note.txt") == "one\ntwo\nthree\nfrom Ada\nfrom Ben\n")
    #expect(try ada.notebook.takeBackMerge(of: "Note.txt") != nil)
    let text = try #require(try ada.read("Note.txt"))
    #expect(text.contains("<<<<<<< Ada") && text.contains(">>>>>>> Ben"))
    #expect(try ada.notebook.history.conflicts().map(\.path) == ["Note.txt"])
    #expect(try ada.notebook.takeBackMerge(of: "Note.txt") == nil)
  }

  /// "Files that it adds or changes are also searched for conflicts of the texts that the folder had before"
  @Test func `Text that an editor's undo brings back is in conflict again`() throws {
    let ada = try conflict("one\nTWO\nthree\n", "one\nzwei\nthree\n")
    let marked = try #require(try ada.read("Note.txt"))
    try ada.write("Note.txt", "one\nTWO\nthree\n")
    _ = try ada.notebook.save()
    try ada.write("Other.txt", "other\n")
    _ = try ada.notebook.save()
    #expect(try ada.notebook.history.conflicts().isEmpty)
    try ada.write("Note.txt", marked)
    _ = try ada.notebook.save()
    #expect(try ada.notebook.history.conflicts().map(\.path) == ["Note.txt"])
  }

  /// "The conflict is also open in any other file that is new or changed since".
  @Test func `A copy of a note in conflict is in conflict, whatever it replaces`() throws {
    let ada = try conflict("one\nTWO\nthree\n", "one\nzwei\nthree\n")
    let marked = try #require(try ada.read("Note.txt"))
    try ada.write("Old.txt", "old\n")
    _ = try ada.notebook.save()
    try ada.write("Old.txt", marked)
    try ada.write("New.txt", "# A copy\n\n" + marked)
    try ada.write("Like.txt", marked.replacing("Ada", with: "Eve"))
    _ = try ada.notebook.save()
    #expect(try ada.notebook.history.conflicts().map(\.path) == ["New.txt", "Note.txt", "Old.txt"])
  }

  /// The checkout puts the note back under its name: it is not gone, and there are two of them.
  @Test func `A note moved while a checkout changes it stays in conflict`() throws {
    let ada = try conflict("one\nTWO\nthree\n", "one\nzwei\nthree\n")
    let ben = try ada.clone(device: "Ben")
    ben.seconds.now = ada.seconds.now + 60
    let marked = try #require(try ben.read("Note.txt"))
    try ben.write("Note.txt", marked.replacing("TWO", with: "2"))
    _ = try ben.notebook.save()
    try ada.copyObjects(from: ben)
    let heads = try ben.notebook.state().heads
    try ada.notebook.withWriterLock { transaction in
      _ = try transaction.save()
      try ada.write("Moved.txt", marked)
      try ada.remove("Note.txt")
      try transaction.merge(heads)
    }
    _ = try ada.notebook.save()
    #expect(try ada.notebook.history.conflicts().map(\.path) == ["Moved.txt", "Note.txt"])
  }
}
