import Git
import Merge
import Testing

// What a merge did with files without asking anybody is told: notes-merge(7), "Files", "Limits".

@Suite struct MergeReportTests {
  private let store = MergeMemoryStore()

  private func version(_ files: [String: String], on parents: [ObjectID] = []) throws -> ObjectID {
    var entries: [TreePath: TreeEntry?] = [:]
    for (name, text) in files {
      let path = TreePath(name)
      let blob = try store.write(blob: Array(text.utf8))
      entries[path] = TreeEntry(name: path.name, mode: .regular, id: blob)
    }
    let tree = try store.write(tree: nil, replacing: entries)
    let time = Int64(parents.count) + Int64(files.count)
    let author = Signature(name: "Ann", email: "ann@notes.invalid", time: time, offset: 0)
    return try store.write(
      commit: tree, parents: parents, author: author, committer: author, message: "x")
  }

  /// "Notes that others added to such a folder stay there, and commands report this."
  @Test func whatIsAddedToARenamedFolderIsTold() throws {
    let base = try version(["trip/a.md": "one\n", "trip/b.md": "two\n"])
    let renamed = try version(["Journey/a.md": "one\n", "Journey/b.md": "two\n"], on: [base])
    let added = try version(
      ["trip/a.md": "one\n", "trip/b.md": "two\n", "trip/c.md": "three\n"], on: [base])
    let tip = try DerivedMerge.tip(of: [renamed, added], in: store)
    #expect(
      tip.reports == [MergeReport(path: "trip/c.md", kind: .folderRenamed(to: "Journey"))])
  }

  /// "2 for a name that the reference has and in whose place some head has another name": a folder renamed by
  /// case alone takes what others added to it, and nothing stays behind to be told of.
  @Test func aFolderRenamedByCaseAloneIsRenamed() throws {
    let base = try version(["daily/a.md": "one\n", "daily/b.md": "two\n"])
    let renamed = try version(["Daily/a.md": "one\n", "Daily/b.md": "two\n"], on: [base])
    let added = try version(
      ["daily/a.md": "one\n", "daily/b.md": "two\n", "daily/c.md": "three\n"], on: [base])
    for heads in [[renamed, added], [added, renamed]] {
      let tip = try DerivedMerge.tip(of: heads, in: store)
      #expect(tip.reports.isEmpty)
      let tree = try store.commit(tip.id).tree
      #expect(
        try store.changes(from: nil, to: tree).map(\.path.description).sorted()
          == ["Daily/a.md", "Daily/b.md", "Daily/c.md"])
    }
  }

  /// "Those with nothing are removed, and reports show the edit as kept": notes-merge(7), "Files".
  @Test func aRenameAgainstADeletionIsTold() throws {
    let base = try version(["a.md": "one\n", "o.md": "other\n"])
    let renamed = try version(["b.md": "one\n", "o.md": "other\n"], on: [base])
    let deleted = try version(["o.md": "other\n"], on: [base])
    let tip = try DerivedMerge.tip(of: [renamed, deleted], in: store)
    #expect(
      tip.reports == [
        MergeReport(path: "b.md", kind: .keptEdit),
        MergeReport(path: "b.md", kind: .renamed(from: "a.md")),
      ])
  }
}
