import Git
import Membership
import TestSupport
import Testing

@testable import Exchange
@testable import History
@testable import Notebook

/// notes-security(7), FORGETTING: whose word counts.
@Suite("Whose forgetting counts", .timeLimit(.minutes(20)))
struct ForgettingJudgeTests {
  private static let line = "Notes-Forgot: \(String(repeating: "0a", count: 16)) text 3"
  let ada: Device
  let bob: Device
  let eve: Device

  init() throws {
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    eve = try Device("Eve", certifiedBy: ada, as: .admin)
    try ada.write("one\n", to: "A.txt")
    _ = try sync(bob, ada)
    _ = try sync(eve, ada)
  }

  /// A version on Ada's tip in the name of a device, signed with a key of `by`.
  private func version(
    _ message: String = "Forget a text\n\n\(line)\n", of device: Device, by signer: Device?,
    on base: ObjectID? = nil, tree: ObjectID? = nil
  ) throws -> ObjectID {
    let notebook = try ada.notebook()
    let repository = notebook.repository
    let tip = try #require(try base ?? ada.tip())
    let person = Git.Signature(
      name: device.name, email: "\(device.key.deviceID.lowercased())@notes.invalid",
      time: 1_800_000_000, offset: 0)
    return try repository.write(
      commit: tree ?? repository.commit(tip).tree, parents: [tip], author: person,
      committer: person, message: message,
      signedBy: signer.map { signer in { try VersionSignature(over: $0, by: signer.key).armored } })
  }

  /// The forgettings that Ada's device takes for such, of those below a version.
  private func counted(below head: ObjectID) throws -> [ObjectID] {
    let notebook = try ada.notebook()
    let judge = try ForgettingJudge(notebook)
    return try notebook.history.forgettingVersions(below: [head], lacking: []).filter {
      try judge.counts($0, below: [head])
    }.map(\.id)
  }

  @Test("an admin's counts, and nobody else's")
  func admins() throws {
    for (device, signer, counts) in [
      (ada, ada, true), (eve, eve, true), (bob, bob, false), (ada, bob, false), (ada, nil, false),
      (eve, ada, false),
    ] as [(Device, Device?, Bool)] {
      let id = try version(of: device, by: signer)
      let name = "\(device.name) by \(signer?.name ?? "nobody")"
      #expect(try counted(below: id) == (counts ? [id] : []), "\(name)")
      // Nor does it by being below an admin's version, of who never was one.
      let above = try version("More\n", of: ada, by: ada, on: id)
      #expect(try counted(below: above) == (counts ? [id] : []), "\(name)")
    }
  }

  @Test("an admin that was removed forgets nothing, but for what an admin has followed")
  func removed() throws {
    let id = try version(of: eve, by: eve)
    let followed = try version("More\n", of: ada, by: ada, on: id)
    let byBob = try version("More\n", of: bob, by: bob, on: id)
    let beside = try version("More\n", of: ada, by: ada)
    #expect(try counted(below: byBob) == [id])
    try ada.context.membership.remove(devices: [eve.key.deviceID], by: ada.key)
    #expect(try counted(below: id) == [])
    #expect(try counted(below: byBob) == [])
    #expect(try counted(below: beside) == [])
    #expect(try counted(below: followed) == [id])
  }

  @Test("one that is blocked here forgets nothing here")
  func blocked() throws {
    let id = try version(of: eve, by: eve)
    try ada.context.membership.setBlocked(true, device: eve.key.deviceID, by: ada.key)
    #expect(try counted(below: id) == [])
    try ada.context.membership.setBlocked(false, device: eve.key.deviceID, by: ada.key)
    #expect(try counted(below: id) == [id])
  }

  @Test("a version that changes something, or says it in another form, is none")
  func forms() throws {
    let repository = try ada.notebook().repository
    #expect(try counted(below: version(of: ada, by: ada, tree: repository.write(tree: []))) == [])
    let id = String(repeating: "0a", count: 16)
    for lines in [
      "Notes-Forgot: \(id) text", "Notes-Forgot: \(id) text 03", "Notes-Forgot: \(id) text -1",
      "Notes-Forgot: \(id.uppercased()) text 3", "Notes-Forgot: \(id)0 text 3",
      "\(Self.line)\n\(Self.line)", "\(Self.line)\nNotes-Forgot: nothing", "Notes-Forgot:  text 3",
    ] {
      let made = try version("Forget\n\n\(lines)\n", of: ada, by: ada)
      #expect(try counted(below: made) == [], "\(lines)")
    }
    let two = "\(Self.line)\nNotes-Forgot: \(String(repeating: "1b", count: 16)) note 0"
    let made = try version("Forget\n\n\(two)\n", of: ada, by: ada)
    #expect(try counted(below: made) == [made])
    let found = try #require(ForgettingVersion(repository.commit(made)))
    #expect(found.lines.map(\.trailer).joined(separator: "\n") == two)
  }

  /// notes-protocol(7), LIMITS: "The list has a forgetting that the receiver's history does not obey."
  @Test(
    "a version that has just arrived counts before anything else is here, if it is a present admin's"
  )
  func news() throws {
    func isNews(_ id: ObjectID) throws -> Bool {
      let notebook = try ada.notebook()
      let content = try notebook.repository.object(id).data
      #expect(ForgettingVersion.mayBe(content))
      return try ForgettingJudge(notebook).isNews(id, content)
    }
    for (device, signer, counts) in [
      (ada, ada, true), (eve, eve, true), (bob, bob, false), (ada, bob, false), (ada, nil, false),
      (eve, ada, false),
    ] as [(Device, Device?, Bool)] {
      let name = "\(device.name) by \(signer?.name ?? "nobody")"
      #expect(try isNews(version(of: device, by: signer)) == counts, "\(name)")
    }
    #expect(try !isNews(version("Forget\n\n\(Self.line)\n\(Self.line)\n", of: ada, by: ada)))
    let byEve = try version(of: eve, by: eve)
    let notebook = try ada.notebook()
    try notebook.setDeviceReference(History.obeyedReference, to: byEve, message: "test")
    #expect(try !isNews(version(of: ada, by: ada)))
    let more = "\(Self.line)\nNotes-Forgot: \(String(repeating: "1b", count: 16)) note 0"
    let next = try version("Forget\n\n\(more)\n", of: eve, by: eve)
    #expect(try isNews(next))
    try ada.context.membership.setBlocked(true, device: eve.key.deviceID, by: ada.key)
    #expect(try !isNews(next))
    try ada.context.membership.setBlocked(false, device: eve.key.deviceID, by: ada.key)
    try ada.context.membership.remove(devices: [eve.key.deviceID], by: ada.key)
    #expect(try !isNews(next))
  }
}
