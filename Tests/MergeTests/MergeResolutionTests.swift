import Git
import Merge
import TestSupport
import Testing

// What people do with conflicts: notes-merge(7), "Markers", "Trailers" and "Open conflicts".

@Suite struct MergeResolutionTests {
  static let note = Array(
    """
    top
    <<<<<<< Ann · 2026-11-21 09:30
    one
    ======= Bob · 2026-11-21 09:31
    two
    =======
    three
    >>>>>>> Cyd · 2026-11-21 09:32
    end

    """.utf8)

  @Test func choosingSides() throws {
    func chosen(_ resolution: Resolution) throws -> String {
      String(
        decoding: try resolution.apply(to: MarkedText(Self.note, markerSize: 7)), as: UTF8.self)
    }
    #expect(try chosen(.older) == "top\none\nend\n")
    #expect(try chosen(.newer) == "top\nthree\nend\n")
    #expect(try chosen(.both) == "top\none\ntwo\nthree\nend\n")
    #expect(try chosen(.side(name: "Bob")) == "top\ntwo\nend\n")
    #expect(throws: MergeError.noSide(name: "Dan")) { try chosen(.side(name: "Dan")) }
    #expect(throws: MergeError.noConflict) {
      try Resolution.older.apply(to: MarkedText(Self.note, markerSize: 8))
    }
  }

  @Test func sidesBearTheirLabels() {
    let sides = MarkedText(Self.note, markerSize: 7).blocks.first ?? []
    #expect(sides.map(\.name) == ["Ann", "Bob", "Cyd"])
    #expect(sides.map(\.date).last == "2026-11-21 09:32")
  }

  @Test(arguments: ["a.txt", " outer ", "tab\there", "quote\"d", "back\\slash", "new\nline"])
  func trailersKeepAnyPath(path: String) {
    var trailers = MergeTrailers()
    trailers.version = 1
    trailers.conflicts = [TreePath(path): 9]
    trailers.merged = [TreePath(path): [.joinedInsertions, .words]]
    let message = "Subject\n\n" + trailers.lines().joined(separator: "\n") + "\n"
    #expect(MergeTrailers(message: message) == trailers)
    #expect(trailers.lines().allSatisfy { !$0.contains("\n") })
  }

  @Test func anAutomaticMergeGoesBackToMarkers() throws {
    let store = MergeMemoryStore()
    func version(_ text: String, _ parents: [ObjectID], _ name: String) throws -> ObjectID {
      let blob = try store.write(blob: Array(text.utf8))
      let entry = TreeEntry(name: "n.txt", mode: .regular, id: blob)
      let author = Signature(name: name, email: "\(name)@notes.invalid", time: 1, offset: 0)
      return try store.write(
        commit: store.write(tree: [entry]), parents: parents, author: author, committer: author,
        message: name)
    }
    let base = try version("list\n", [], "base")
    let heads = [
      try version("list\nbread\n", [base], "Ann"), try version("list\nstamps\n", [base], "Bob"),
    ]
    let tip = try DerivedMerge.tip(of: heads, in: store)
    #expect(tip.conflicts.isEmpty)
    #expect(tip.reports == [MergeReport(path: "n.txt", kind: .merged(.joinedInsertions))])
    let found = try DerivedMerge.noteInMarkers("n.txt", at: tip.id, in: store)
    let marked = try #require(found)
    let sides = MarkedText(marked.text, markerSize: marked.markerSize).blocks.first ?? []
    #expect(Set(sides.map { String(decoding: $0.text, as: UTF8.self) }) == ["bread\n", "stamps\n"])
  }
}
