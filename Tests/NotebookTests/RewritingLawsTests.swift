import Git
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Merge
@testable import Notebook
@testable import Rewriting
@testable import WorkTree

/// notes-forget(1), "Versions".
@Suite("Making a history again without what is forgotten")
struct RewritingLawsTests {
  private static let secret = "hunter2-pass"

  private func forgetting(_ text: String = secret) throws -> Forgetting {
    let cut = try #require(TextCut(Array(text.utf8)))
    return Forgetting(id: String(repeating: "ab", count: 16), cut: .text(cut))
  }

  /// Two devices that write, rename, delete and meet, with the secret in some of it.
  private func randomHistory(_ random: inout SplitMix64) throws -> Fixture {
    let ada = try Fixture()
    try ada.write("Wifi.txt", "Home\nkey: \(Self.secret)\nmore\n")
    _ = try ada.notebook.save()
    let ben = try ada.clone(device: "Ben")
    let words = ["milk", "bread", Self.secret, "x \(Self.secret) y", "[forgotten]", "tea"]
    for _ in 0..<12 {
      let device = Bool.random(using: &random) ? ada : ben
      ada.seconds.now += Int64.random(in: 0...50, using: &random)
      ben.seconds.now = ada.seconds.now
      let name = "n\(Int.random(in: 0..<4, using: &random)).txt"
      switch Int.random(in: 0..<6, using: &random) {
      case 0: try ben.receive(from: ada)
      case 1: try ada.receive(from: ben)
      case 2:
        if try device.read(name) != nil { try device.remove(name) }
      default:
        let old = try device.read(name) ?? ""
        try device.write(name, old + words[Int.random(in: words.indices, using: &random)] + "\n")
      }
      let message = Int.random(in: 0..<5, using: &random) == 0 ? "note \(Self.secret)" : nil
      _ = try device.notebook.save(message: message)
    }
    try ada.receive(from: ben)
    return ada
  }

  private struct Rewritten {
    let home: Fixture
    let old: ObjectID
    let new: ObjectID
    let forms: [ObjectID: ObjectID]
  }

  private func rewrite(
    _ home: Fixture, _ forgetting: Forgetting, from tip: ObjectID? = nil
  ) throws -> Rewritten {
    var rewriting = HistoryRewriting(of: home.notebook.history, forgetting)
    let tip = try #require(try tip ?? home.notebook.state().tip)
    try rewriting.rewrite([tip])
    return Rewritten(
      home: home, old: tip, new: try #require(rewriting.form(of: tip)), forms: rewriting.forms)
  }

  private func blobs(of tip: ObjectID, in home: Fixture) throws -> [TreePath: [UInt8]] {
    let repository = home.notebook.repository
    var found: [TreePath: [UInt8]] = [:]
    for (path, entry) in try repository.files(in: repository.commit(tip).tree) {
      found[path] = try repository.blob(entry.id)
    }
    return found
  }

  /// "A rewritten version keeps its author, dates, place and message.".
  @Test("Each version keeps what it is, and loses the text", arguments: 0..<4)
  func laws(_ turn: Int) throws {
    var random = SplitMix64.reported(for: "laws \(turn)")
    for _ in 0..<turn { _ = random.next() }
    let done = try rewrite(randomHistory(&random), forgetting())
    let repository = done.home.notebook.repository
    let old = try repository.commits(from: [done.old])
    let new = try repository.commits(from: [done.new])
    #expect(old.count == new.count)
    let cut = try #require(TextCut(Array(Self.secret.utf8)))
    for id in old {
      let form = done.forms[id] ?? id
      let (before, after) = try (repository.commit(id), repository.commit(form))
      #expect(before.author == after.author && before.committer == after.committer)
      #expect(before.parents.map { done.forms[$0] ?? $0 } == after.parents)
      #expect(DerivedMerge.isDerived(before) == DerivedMerge.isDerived(after))
      #expect(!cut.isIn(try repository.object(form).data))
      #expect(after.isRewritten == (form != id))
      let expected = before.message.replacing(Self.secret, with: Placeholder.text)
      #expect(after.message == expected || after.message.contains("Notes-"))
      let texts = try blobs(of: form, in: done.home)
      let former = try blobs(of: id, in: done.home)
      #expect(texts == former.mapValues { cut.applied(to: $0) ?? $0 })
    }
    // What neither holds it nor stands on what does stays itself.
    for id in old where done.forms[id] == nil {
      #expect(try repository.commit(id).parents.allSatisfy { done.forms[$0] == nil })
    }
    let fsck = try done.home.git(["fsck", "--strict", "--no-dangling", done.new.hex])
    #expect(fsck.isEmpty, "\(fsck)")
  }

  @Test("Once more changes nothing, and every device makes the same")
  func idempotent() throws {
    var random = SplitMix64.reported()
    let home = try randomHistory(&random)
    let once = try rewrite(home, forgetting())
    let twice = try rewrite(home, forgetting(), from: once.new)
    #expect(twice.forms.isEmpty && twice.new == once.new)
    let other = try Fixture(device: "Cleo")
    try other.receive(from: home)
    let there = try rewrite(other, forgetting(), from: once.old)
    #expect(there.new == once.new)
  }

  /// "no former version ID, digest or signature stays".
  @Test("Whatever the text was, the same is left")
  func guesses() throws {
    let results = try ["correct horse", "battery staple", "12345"].map { text -> [ObjectID] in
      let home = try Fixture()
      try home.write("a.txt", "before\n")
      _ = try home.notebook.save()
      try home.write("a.txt", "before\nthe word is \(text).\n")
      home.seconds.now += 10
      _ = try home.notebook.save()
      try home.write("b.txt", "later\n")
      home.seconds.now += 10
      _ = try home.notebook.save()
      let done = try rewrite(home, forgetting(text))
      return try home.notebook.repository.commits(from: [done.new])
    }
    #expect(results[0] == results[1] && results[1] == results[2])
  }

  /// "If two removals do not overlap, their order makes no difference".
  @Test("Two texts one after the other, in either order, leave the same versions", arguments: 0..<3)
  func union(_ turn: Int) throws {
    var random = SplitMix64.reported(for: "union \(turn)")
    for _ in 0..<turn { _ = random.next() }
    let home = try randomHistory(&random)
    let (first, second) = try (forgetting(), forgetting("bread"))
    let one = try rewrite(home, second, from: rewrite(home, first).new)
    let other = try rewrite(home, first, from: rewrite(home, second).new)
    #expect(one.new == other.new)
  }

  @Test("A placeholder does not make the text anew")
  func placeholders() throws {
    for (text, content) in [
      ("pw[f", "pwpw[f pw[forgotten]"), ("]abc", "]abc]abc"), ("x[fo", "xxx[fo]"),
      ("abab", "ababab"),
    ] {
      let cut = try #require(TextCut(Array(text.utf8)))
      let result = try #require(cut.applied(to: Array(content.utf8)))
      #expect(!cut.isIn(result), "\(text) in \(String(decoding: result, as: UTF8.self))")
    }
    #expect(TextCut(Array("gott".utf8)) == nil && TextCut(Array("abc".utf8)) == nil)
  }

  // MARK: Notes

  private func forget(note path: TreePath, in home: Fixture) throws -> Rewritten {
    let trail = NoteTrail(try home.notebook.history.trail(of: path))
    return try rewrite(
      home, Forgetting(id: String(repeating: "cd", count: 16), cut: .notes(trail)))
  }

  @Test("A note goes under all its names, and one that has a former name stays")
  func note() throws {
    let home = try Fixture()
    try home.write("Draft.txt", "dear diary\nI stole the cookies\nand ate them all\n")
    _ = try home.notebook.save()
    _ = try home.notebook.rename("Draft.txt", to: "Diary.txt")
    try home.write("Draft.txt", "a letter\n")
    home.seconds.now += 10
    _ = try home.notebook.save()
    try home.write("Diary.txt", "dear diary\nI stole the cookies\nand ate them all\nYum\n")
    try home.write("Shopping.txt", "milk\n")
    home.seconds.now += 10
    _ = try home.notebook.save()
    let done = try forget(note: "Diary.txt", in: home)
    let repository = home.notebook.repository
    for id in try repository.commits(from: [done.new]) {
      let commit = try repository.commit(id)
      #expect(try repository.entry(at: "Diary.txt", in: commit.tree) == nil)
      #expect(!commit.message.contains("Diary"))
    }
    #expect(
      try home.git(["log", "--format=%s", done.new.hex])
        == "Add Shopping\nAdd Draft\nRename [forgotten] to [forgotten]\n[forgotten]\n")
    #expect(Set(try blobs(of: done.new, in: home).keys) == ["Draft.txt", "Shopping.txt"])
  }

  @Test("A note that was edited elsewhere before a merge goes there as well")
  func merged() throws {
    let ada = try Fixture()
    try ada.write("Diary.txt", "one\ntwo\nthree\n")
    try ada.write("Other.txt", "stays\n")
    _ = try ada.notebook.save()
    let ben = try ada.clone(device: "Ben")
    try ben.write("Diary.txt", "one\ntwo\nthree\nfour of Ben\n")
    ben.seconds.now += 10
    _ = try ben.notebook.save()
    _ = try ada.notebook.rename("Diary.txt", to: "Journal.txt")
    try ada.write("Other.txt", "stays here\n")
    ada.seconds.now += 20
    _ = try ada.notebook.save()
    try ada.receive(from: ben)
    let done = try forget(note: "Journal.txt", in: ada)
    let repository = ada.notebook.repository
    for id in try repository.commits(from: [done.new]) {
      let paths = try repository.files(in: repository.commit(id).tree).map(\.path)
      #expect(paths == ["Other.txt"])
    }
  }

  // MARK: The unchanged parts

  /// "A note keeps its ID".
  @Test("Log, blame and IDs of what stays are the same")
  func stays() throws {
    let home = try Fixture()
    home.notebook.signer = VersionSigner { _ in { content in Self.signature(over: content) } }
    try home.write("Wifi.txt", "Home\nkey: \(Self.secret)\n")
    try home.write("List.txt", "milk\n")
    _ = try home.notebook.save()
    try home.write("List.txt", "milk\nbread\n")
    home.seconds.now += 10
    _ = try home.notebook.save()
    let history = home.notebook.history
    let before = try (history.notes(), home.git(["blame", "-s", "List.txt"]))
    let new = try rewrite(home, forgetting()).new
    let data = try home.notebook.repository.object(new).data
    #expect(!SignedCommit.isSigned(data))
    #expect(RewrittenCommit.values(ofHeader: Forgetting.header, in: data) == ["signed"])
    _ = try home.git(["reset", "-q", "--hard", new.hex])
    let after = try Notebook.open(at: home.path).history.notes()
    #expect(after.map(\.id) == before.0.map(\.id))
    #expect(after.map(\.created) == before.0.map(\.created))
    #expect(after.map(\.modified) == before.0.map(\.modified))
    let dates = { (text: String) in text.split(separator: "\n").map { $0.dropFirst(8) } }
    #expect(try dates(home.git(["blame", "-s", "List.txt"])) == dates(before.1))
    // Unsigned, an ID would let anybody try what the text was.
    let unsigned = try rewrite(home, forgetting("bread"))
    #expect(unsigned.forms.count == 1)
  }

  private static func signature(over content: [UInt8]) -> [UInt8] {
    let digest = (try? ObjectID.digest(ofBlob: Array("key".utf8) + content)) ?? .zero
    return Array("-----BEGIN SSH SIGNATURE-----\n\(digest)\n-----END SSH SIGNATURE-----\n".utf8)
  }

  @Test("What a version that goes made undone is named as it is now")
  func trailers() throws {
    let home = try Fixture()
    try home.write("a.txt", "key \(Self.secret)\n")
    _ = try home.notebook.save()
    try home.write("a.txt", "key \(Self.secret)\nmore\n")
    home.seconds.now += 10
    _ = try home.notebook.save()
    home.seconds.now += 10
    _ = try home.notebook.undo()
    let done = try rewrite(home, forgetting())
    let message = try home.notebook.repository.commit(done.new).message
    let named = message.split(whereSeparator: \.isWhitespace).compactMap { ObjectID(hex: $0) }
    #expect(named.count == 2)
    #expect(named.allSatisfy { done.forms.values.contains($0) })
  }
}
