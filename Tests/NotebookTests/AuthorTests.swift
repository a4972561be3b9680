import Git
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
}
