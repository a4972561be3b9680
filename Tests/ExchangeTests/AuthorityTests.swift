import Git
import History
import Membership
import Merge
import Notebook
import System
import TestSupport
import Testing

@testable import Exchange

/// notes-security(7), VERSIONS: what is taken from a hub or a bundle.
@Suite("Versions that nobody proves", .timeLimit(.minutes(20)))
struct AuthorityTests {
  let hub: FolderHub
  let ada: Device
  let bob: Device

  init() throws {
    hub = try FolderHub()
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    try ada.write("one\n", to: "A.txt")
    try ada.meet(hub)
    try bob.meet(hub)
  }

  // MARK: A hub's forgeries

  @Test("a version in a member's name that it has not signed is not taken, on whatever it stands")
  func forged() throws {
    let old = try #require(try hub.tip())
    try ada.write("two\n", to: "A.txt")
    try ada.meet(hub)
    try bob.meet(hub)
    let new = try #require(try hub.tip())
    let mallory = try hub.clone(as: "mallory")
    // On the newest, on an older parent, and together with the newest in a merge of our form.
    try mallory.forge("evil\n", by: ada.key.deviceID, on: new)
    #expect(try bob.refusal(at: hub) == .unsigned)
    let side = try mallory.forge("evil\n", by: ada.key.deviceID, on: old)
    #expect(try bob.refusal(at: hub) == .unsigned)
    try mallory.merge([new, side])
    #expect(try bob.refusal(at: hub) == .unsigned)
    #expect(try bob.text("A.txt") == "two\n" && bob.tip() == new)
    // "nothing of it is kept"
    #expect(try !bob.notebook().repository.contains(side))
    // It is told, and which it is.
    let held = try RefusedVersions(stateFolder: bob.notebook().stateFolder).all(in: bob.notebook())
    #expect(held.first?.words?.contains("in the name of Ada is refused") == true)
    // Nobody loses anything, and all goes on once the hub shows what was given to it.
    try hub.git(["-C", hub.path, "update-ref", "refs/heads/main", new.hex])
    try bob.write("from bob\n", to: "B.txt")
    try bob.meet(hub)
    try ada.meet(hub)
    #expect(try ada.text("B.txt") == "from bob\n")
    #expect(
      try RefusedVersions(stateFolder: bob.notebook().stateFolder).all(in: bob.notebook()).isEmpty)
  }

  @Test("a signature that is taken off, or stands over something else, is none")
  func stripped() throws {
    let old = try #require(try hub.tip())
    try ada.write("two\n", to: "A.txt")
    try ada.meet(hub)
    let repository = try ada.notebook().repository
    let content = try repository.object(#require(try ada.tip())).data
    let signed = try #require(SignedCommit(parsing: content))
    let mallory = try hub.clone(as: "mallory")
    try mallory.put(signed.content)
    #expect(try bob.refusal(at: hub) == .unsigned)
    let text = String(decoding: content, as: UTF8.self)
    let moved = text.replacing("\n\n", with: "\n\nMoved: ")
    #expect(moved != text)
    try mallory.put(Array(moved.utf8))
    #expect(try bob.refusal(at: hub) == .unsigned)
    #expect(try bob.tip() == old)
  }

  @Test("what takes everything back in a hub's own name is not taken")
  func forgedHubMerge() throws {
    let old = try #require(try hub.tip())
    try ada.write("two\n", to: "A.txt")
    try ada.meet(hub)
    try bob.write("by bob\n", to: "B.txt")
    try bob.meet(hub)
    try ada.meet(hub)
    let new = try #require(try hub.tip())
    let mallory = try hub.clone(as: "mallory")
    let tree = try mallory.git("rev-parse", "\(old)^{tree}")
    let time = "hub@notes.invalid> 1700000000 +0000"
    try mallory.put(
      Array(
        "tree \(tree)\nparent \(old)\nparent \(new)\nauthor notes <\(time)\ncommitter notes <\(time)\n\nx\n"
          .utf8))
    #expect(try ada.refusal(at: hub) == .unsigned)
    #expect(try ada.text("A.txt") == "two\n")
  }

  @Test("a bundle is judged as a hub is, and what goes into one everybody takes")
  func bundle() throws {
    let place = hub.folder["x.bundle"]
    let mallory = try hub.clone(as: "mallory")
    let old = try #require(try hub.tip())
    let forged = try mallory.forge("evil\n", by: ada.key.deviceID, on: old)
    let members = MemberList.reference
    try mallory.git("fetch", "--quiet", "origin", "\(members):\(members)")
    try mallory.git("checkout", "--quiet", "--detach", forged.hex)
    try mallory.git("bundle", "create", "--quiet", place, "HEAD", members)
    #expect {
      try bob.apply(place)
    } throws: {
      if case SyncError.notMerged(.unsigned, _) = $0 { true } else { false }
    }
    #expect(try bob.tip() == old)
    // Ada's user commits with git; the bundle holds a version by which her device answers for it.
    try ada.write("by hand\n", to: "hand.txt")
    #expect(try ada.git("add", "--all").isSuccess)
    let person = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    #expect(
      try TestSupport.run(["git", "-C", ada.notes] + person + ["commit", "-q", "-m", "by hand"])
        .isSuccess)
    let notebook = try ada.context.notebook()
    var bytes: [UInt8] = []
    _ = try NewBundle(of: notebook, for: ada.context).write { bytes += $0 }
    try writeFile(place, bytes)
    try bob.apply(place)
    #expect(try bob.text("hand.txt") == "by hand\n")
  }

  @Test("who clones takes no forged version either")
  func clone() throws {
    let mallory = try hub.clone(as: "mallory")
    try mallory.forge("evil\n", by: ada.key.deviceID, on: #require(try hub.tip()))
    let folder = try TemporaryFolder()
    let cloning = Cloning(
      of: .hub(hub.hub), key: try DeviceKey.loadOrCreate(in: folder["data"]), deviceName: "Desk")
    #expect {
      _ = try cloning.run(into: folder["notes"], check: { _ in })
    } throws: {
      if case SyncError.notMerged(.unsigned, _) = $0 { true } else { false }
    }
  }

  // MARK: Members

  @Test("a reader's version, or a removed device's, is taken only below a writer's")
  func withoutRight() throws {
    let cleo = try Device("Cleo", certifiedBy: ada)
    _ = try cleo.context.membership.merge(
      certificates: ada.context.membership.certificates, revocations: [])
    try cleo.meet(hub)
    try cleo.write("by cleo\n", to: "C.txt")
    try cleo.save()
    let made = try #require(try cleo.tip())
    try ada.context.membership.remove(devices: [cleo.key.deviceID], by: ada.key)
    try ada.meet(hub)
    // What it pushes there with git.
    let url = hub.path
    #expect(try cleo.git("push", "--quiet", url, "\(made):refs/heads/main").isSuccess)
    #expect(try ada.refusal(at: hub) == .unsigned)
    #expect(try bob.refusal(at: hub) == .unsigned)
    // Once somebody takes it all the same, that one answers for it.
    #expect(try bob.visit(hub.hub) { $0.options.allowsUnsigned = true }.outcome.failures.isEmpty)
    try ada.meet(hub)
    #expect(ada.exists("C.txt"))
  }

  @Test("what a device made that is removed later stays, and who clones then takes it")
  func removedLater() throws {
    try bob.write("by bob\n", to: "B.txt")
    try bob.meet(hub)
    try ada.meet(hub)
    try ada.context.membership.remove(devices: [bob.key.deviceID], by: ada.key)
    // Its version is the only head: the list goes there together with a version that answers for it.
    try ada.meet(hub)
    let folder = try TemporaryFolder()
    let cloning = Cloning(
      of: .hub(hub.hub), key: try DeviceKey.loadOrCreate(in: folder["data"]), deviceName: "Desk")
    let clone = try cloning.run(into: folder["notes"], check: { _ in })
    #expect(try clone.state().tip == hub.tip())
    #expect(try folder.text("notes/B.txt") == "by bob\n")
    let tip = try hub.tip()
    try ada.meet(hub)
    #expect(try hub.tip() == tip)
  }

  // MARK: People who only use git

  @Test("what people commit with git is taken where an admin says so, who vouches for it")
  func gitPerson() throws {
    let open = Hub(name: "hub", url: hub.path, acceptsUnsigned: true)
    let pat = try hub.clone(as: "pat")
    try pat.commit("from pat\n", to: "pat.txt")
    try pat.git("push", "--quiet")
    #expect(try ada.refusal(at: hub) == .unsigned)
    // It counts on an admin's device alone.
    #expect(try bob.visit(open).outcome.failures.count == 1)
    #expect(try ada.visit(open).outcome.failures.isEmpty)
    try bob.meet(hub)
    #expect(try bob.text("pat.txt") == "from pat\n" && bob.tip() == ada.tip())
    let commit = try bob.notebook().repository.commit(#require(try bob.tip()))
    #expect(commit.deviceID == ada.key.deviceID && commit.parents.count == 1)
    // In a member's name nothing is taken there either.
    let mallory = try hub.clone(as: "mallory")
    try bob.write("by bob\n", to: "B.txt")
    try bob.meet(hub)
    try mallory.forge("evil\n", by: bob.key.deviceID, on: #require(try hub.tip()))
    #expect(try ada.visit(open).outcome.failures.count == 1)
  }

  @Test("what its user commits with git on a member's device, that device answers for")
  func ownCommit() throws {
    try ada.write("by hand\n", to: "hand.txt")
    #expect(try ada.git("add", "--all").isSuccess)
    #expect(
      try ada.git(
        "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-q", "-m", "by hand"
      ).isSuccess)
    try ada.meet(hub)
    try bob.meet(hub)
    #expect(try bob.text("hand.txt") == "by hand\n")
  }

  // MARK: Devices that have not signed yet

  // "not even its first one"
  @Test(
    "nothing unsigned is taken in the name of a member that has made no version yet",
    arguments: [false, true])
  func firstVersion(hasNewKey: Bool) throws {
    var cleo = try Device("Cleo", certifiedBy: ada)
    if hasNewKey {
      // "and after a renewal of its key"
      let former = cleo.key.deviceID
      cleo = try Device("Cleo", certifiedBy: ada)
      try ada.context.membership.remove(devices: [former], by: ada.key)
      let request = try CertificateRequest(name: "Cleo", key: cleo.key)
      _ = try ada.context.membership.issue(for: request, role: .admin, by: ada.key)
    }
    _ = try ada.context.membership.merge(
      certificates: cleo.context.membership.certificates, revocations: [])
    _ = try cleo.context.membership.merge(
      certificates: ada.context.membership.certificates,
      revocations: ada.context.membership.revocations)
    try ada.meet(hub)
    let mallory = try hub.clone(as: "mallory")
    let tip = try #require(try hub.tip())
    let forged = try mallory.forge("by whom?\n", by: cleo.key.deviceID, on: tip)
    for device in [ada, bob, cleo] {
      #expect(try device.refusal(at: hub) == .unsigned)
      #expect(try !device.notebook().repository.contains(forged))
    }
    // Its own version is taken.
    try hub.git(["-C", hub.path, "update-ref", "refs/heads/main", tip.hex])
    try cleo.meet(hub)
    try cleo.write("signed\n", to: "C.txt")
    try cleo.meet(hub)
    try ada.meet(hub)
    #expect(try ada.text("C.txt") == "signed\n")
  }

  @Test("two who only meet at a hub, and a third that the first has invited, are no strangers")
  func invited() throws {
    let cleo = try Device("Cleo", certifiedBy: ada)
    try cleo.meet(hub)
    try cleo.write("by cleo\n", to: "C.txt")
    try cleo.meet(hub)
    // Bob has never heard of her: the list there says who she is.
    try bob.meet(hub)
    #expect(try bob.text("C.txt") == "by cleo\n")
  }
}

extension GitPerson {
  /// Pushes a version that stands on another, unsigned in a device's name.
  @discardableResult
  fileprivate func forge(_ text: String, by deviceID: String, on parent: ObjectID) throws
    -> ObjectID
  {
    try git("fetch", "--quiet", "origin")
    try git("checkout", "--quiet", "--detach", parent.hex)
    try writeFile(folder + "/forged.txt", Array(text.utf8))
    try git("add", "--all")
    let tree = try git("write-tree")
    let person = "Ada <\(deviceID.lowercased())@notes.invalid> 1700000000 +0000"
    return try put(
      Array(
        "tree \(tree)\nparent \(parent)\nauthor \(person)\ncommitter \(person)\n\nEdit A\n".utf8))
  }

  /// Pushes what has the form of a derived merge.
  fileprivate func merge(_ parents: [ObjectID]) throws {
    let tree = try git("rev-parse", "\(parents[1])^{tree}")
    let lines = parents.map { "parent \($0)\n" }.joined()
    let author = "notes <merge@notes.invalid> 1800000000 +0000"
    try put(
      Array(
        "tree \(tree)\n\(lines)author \(author)\ncommitter \(author)\n\nMerge 2 versions\n\nNotes-Merge: 1\n"
          .utf8))
  }

  /// Stores a commit of this content, and sets the hub's branch to it.
  @discardableResult
  fileprivate func put(_ content: [UInt8]) throws -> ObjectID {
    let file = folder + "/.git/forged"
    try writeFile(file, content)
    let id = try git("hash-object", "-t", "commit", "-w", file)
    try git("push", "--quiet", "origin", "\(id):refs/heads/\(id)-forged")
    try hub.git(["-C", hub.path, "update-ref", "refs/heads/main", id])
    return try #require(ObjectID(hex: id))
  }
}
