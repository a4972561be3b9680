import Git
import Glibc
import History
import Membership
import Notebook
import System
import TestSupport
import Testing

@testable import Exchange

extension Device {
  /// Saves, and writes a bundle.
  @discardableResult
  func writeBundle(_ path: String, since commits: [ObjectID] = []) throws -> NewBundle {
    let notebook = try context.notebook()
    _ = try notebook.save()
    let bundle = try NewBundle(of: notebook, for: context, since: commits)
    var bytes: [UInt8] = []
    let size = try bundle.write { bytes += $0 }
    #expect(size == bytes.count)
    try writeFile(path, bytes)
    return bundle
  }

  @discardableResult
  func apply(
    _ path: String, change: (inout BundleRun) -> Void = { _ in }
  ) throws -> SessionResult {
    var run = BundleRun(context: context)
    change(&run)
    return try run.apply(path, named: path)
  }
}

/// notes-hub(7), BUNDLES.
@Suite("Bundles", .timeLimit(.minutes(5)))
struct BundleTests {
  let folder: TemporaryFolder
  let ada: Device
  let bob: Device
  private var path: String { folder["a.bundle"] }

  init() throws {
    folder = try TemporaryFolder()
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    try ada.write("one\n", to: "A.txt")
  }

  @discardableResult
  private func git(
    _ words: String..., in place: String? = nil, _ location: SourceLocation = #_sourceLocation
  ) throws -> String {
    let result = try run(
      ["git", "-c", "user.name=pat", "-c", "user.email=pat@example.org"] + words,
      in: place ?? folder.path, environment: TestEnvironment.isolated(home: folder["home"]))
    #expect(result.isSuccess, "\(result)", sourceLocation: location)
    return result.text
  }

  /// Says that a bundle is refused, with nothing changed.
  private func expect(
    _ error: BundleError, from path: String, to device: Device,
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    let tip = try device.tip()
    #expect(throws: error, sourceLocation: location) { try device.apply(path) }
    #expect(try device.tip() == tip, sourceLocation: location)
  }

  @Test("git verifies and clones it, and the other device ends on the same version")
  func whole() throws {
    try ada.writeBundle(path)
    try git("init", "-q", "empty")
    try git("bundle", "verify", "--quiet", path, in: folder["empty"])
    try git("clone", "--quiet", path, "clone")
    #expect(try git("status", "--porcelain", in: folder["clone"]).isEmpty)
    #expect(try git("log", "--format=%H", in: folder["clone"]) == "\(ada.tip()!)\n")
    #expect(try git("for-each-ref", in: folder["clone"]).contains("notebook") == false)
    try git("fsck", "--strict", in: folder["clone"])
    let result = try bob.apply(path)
    #expect(result.receivedVersions == 1 && result.isInSync)
    #expect(try bob.text("A.txt") == "one\n" && bob.tip() == ada.tip())
    #expect(try bob.apply(path).receivedVersions == 0)
    #expect(try bob.git("fsck", "--strict").isSuccess)
    // "Nothing is remembered of a bundle"
    #expect(try bob.git("for-each-ref", "refs/remotes").text.isEmpty)
  }

  // "Its prerequisites are the heads that its reader has to have"
  @Test("with what the reader has left out, and edits of both sides")
  func since() throws {
    try ada.writeBundle(path)
    try bob.apply(path)
    let known = try #require(try ada.tip())
    try ada.write(String((0..<2_000).flatMap { "line \($0)\n" }), to: "B.txt")
    try bob.write("bob\n", to: "bob.txt")
    let later = folder["later.bundle"]
    let bundle = try ada.writeBundle(later, since: [known])
    #expect(bundle.versions == 1 && bundle.since == [known])
    try git("bundle", "verify", "--quiet", later, in: bob.notes)
    let cleo = try Device("Cleo", certifiedBy: ada)
    try expect(.lacking(String(known.hex.prefix(10)), count: 1), from: later, to: cleo)
    #expect(try bob.apply(later).receivedVersions == 1)
    #expect(bob.exists("B.txt") && bob.exists("bob.txt"))
    // Back again: a merge of Ada's and Bob's heads.
    let back = folder["back.bundle"]
    try bob.writeBundle(back, since: [known])
    try ada.apply(back)
    #expect(try ada.tip() == bob.tip())
    // Since a merge, which its reader need not have: its heads are what is wanted.
    try ada.write("more\n", to: "C.txt")
    let merge = try #require(try bob.tip())
    let last = folder["last.bundle"]
    #expect(try ada.writeBundle(last, since: [merge]).since.count == 2)
    try bob.apply(last)
    #expect(try ada.tip() == bob.tip())
    // Nothing is left to bring but the members.
    let nothing = folder["nothing.bundle"]
    #expect(try ada.writeBundle(nothing, since: [try #require(try ada.tip())]).versions == 0)
    try git("bundle", "verify", "--quiet", nothing, in: bob.notes)
    #expect(try bob.apply(nothing).receivedVersions == 0)
  }

  @Test("of another notebook, of git's making, or none at all")
  func strangers() throws {
    try ada.writeBundle(path)
    let eve = try Device(founding: "Eve")
    try eve.write("by Eve\n", to: "A.txt")
    _ = try eve.notebook().save()
    try expect(.anotherNotebook, from: path, to: eve)
    try bob.apply(path)
    try git("bundle", "create", "--quiet", folder["git.bundle"], "HEAD", "main", in: ada.notes)
    try expect(.withoutMembers, from: folder["git.bundle"], to: bob)
    try git(
      "bundle", "create", "--quiet", "--version=3", folder["three.bundle"], "main", in: ada.notes)
    try expect(.form("# v3 git bundle"), from: folder["three.bundle"], to: bob)
    for text in ["", "# v2", "some text\n", "# v2 git bundle\nnonsense\n\nPACK"] {
      try folder.write(text, to: "x")
      try expect(text.hasPrefix("#") ? .damaged : .notABundle, from: folder["x"], to: bob)
    }
    try expect(
      .file(call: "open", path: folder["none"], errno: ENOENT), from: folder["none"], to: bob)
  }

  @Test("cut short or damaged anywhere, it brings nothing")
  func damaged() throws {
    var random = SplitMix64.reported()
    let bytes = try {
      try ada.writeBundle(path)
      return try readFile(path)
    }()
    let truth = try ada.tip()
    for _ in 0..<150 {
      var bad = bytes
      if Bool.random(using: &random) {
        bad.removeLast(Int.random(in: 1..<bytes.count, using: &random))
      } else {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        bad[place] ^= UInt8.random(in: 1...255, using: &random)
      }
      try writeFile(folder["bad"], bad)
      do {
        // What a name in the header became may mean nothing to us.
        try bob.apply(folder["bad"])
        #expect(try bob.tip() == truth)
        return
      } catch {
        #expect(try bob.tip() == nil, "\(error)")
      }
    }
    let left = try run(["ls", bob.notes + "/.git/notes/incoming", bob.notes + "/.git/objects/pack"])
    #expect(left.text.contains("pack-") == false, "\(left)")
  }

  @Test("what no device takes is refused with all that comes with it")
  func hostile() throws {
    try ada.writeBundle(path)
    try bob.apply(path)
    let place = folder["pat"]
    try git("clone", "--quiet", path, place)
    let members = MemberList.reference
    try git("fetch", "--quiet", path, "\(members):\(members)", in: place)
    try writeFile(place + "/pat.txt", Array("by pat\n".utf8))
    try git("add", "--all", in: place)
    try git("commit", "--quiet", "-m", "by pat", in: place)
    try git("bundle", "create", "--quiet", folder["pat.bundle"], "HEAD", members, in: place)
    symlink("/etc/passwd", place + "/link.txt")
    try git("add", "--all", in: place)
    try git("commit", "--quiet", "-m", "a link", in: place)
    try git("bundle", "create", "--quiet", folder["bad.bundle"], "HEAD", members, in: place)
    let tip = try bob.tip()
    #expect {
      try bob.apply(folder["bad.bundle"])
    } throws: {
      if case SyncError.packRefused(.refused) = $0 { true } else { false }
    }
    #expect(try bob.tip() == tip && !bob.exists("pat.txt"))
    #expect {
      try bob.apply(folder["pat.bundle"])
    } throws: {
      if case SyncError.notMerged(.unsigned, _) = $0 { true } else { false }
    }
    #expect(!bob.exists("pat.txt"))
    try bob.apply(folder["pat.bundle"]) { $0.options.allowsUnsigned = true }
    #expect(bob.exists("pat.txt"))
    // A list of members that is none.
    try git("update-ref", members, "HEAD", in: place)
    try git("bundle", "create", "--quiet", folder["list.bundle"], "HEAD~1", members, in: place)
    #expect(throws: BundleError.self) { try bob.apply(folder["list.bundle"]) }
  }

  // "The device first adds the members"
  @Test("who joined and who was removed is known by it; a reader makes none")
  func members() throws {
    try ada.writeBundle(path)
    try bob.apply(path)
    let cleo = try Device("Cleo", certifiedBy: ada, as: .reader)
    try ada.writeBundle(path)
    try bob.apply(path)
    #expect(bob.context.membership.role(ofDevice: cleo.key.deviceID) == .reader)
    try cleo.apply(path)
    #expect(cleo.exists("A.txt"))
    #expect(throws: BundleError.reader) { try cleo.writeBundle(folder["reader.bundle"]) }
    try ada.context.membership.remove(devices: [cleo.key.deviceID], by: ada.key)
    try ada.writeBundle(path)
    try bob.apply(path)
    #expect(bob.context.membership.role(ofDevice: cleo.key.deviceID) == nil)
    try cleo.apply(path)
    #expect(throws: MembershipError.self) { try cleo.apply(path) }
  }

  @Test("most notes gone: the guard holds, and lets go where that is meant")
  func massDeletion() throws {
    for number in 0..<12 { try ada.write("\(number)\n", to: "\(number).txt") }
    try ada.writeBundle(path)
    try bob.apply(path)
    for number in 0..<12 { unlink(ada.notes + "/\(number).txt") }
    _ = try ada.notebook().save(allowsMassDeletion: true)
    try ada.writeBundle(path)
    #expect {
      try bob.apply(path)
    } throws: {
      if case SyncError.notMerged(.massDeletion, _) = $0 { true } else { false }
    }
    #expect(bob.exists("3.txt"))
    try bob.apply(path) { $0.options.allowsMassDeletion = true }
    #expect(!bob.exists("3.txt"))
  }
}
