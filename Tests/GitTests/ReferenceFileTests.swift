import TestSupport
import Testing

@testable import Git

/// gitrepository-layout(5): a file for each reference, one for those that git packed, and a log beside.
@Suite("References, held beside git's")
struct ReferenceFileTests {
  let scratch = Scratch()
  let repository: Repository

  init() throws { repository = try Repository.create(at: scratch.path) }

  @discardableResult private func git(_ words: String...) throws -> String {
    // An annotated tag says who made it.
    let person = ["-c", "user.name=Tester", "-c", "user.email=tester@example.org"]
    let result = try run(["git", "-C", scratch.path] + person + words)
    #expect(result.isSuccess, "git \(words): \(result.errorText)")
    return result.text
  }

  private func commit(_ message: String) throws -> ObjectID {
    try repository.write(
      commit: repository.write(tree: []), parents: [], author: tester, committer: tester,
      message: message)
  }

  private var told: String {
    get throws {
      try repository.references(under: "refs/").map { "\($0.id) \($0.name)\n" }.joined()
    }
  }

  @Test("after any steps, by git and here, both know the same references and nothing is broken")
  func play() throws {
    var random = SplitMix64.reported()
    let names = [
      "refs/heads/main", "refs/heads/a/b", "refs/remotes/hub/main", "refs/remotes/hub/x/y",
      "refs/notebook/1", "refs/tags/t",
    ]
    let commits = try (0..<4).map { try commit("\($0)\n") }
    for step in 0..<120 {
      let (name, id) = (
        names.randomElement(using: &random)!, commits.randomElement(using: &random)!
      )
      switch Int.random(in: 0..<8, using: &random) {
      case 0: try git("update-ref", "-m", "by git", name, id.hex)
      case 1: try git("update-ref", "-d", name)
      case 2: try git("pack-refs", "--all")
      case 3, 4: try repository.delete(reference: name)
      default: try repository.set(reference: name, to: id, message: "here")
      }
      let known = try git("for-each-ref", "--format=%(objectname) %(refname)")
      #expect(try told == known, "step \(step)")
      for name in names {
        let id = try run(["git", "-C", scratch.path, "rev-parse", "--verify", "-q", name]).text
        #expect(try repository.reference(name).map { "\($0)\n" } ?? "" == id, "step \(step)")
      }
    }
    let complaints = try run(["git", "-C", scratch.path, "fsck", "--strict", "--no-dangling"])
    #expect(complaints.isSuccess, "\(complaints.errorText)")
  }

  @Test("a reference comes where empty folders are left, and goes with the folders it leaves empty")
  func folders() throws {
    let id = try commit("m\n")
    try makeFolder(repository.gitFolder + "/refs/remotes/hub/x")
    try makeFolder(repository.gitFolder + "/logs/refs/remotes/hub/x")
    try repository.set(reference: "refs/remotes/hub", to: id, message: "m")
    #expect(try git("rev-parse", "refs/remotes/hub") == "\(id)\n")
    try repository.delete(reference: "refs/remotes/hub")
    try repository.set(reference: "refs/remotes/hub/x/y", to: id, message: "m")
    try repository.delete(reference: "refs/remotes/hub/x/y")
    #expect(try told == "")
    #expect(try run(["ls", repository.gitFolder + "/refs/remotes"]).text == "")
  }

  @Test("packed tags keep what they stand for when another packed reference goes")
  func peeled() throws {
    let id = try commit("m\n")
    for name in ["a", "b", "c"] { try git("tag", "-a", "-m", name, name, id.hex) }
    try git("pack-refs", "--all")
    try repository.delete(reference: "refs/tags/b")
    #expect(try git("show-ref", "-d").split(separator: "\n").count == 4)
    #expect(try git("rev-parse", "c^{commit}") == "\(id)\n")
  }

  @Test("HEAD and the stash are references, too")
  func others() throws {
    let id = try commit("m\n")
    #expect(try repository.reference("HEAD") == nil)
    try git("update-ref", "refs/heads/main", id.hex)
    try git("update-ref", "refs/stash", id.hex)
    #expect(try repository.reference("HEAD") == id)
    #expect(try repository.reference("refs/stash") == id)
    try git("checkout", "-q", "--detach")
    #expect(try repository.reference("HEAD") == id)
  }

  @Test("no reference goes while git packs them")
  func locked() throws {
    let id = try commit("m\n")
    try repository.set(reference: "refs/remotes/hub/main", to: id, message: "m")
    try git("pack-refs", "--all")
    try writeFile(repository.gitFolder + "/packed-refs.lock", [])
    #expect(throws: GitError.self) { try repository.delete(reference: "refs/remotes/hub/main") }
    #expect(try repository.reference("refs/remotes/hub/main") == id)
  }
}
