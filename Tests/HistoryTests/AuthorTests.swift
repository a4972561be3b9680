import Git
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Notebook

/// Who made a version.
@Suite("Authors are claims")
struct AuthorTests {
  // notes-log(1): "'this device' stands at those that were made here".
  @Test("a version that bears this device's name was not made here for that")
  func forgedAuthor() throws {
    let ada = try Fixture()
    try ada.write("first.txt", "first\n")
    let first = try #require(try ada.notebook.save().version)
    let forger = try ada.clone(device: "Ada")
    forger.seconds.now += 1
    try forger.write("forged.txt", "forged\n")
    let forged = try #require(try forger.notebook.save().version)
    // Fast-forward, and merged with an edit of the same time.
    try ada.receive(from: forger)
    #expect(try ada.notebook.history.versionsMadeHere() == [first])
    ada.seconds.now += 2
    try ada.write("second.txt", "second\n")
    let second = try #require(try ada.notebook.save().version)
    try forger.write("again.txt", "again\n")
    let again = try #require(try forger.notebook.save().version)
    try ada.receive(from: forger)
    ada.seconds.now += 2
    try ada.write("third.txt", "third\n")
    let third = try #require(try ada.notebook.save().version)
    let own = try ada.notebook.history.versionsMadeHere()
    #expect(own == [first, second, third] && !own.contains(forged) && !own.contains(again))
    let authors = try [forged, third].map { try ada.notebook.repository.commit($0).author.email }
    #expect(Set(authors).count == 1)
  }

  // notes-log(1), "Bursts": "the next version of that note that it was made on"; and 'this device' stands
  // at what a browser saved on the text that it was shown.
  @Test("an edit of an older text was made here, and folds with none that it was not made on")
  func sideBySide() throws {
    let ada = try Fixture()
    try ada.write("Plan.txt", "one\ntwo\nthree\nfour\nfive\n")
    try ada.write("Other.txt", "other\n")
    let first = try #require(try ada.notebook.save().version)
    let path = TreePath("Plan.txt")
    let shown = try ada.notebook.shownText(of: path)
    ada.seconds.now += 1
    try ada.write("Plan.txt", "ONE\ntwo\nthree\nfour\nfive\n")
    let inFolder = try #require(try ada.notebook.save().version)
    ada.seconds.now += 1
    let edited = try #require(
      try ada.notebook.save(
        Array("one\ntwo\nthree\nfour\nFIVE\n".utf8), of: path, shown: shown.blob,
        on: shown.version))
    #expect(try ada.read("Plan.txt") == "ONE\ntwo\nthree\nfour\nFIVE\n")
    #expect(try ada.notebook.history.versionsMadeHere().isSuperset(of: [first, inFolder, edited]))
    ada.seconds.now += 1
    try ada.write("Other.txt", "another\n")
    _ = try ada.notebook.save()
    ada.seconds.now += 1
    try ada.write("Plan.txt", "ONE\ntwo\nthree\n4\nFIVE\n")
    let last = try #require(try ada.notebook.save().version)
    var versions: [ObjectID: Version] = [:]
    let walk = try ada.notebook.history.versions(of: path)
    while let version = try walk.next() { versions[version.commit.id] = version }
    let repository = ada.notebook.repository
    var burst = Burst(try #require(versions[edited]), ofOneNoteIn: repository)
    #expect(try !burst.take(#require(versions[inFolder])))
    // A merge and a version of another note stand between these.
    var next = Burst(try #require(versions[last]), ofOneNoteIn: repository)
    #expect(try next.take(#require(versions[edited])))
    #expect(try next.take(#require(versions[first])))
  }
}
