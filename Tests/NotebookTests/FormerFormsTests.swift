import Git
import NotebookSupport
import TestSupport
import Testing

@testable import History
@testable import Notebook
@testable import Rewriting

/// notes-security(7), FORGETTING.
@Suite("Former versions and rewritten ones, whoever sends them")
struct FormerFormsTests {
  private static let secret = "correct-horse"
  let ada: Fixture
  let ben: Fixture
  let cleo: Fixture

  init() throws {
    ada = try Fixture()
    try ada.write("Start.txt", "begins here\n")
    _ = try ada.notebook.save()
    ben = try ada.clone(device: "Ben")
    cleo = try ada.clone(device: "Cleo")
    for device in [ada, ben, cleo] { obey(device) }
  }

  /// In these notebooks each device is an admin.
  private func obey(_ device: Fixture) {
    device.notebook.signer = VersionSigner(load: { _ in nil }, counts: { _, _, _ in true })
  }

  private func tick() {
    let now = [ada, ben, cleo].map(\.seconds.now).max() ?? 0
    for device in [ada, ben, cleo] { device.seconds.now = now + 10 }
  }

  private func save(_ device: Fixture, _ name: String, _ text: String) throws {
    tick()
    try device.write(name, text)
    _ = try device.notebook.save()
  }

  private func take(_ device: Fixture, from other: Fixture) throws {
    tick()
    try device.receive(from: other)
  }

  private func forget(_ text: String, on device: Fixture) throws {
    tick()
    _ = try device.notebook.forget(.text(Array(text.utf8)))
  }

  // "If a device obeys an admin's line, it does not merge, from any source, the former version of a rewritten version
  // below that line."
  @Test("git merged an old clone with what two admins' devices joined", arguments: [false, true])
  func oldClone(isJoinedTwice: Bool) throws {
    try save(ada, "Wifi.txt", "wifi \(Self.secret)\n")
    try take(cleo, from: ada)
    try forget(Self.secret, on: ada)
    try save(ben, "Fruit.txt", "bananas\n")
    try forget("bananas", on: ben)
    if isJoinedTwice {
      let copy = try ben.clone(device: "Copy")
      obey(copy)
      try take(ben, from: ada)
      try take(ada, from: copy)
    } else {
      try take(ben, from: ada)
    }
    try cleo.copyObjects(from: ben)
    let heads = try ben.notebook.state().heads.map(\.hex)
    _ = try cleo.git(["merge", "--quiet", "--no-edit", "-s", "ours"] + heads)
    let devices = isJoinedTwice ? [ben, ada] : [ben]
    for device in devices {
      #expect(throws: NotebookError.self) { try take(device, from: cleo) }
      #expect(try device.read("Wifi.txt") == "wifi [forgotten]\n")
      #expect(try !device.git(["log", "-p", "-m"]).contains(Self.secret))
    }
    if isJoinedTwice {
      try take(ada, from: ben)
      try take(ben, from: ada)
      #expect(try ada.notebook.state().tip == ben.notebook.state().tip)
    }
  }

  // notes-forget(1), "Other devices": "Versions made on top of the rewritten history stay as they are, whatever they
  // contain. The exception is a version on top of a merge with the former history that git(1) made."
  @Test("A hub's former versions are brought over, and a later text on top stays")
  func bringingOver() throws {
    try save(ada, "Wifi.txt", "wifi \(Self.secret)\n")
    try take(cleo, from: ada)
    try forget(Self.secret, on: ada)
    try save(ada, "Later.txt", "one\n")
    try take(ben, from: ada)
    try save(ben, "Again.txt", "again \(Self.secret)\n")
    try save(ada, "Later.txt", "two\n")
    try cleo.copyObjects(from: ben)
    let heads = try ben.notebook.state().heads.map(\.hex)
    _ = try cleo.git(["merge", "--quiet", "--no-edit", "-X", "theirs"] + heads)
    try ada.copyObjects(from: cleo)
    var options = MergeOptions()
    options.bringsOver = true
    tick()
    _ = try ada.notebook.merge(cleo.notebook.state().heads, options: options)
    #expect(try ada.read("Again.txt") == "again \(Self.secret)\n")
    #expect(try ada.read("Later.txt") == "two\n")
    #expect(try ada.read("Wifi.txt") == "wifi [forgotten]\n")
    #expect(try !ada.git(["log", "-p", "-m", "--", "Wifi.txt"]).contains(Self.secret))
    try take(ben, from: ada)
    try take(ada, from: ben)
    #expect(try ada.notebook.state().tip == ben.notebook.state().tip)
  }

  // "Only an admin can make devices drop a saved text".
  @Test("A version made like another's removes nothing from it")
  func twin() throws {
    try save(ada, "Wifi.txt", "wifi \(Self.secret)\n")
    try take(ben, from: ada)
    try save(ben, "Mine.txt", "of Ben\nand more\n")
    let version = try #require(try ben.notebook.state().tip)
    try forget(Self.secret, on: ada)
    let dora = try ada.clone(device: "Dora")
    obey(dora)
    // Dora's device makes Ben's version again, without his note, as if an admin had it forgotten.
    try dora.copyObjects(from: ben)
    let repository = dora.notebook.repository
    let commit = try repository.commit(version)
    let former = try #require(try dora.notebook.state().tip)
    for isGone in [true, false] {
      var twin = try RewrittenCommit(of: repository.object(version).data, id: version)
      let blob = try repository.write(blob: Array("[forgotten]\n".utf8))
      let entry = TreeEntry(name: "Mine.txt", mode: .regular, id: blob)
      twin.parents = try [parentForm(of: commit, on: dora, below: former)]
      twin.tree = try repository.write(
        tree: repository.commit(twin.parents[0]).tree, replacing: isGone ? [:] : ["Mine.txt": entry]
      )
      twin.add(header: Forgetting.header, "signed")
      tick()
      dora.seconds.now = ada.seconds.now
      _ = try dora.notebook.merge([repository.write(twin)])
    }
    try take(ben, from: dora)
    #expect(try ben.read("Mine.txt")?.contains("of Ben\n") == true)
    #expect(try ben.read("Mine.txt")?.contains("and more\n") == true)
    #expect(try ben.read("Wifi.txt") == "wifi [forgotten]\n")
  }

  /// The rewritten form of a version's parent.
  private func parentForm(of commit: Commit, on device: Fixture, below tip: ObjectID) throws
    -> ObjectID
  {
    let repository = device.notebook.repository
    let parent = try repository.commit(try #require(commit.parents.first))
    return try #require(
      try repository.commits(from: [tip]).first { id in
        let form = try repository.commit(id)
        return form.author == parent.author && form.isRewritten
      })
  }
}
