import Git
import Merge
import NotebookSupport
import Testing

@testable import History
@testable import Notebook
@testable import WorkTree

/// An operation of one kind, in a notebook as `Fixture.withHistory` makes it.
struct UndoDeed: CustomTestStringConvertible, Sendable {
  let name: String
  let kind: OperationKind
  /// What has to be done first.
  var prepare: @Sendable (Fixture) throws -> Void = { _ in }
  let act: @Sendable (Fixture) throws -> Void
  var testDescription: String { name }

  static let all = ofNotes + ofHistory + ofOthers

  private static let ofNotes = [
    UndoDeed(name: "save", kind: .save) { home in
      try home.write("Note.txt", "one\nTWO\nthree\n")
      try home.write("New.txt", "new\n")
      try home.remove("trips/Rome.md")
      _ = try home.notebook.save()
    },
    UndoDeed(name: "new", kind: .create) {
      _ = try $0.notebook.create("a/b/New.txt", text: Array("x".utf8))
    },
    UndoDeed(name: "edit", kind: .edit) { home in
      try home.write("Note.txt", "edited\n")
      _ = try home.notebook.save(only: ["Note.txt"], operation: .edit)
    },
    UndoDeed(name: "mv", kind: .rename) {
      _ = try $0.notebook.rename("Note.txt", to: "trips/Paper.txt")
    },
    UndoDeed(name: "mv of a folder", kind: .rename) {
      _ = try $0.notebook.rename(folder: "trips", to: "far/travels")
    },
    UndoDeed(name: "rm", kind: .delete) { _ = try $0.notebook.delete(["Note.txt", "trips"]) },
    UndoDeed(
      name: "save of an editor that had loaded an older text", kind: .save,
      prepare: { home in
        let loaded = "one\ntwo\nthree\nfour\nfive\n"
        try home.write("Long.txt", loaded)
        _ = try home.notebook.save()
        try home.receive("Long.txt", "one\nTWO\nthree\nfour\nfive\n", from: "Cyd")
      },
      act: { home in
        try home.write("Long.txt", "one\ntwo\nthree\nfour\nFIVE\n")
        try home.write("Other.txt", "saved in the same go\n")
        _ = try home.notebook.save()
        #expect(try home.read("Long.txt") == "one\nTWO\nthree\nfour\nFIVE\n")
      }),
  ]

  private static let ofHistory = [
    UndoDeed(name: "restore of a note", kind: .restore) { home in
      let first = try home.notebook.history.version(named: "~1", of: "Note.txt")
      _ = try home.notebook.restore("Note.txt", from: first)
    },
    UndoDeed(
      name: "restore of a deleted note", kind: .restore,
      prepare: { _ = try $0.notebook.delete(["Note.txt"]) },
      act: { home in
        let last = try #require(try home.notebook.history.lastVersion(with: "Note.txt"))
        _ = try home.notebook.restore("Note.txt", from: last)
      }),
    UndoDeed(name: "restore as another note", kind: .restore) { home in
      let first = try home.notebook.history.version(named: "~1", of: "Note.txt")
      _ = try home.notebook.restore("Note.txt", from: first, as: "Note before.txt")
    },
    UndoDeed(
      name: "restore of a folder", kind: .restore,
      prepare: { home in
        try home.write("trips/Rome.md", "colosseum\n")
        try home.write("trips/Paris.md", "louvre\n")
        _ = try home.notebook.save()
      },
      act: { home in
        let tip = try home.notebook.repository.commit(#require(home.notebook.state().tip))
        let before = try home.notebook.repository.commit(#require(tip.parents.first))
        _ = try home.notebook.restore(folder: "trips", from: before, label: "then")
      }),
    UndoDeed(name: "restore of the notebook", kind: .restore) { home in
      // The last version is a merge.
      let first = try home.notebook.history.version(named: "~3")
      let done = try home.notebook.restore(from: first, label: "then")
      #expect(done.changes.map(\.path) == ["Clash.txt", "Note.txt", "trips/Rome.md"])
    },
    UndoDeed(name: "redo", kind: .redo) { home in
      try home.write("Note.txt", "edited\n")
      _ = try home.notebook.save()
      _ = try home.notebook.undo()
      _ = try home.notebook.redo()
    },
    UndoDeed(name: "resolve", kind: .resolve) { home in
      #expect(try home.notebook.history.conflicts().map(\.path) == ["Clash.txt"])
      _ = try home.notebook.resolve("Clash.txt", keeping: .older)
      #expect(try home.notebook.history.conflicts().isEmpty)
    },
    UndoDeed(
      name: "a merge taken back", kind: .unmerge,
      prepare: { home in
        try home.write("Plan.txt", "buy a boat today\n")
        _ = try home.notebook.save()
        let other = try home.clone(device: "Cyd")
        try home.write("Plan.txt", "buy a big boat today\n")
        _ = try home.notebook.save()
        try other.write("Plan.txt", "buy a boat tomorrow\n")
        _ = try other.notebook.save()
        try home.receive(from: other)
        #expect(try home.read("Plan.txt") == "buy a big boat tomorrow\n")
      },
      act: { home in
        let made = try home.notebook.takeBackMerge(of: "Plan.txt")
        #expect(made != nil)
      }),
  ]

  private static let ofOthers = [
    UndoDeed(name: "what a sync brought", kind: .receive) { home in
      let other = try Fixture(device: "Ben")
      try other.copyObjects(from: home)
      let root = try home.notebook.history.version(named: "~2")
      _ = try other.notebook.merge([root.id])
      other.seconds.now += 500
      try other.write("Note.txt", "zero\none\ntwo\n")
      try other.write("Ben.txt", "ben\n")
      _ = try other.notebook.save()
      try home.receive(from: other)
    },
    UndoDeed(name: "the end of a run that was killed", kind: .checkout) { home in
      let notebook = home.notebook
      let from = try notebook.repository.commit(#require(try notebook.state().tip))
      let blob = try notebook.repository.write(blob: Array("restored\n".utf8))
      let tree = try notebook.repository.write(
        tree: from.tree,
        replacing: ["Note.txt": TreeEntry(name: "Note.txt", mode: .regular, id: blob)])
      let to = try VersionWriter(notebook.history, device: notebook.identity.device).makeVersion(
        of: tree, parents: [from], message: "Restore Note")
      let journal = CheckoutJournal(from: from.id, to: to)
      try Checkout(
        in: notebook.workTree, plan: journal.plan(in: notebook.repository), journal: journal
      ).stage()
      _ = try notebook.save()
      #expect(try home.read("Note.txt") == "restored\n")
    },
    UndoDeed(name: "a commit made by git", kind: .git) { home in
      let repository = home.notebook.repository
      let head = try repository.head()
      let from = try repository.commit(#require(head.commit))
      let blob = try repository.write(blob: Array("by hand\n".utf8))
      let tree = try repository.write(
        tree: from.tree,
        replacing: ["Note.txt": TreeEntry(name: "Note.txt", mode: .regular, id: blob)])
      let author = Signature(
        name: "Eve", email: "eve@example.org", time: from.author.time + 9, offset: 0)
      let made = try repository.write(
        commit: tree, parents: [from.id], author: author, committer: author,
        message: "By hand\n")
      try repository.update(
        reference: head.reference, to: made, from: from.id, message: "commit: By hand")
      try home.write("Note.txt", "by hand\n")
    },
  ]
}

extension Fixture {
  /// Another device edits a note, and a sync brings that here.
  fileprivate func receive(_ name: String, _ text: String, from device: String) throws {
    let other = try clone(device: device)
    other.seconds.now = seconds.now + 10
    try other.write(name, text)
    _ = try other.notebook.save()
    try receive(from: other)
    seconds.now += 20
    #expect(try read(name) == text)
  }
}
