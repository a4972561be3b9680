import Git
import History
import Membership
import Notebook
import TestSupport
import Testing

@testable import Exchange

/// notes-security(7), "A key of its own" and VERSIONS: what a device signed with its former key and with its
/// new one, as those see it who share a hub alone.
@Suite("A device with a new key, at a hub", .timeLimit(.minutes(5)))
struct RenewedKeyTests {
  let hub: FolderHub
  let ada: Device
  let bob: Device
  let cleo: Device

  init() throws {
    hub = try FolderHub()
    ada = try Device(founding: "Ada")
    bob = try Device("Bob", certifiedBy: ada)
    cleo = try Device("Cleo", certifiedBy: ada)
    try ada.write("one\n", to: "A.txt")
    for device in [ada, bob] { try device.meet(hub) }
  }

  /// The devices that signed what is in a note's folder, by version, from the tip down.
  private func signers(of count: Int, in device: Device) throws -> [String] {
    let repository = try device.notebook().repository
    let tip = try #require(try device.tip())
    return try repository.commits(from: [tip]).suffix(count).reversed().map { id in
      let commit = try #require(SignedCommit(parsing: repository.object(id).data))
      let signature = try #require(VersionSignature(armored: commit.signature))
      #expect(try signature.isGood(over: commit.content))
      return try signature.deviceID
    }
  }

  private func visit(_ context: SessionContext) throws {
    #expect(try context.visit([hub.hub]).outcome.failures.map { "\($0.error)" } == [])
  }

  @Test(
    "versions signed before and after a renewal both count, for who is there and who comes later")
  func both() throws {
    let former = bob.key
    try bob.write("by the former key\n", to: "B.txt")
    try bob.meet(hub)
    let key = try #require(try DeviceKey.renew(in: bob.folder["data"]))
    func renew() throws -> CertificateRequest? {
      let membership = bob.context.membership
      return try KeyRenewal(of: bob.notebook(), membership, from: former, to: key).carryOut()
    }
    // It goes on with the former key until an admin has certified the new one.
    let request = try #require(try renew())
    try bob.write("still by the former key\n", to: "C.txt")
    try bob.meet(hub)
    _ = try ada.context.membership.certify(request, of: former.deviceID, by: ada.key)
    try ada.meet(hub)
    try bob.meet(hub)
    #expect(try renew() == nil)
    let context = SessionContext(
      folder: bob.notes, key: key, membership: bob.context.membership, timeouts: .forTests)
    try bob.write("by the new key\n", to: "D.txt")
    try visit(context)
    #expect(try signers(of: 3, in: bob) == [key, former, former].map(\.deviceID))
    // Who was there before the renewal, and who was not; each judges by what the hub has.
    for device in [ada, cleo] {
      try device.meet(hub)
      #expect(try device.text("B.txt") == "by the former key\n")
      #expect(try device.text("C.txt") == "still by the former key\n")
      #expect(try device.text("D.txt") == "by the new key\n")
      #expect(try device.tip() == bob.tip())
    }
    // The former key's last version is what another machine made that has it still.
    #expect(ada.context.membership.role(ofDevice: former.deviceID) == .writer)
    try ada.context.membership.remove(devices: [former.deviceID], by: ada.key)
    try ada.meet(hub)
    try bob.write("and again\n", to: "D.txt")
    try visit(context)
    let dora = try Device("Dora", certifiedBy: ada)
    for device in [ada, cleo, dora] {
      try device.meet(hub)
      #expect(try device.text("D.txt") == "and again\n" && device.exists("B.txt"))
    }
    #expect(try hub.tip() == dora.tip())
  }

  @Test("a new key that no admin has certified counts for nothing")
  func uncertified() throws {
    let key = try #require(try DeviceKey.renew(in: bob.folder["data"]))
    try bob.write("by a key that nobody certified\n", to: "B.txt")
    try bob.notebook().become(DeviceIdentity(name: "Bob", deviceID: key.deviceID))
    let (notebook, tip) = (try bob.notebook(), try #require(try hub.tip()))
    notebook.signer = VersionSigner(key)
    let version = try #require(try notebook.save().version)
    try hub.git(["-C", bob.notes, "push", "--quiet", hub.path, "HEAD:main"])
    #expect(try hub.tip() == version)
    #expect(try ada.refusal(at: hub) == .unsigned)
    #expect(try ada.tip() == tip && !ada.exists("B.txt"))
  }
}
