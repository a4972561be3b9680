import History
import Membership
import Merge
import Notebook
import TestSupport
import Testing

@testable import Exchange
@testable import Git

/// notes-security(7), SIGNATURES: who made a version, and how that is known.
@Suite("Who made a version", .timeLimit(.minutes(20)))
struct VersionAuthorTests {
  let ada: Device
  let bob: Device

  init() throws {
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    try ada.write("one\n", to: "A.txt")
    _ = try sync(bob, ada)
  }

  private func author(of id: ObjectID, on device: Device) throws -> VersionAuthor {
    try VersionProofs(in: device.notebook()).author(of: id)
  }

  // MARK: Names

  /// Who signs a version, whom it names, and what is shown of that.
  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let name: String
    /// Of Ada, Bob, a reader and a stranger; nil for nobody.
    let named: Int?
    let signer: Int?
    let shown: String
    let proof: VersionProof

    init(
      _ text: String, _ name: String, of named: Int?, by signer: Int?, is shown: String,
      _ proof: VersionProof
    ) {
      (testDescription, self.name, self.named, self.signer) = (text, name, named, signer)
      (self.shown, self.proof) = (shown, proof)
    }
  }

  static let rows = [
    Row("a member's", "Bob", of: 1, by: 1, is: "Bob", .verified),
    Row("a member's, by another member's name", "Ada", of: 1, by: 1, is: "Bob", .verified),
    Row("a guest of another member's device", "Eve (via Ada)", of: 1, by: 1, is: "Bob", .verified),
    Row("a guest of its device", "Eve (via Bob)", of: 1, by: 1, is: "Eve (via Bob)", .verified),
    Row("a name like the device's", "Bob ", of: 1, by: 1, is: "Bob", .verified),
    Row("unsigned, of a member that never signed", "Bob", of: 1, by: nil, is: "Bob", .unsigned),
    Row("unsigned, of nobody", "Pat", of: nil, by: nil, is: "Pat", .unsigned),
    Row("one member's, signed by another", "Ada", of: 0, by: 1, is: "Ada", .wrong),
    Row(
      "without an address, signed by a member", "Pat", of: nil, by: 1, is: "Pat (via Bob)", .vouched
    ),
    Row(
      "without an address, in a member's name", "Ada", of: nil, by: 1, is: "Ada (via Bob)", .vouched
    ),
    Row("a reader's", "Rea", of: 2, by: 2, is: "Rea", .reader),
    Row("a stranger's", "Ada", of: 3, by: 3, is: "Ada", .stranger),
    Row("without an address, signed by a stranger", "Ada", of: nil, by: 3, is: "Ada", .stranger),
  ]

  @Test(
    "what is shown is the certificate's name, and whatever else is not called verified",
    arguments: rows)
  func names(row: Row) throws {
    let reader = try Device("Rea", certifiedBy: ada, as: .reader)
    let folder = try TemporaryFolder()
    let stranger = try DeviceKey.loadOrCreate(in: folder["data"])
    let keys = [ada.key, bob.key, reader.key, stranger]
    let address = row.named.map { keys[$0].deviceID.lowercased() + "@notes.invalid" }
    let id = try make(
      on: ada, name: row.name, address: address ?? "pat@example.org",
      by: row.signer.map { keys[$0] })
    for _ in 0..<2 {
      let proofs = VersionProofs(in: try ada.notebook())
      let author = try proofs.author(of: id)
      #expect(author.name == row.shown && author.proof == row.proof)
      let isProved = row.proof == .verified || row.proof == .vouched
      #expect((author.mark == nil) == isProved, "\(author)")
      // From the second time on by memory.
      proofs.remember()
    }
  }

  @Test("a device that was renamed is called by its present name, whatever its versions say")
  func renamed() throws {
    try bob.write("b\n", to: "B.txt")
    _ = try sync(bob, ada)
    let old = try #require(try ada.tip())
    try ada.context.membership.reissue(device: bob.key.deviceID, name: "Bert", by: ada.key)
    #expect(try author(of: old, on: ada).name == "Bert")
    let marked = "Bob (\(bob.key.deviceID.prefix(8)))"
    for (claimed, shown) in [
      ("Eve (via Bob)", "Eve (via Bert)"), ("Eve (via Ada)", "Bert"),
      (marked, marked.replacing("Bob", with: "Bert")),
    ] {
      let version = try make(on: ada, name: claimed, address: bob.address, by: bob.key)
      #expect(try author(of: version, on: ada).name == shown)
    }
    #expect(try author(of: old, on: ada).proof == .verified)
    let new = try make(on: ada, name: "Ada", address: bob.address, by: bob.key)
    #expect(try author(of: new, on: ada).name == "Bert")
  }

  // MARK: Then and now

  @Test(
    "what a device made while it was a writer stays verified, what it made later is not",
    arguments: [true, false])
  func former(isRemoved: Bool) throws {
    try bob.write("before\n", to: "B.txt")
    _ = try sync(bob, ada)
    let before = try #require(try ada.tip())
    let membership = ada.context.membership
    if isRemoved {
      try membership.remove(devices: [bob.key.deviceID], by: ada.key)
    } else {
      try membership.reissue(device: bob.key.deviceID, role: .reader, by: ada.key)
    }
    #expect(try author(of: before, on: ada).proof == .verified)
    // Whatever the date that it bears.
    let tip = try make(on: ada, name: "Bob", address: bob.address, by: bob.key)
    let late = try author(of: tip, on: ada)
    #expect(late.proof == (isRemoved ? .removed : .reader) && late.mark != nil)
    #expect(try author(of: before, on: ada).proof == .verified)
    // Who comes later goes by the dates, and by what a version stands on.
    let dora = try Device("Dora", certifiedBy: ada)
    _ = try dora.context.membership.merge(
      certificates: membership.certificates, revocations: membership.revocations)
    let later = try make(on: ada, name: "Bob", address: bob.address, by: bob.key, at: 4_000_000_000)
    let dated = try make(on: ada, name: "Bob", address: bob.address, by: bob.key)
    try ada.write("ada\n", to: "A.txt")
    _ = try sync(dora, ada)
    #expect(try author(of: before, on: dora).proof == .verified)
    for id in [later, dated] { #expect(try author(of: id, on: dora).proof != .verified) }
  }

  @Test("a list of members that cannot be read is told, and proves nothing")
  func unreadable() throws {
    let tip = try #require(try ada.tip())
    let folder = MembershipStore.folder(ofNotebookAt: try ada.notebook().stateFolder)
    try writeFile(folder + "/format", Array("notes membership 9\n".utf8))
    #expect(throws: MembershipError.self) { try author(of: tip, on: ada) }
  }

  // MARK: Merges below signed versions

  @Test("a forged merge below a signed version is told as altered, line by line")
  func alteredMerge() throws {
    try ada.write("one\ntwo\nthree\nfour\nfive\nsix\nseven\n", to: "N.txt")
    _ = try sync(bob, ada)
    try ada.write("ONE\ntwo\nthree\nfour\nfive\nsix\nseven\n", to: "N.txt")
    try bob.write("one\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n", to: "N.txt")
    _ = try sync(bob, ada)
    let repository = try bob.notebook().repository
    let honest = try repository.commit(#require(try bob.tip()))
    #expect(DerivedMerge.isDerived(honest))
    // The same form, with one more line, and a version of Bob's on top.
    let text = try repository.write(
      blob: Array("ONE\ntwo\nada owes bob 5\nfour\nfive\nsix\nSEVEN\n".utf8))
    let path = TreePath("N.txt")
    let tree = try repository.write(
      tree: honest.tree, replacing: [path: TreeEntry(name: path, mode: .regular, id: text)])
    let forged = try repository.write(
      commit: tree, parents: honest.parents, author: honest.author, committer: honest.committer,
      message: honest.message)
    let top = try repository.write(
      commit: tree, parents: [forged],
      author: Signature(name: "Bob", email: bob.address, time: 1_700_000_900, offset: 0),
      committer: Signature(name: "Bob", email: bob.address, time: 1_700_000_900, offset: 0),
      message: "Nothing\n",
      signedBy: { try VersionSignature(over: $0, by: bob.key).armored })
    #expect(try bob.git("update-ref", "refs/heads/main", top.hex).isSuccess)
    #expect(try bob.git("reset", "-q", "--hard").isSuccess)
    _ = try sync(bob, ada)
    #expect(try ada.notebook().history.shows([top]))
    for device in [ada, bob] {
      let history = try device.notebook().history
      let check = MergeCheck(of: history)
      guard case .altered(let altered)? = try check.verdict(on: history.repository.commit(forged))
      else {
        Issue.record("the merge counts as computed")
        continue
      }
      #expect(altered.endorsedBy == top && altered.changes.map { $0.path } == [path])
      let origins = try history.blame(path).map { $0.origin }
      #expect(origins[2] == .alteredMerge(forged, endorsedBy: top))
      #expect(origins.count { if case .alteredMerge = $0 { true } else { false } } == 1)
      // What was computed for that is in no repository.
      #expect(try device.git("fsck", "--strict").isSuccess)
      if case .asComputed? = try check.verdict(on: history.repository.commit(honest.id)) {
        check.remember()
      } else {
        Issue.record("an honest merge counts as altered")
      }
      let memory = VersionMemory(.merges, in: try device.notebook().stateFolder)
      #expect(memory.contains(honest.id) && !memory.contains(forged))
    }
  }
}

extension VersionAuthorTests {
  /// Makes the next version of a device's branch, signed by a key if there is one.
  private func make(
    on device: Device, name: String, address: String, by key: DeviceKey?,
    at time: Int64 = 1_700_000_000
  ) throws -> ObjectID {
    let repository = try device.notebook().repository
    let tip = try repository.commit(#require(try device.tip()))
    // `Signature` would trim the name.
    let person = "\(name) <\(address)> \(time) +0000"
    let content = Array(
      "tree \(tip.tree)\nparent \(tip.id)\nauthor \(person)\ncommitter \(person)\n\nx\n".utf8)
    let signed = try key.map {
      SignedCommit(content: content, signature: try VersionSignature(over: content, by: $0).armored)
        .serialized
    }
    let id = try repository.write(.commit, signed ?? content)
    #expect(try device.git("update-ref", "refs/heads/main", id.hex).isSuccess)
    return id
  }
}

extension Device {
  /// What its versions carry.
  var address: String { key.deviceID.lowercased() + "@notes.invalid" }
}
