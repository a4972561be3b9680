import Glibc
import TestSupport
import Testing

@testable import Membership

// notes-security(7), "BLOCKING" and "STARTING OVER".
@Suite("Membership: what a device decides for itself", .timeLimit(.minutes(20)))
struct HereTests {
  @Test("A blocked member is refused here and nowhere else, until it is let in again")
  func blocking() throws {
    let family = try Family()
    let phone = try family.add("phone", .writer)
    let other = try family.copy("other")
    let chain = try family.store.chain(for: phone)
    try family.store.setBlocked(true, device: phone.deviceID, by: family.founder)
    #expect(
      failure { _ = try family.store.verify(chain: chain) }
        == .blocked(device: phone.deviceID, name: "phone"))
    #expect(family.store.member(phone)?.isBlocked == true)
    #expect(family.store.member(phone)?.isRemoved == false)
    // It survives the process, and does not travel.
    let again = try MembershipStore.open(in: family.store.folder)
    #expect(again.member(phone)?.isBlocked == true)
    try other.merge(family.store)
    #expect(try other.verify(chain: chain).deviceID == phone.deviceID)
    #expect(try family.store.digest() == other.digest())
    try family.store.setBlocked(false, device: phone.deviceID, by: family.founder)
    #expect(try family.store.verify(chain: chain).deviceID == phone.deviceID)
    // Another process's choice is seen at the next question.
    try again.refresh()
    #expect(again.member(phone)?.isBlocked == false)
  }

  @Test("Nobody blocks itself, or a stranger")
  func refusals() throws {
    let family = try Family()
    let stranger = try DeviceKey.random()
    #expect(
      failure {
        try family.store.setBlocked(true, device: stranger.deviceID, by: family.founder)
      } == .notAMember(device: stranger.deviceID))
    #expect(
      failure {
        try family.store.setBlocked(true, device: family.founder.deviceID, by: family.founder)
      } == .anotherAdminNeeded)
  }

  @Test("A new root: this device alone is a member, and the old certificates open nothing")
  func renewal() throws {
    let family = try Family()
    let phone = try family.add("phone", .writer)
    let store = try family.copy("phone")
    let thief = try family.store.chain(for: family.founder)
    let new = try MembershipStore.renew(in: store.folder, deviceName: "phone", key: phone)
    #expect(new.notebookID != store.notebookID && new.notebookName == store.notebookName)
    #expect(new.members().map(\.deviceID) == [phone.deviceID])
    #expect(new.role(ofDevice: phone.deviceID) == .admin)
    #expect(failure { _ = try new.verify(chain: thief) } != nil)
    #expect(try new.formerIDs() == [store.notebookID])
    // What was there is kept.
    let old = try MembershipStore.open(in: "\(store.folder)-\(store.notebookID.prefix(8))")
    #expect(old.notebookID == store.notebookID)

    // Another member takes the new one over.
    let desk = try family.copy("desk")
    let deskKey = try DeviceKey.random()
    let certificate = try new.issue(
      for: CertificateRequest(name: "desk", key: deskKey), role: .writer, by: phone)
    let joined = try MembershipStore.replace(
      in: desk.folder, root: new.root, certificates: [certificate] + new.certificates,
      revocations: new.revocations, formerly: Array(new.formerIDs()))
    #expect(joined.notebookID == new.notebookID)
    #expect(try joined.formerIDs() == [store.notebookID])
    #expect(try joined.chain(for: deskKey).count == 1)

    // And again: all the IDs there were are known.
    let third = try MembershipStore.renew(in: joined.folder, deviceName: "desk", key: deskKey)
    #expect(try third.formerIDs() == [store.notebookID, new.notebookID])
  }

  @Test("Whom this device blocks, it blocks in the new membership as well")
  func blockedAnew() throws {
    let family = try Family()
    let phone = try family.add("phone", .writer)
    let store = try family.copy("phone")
    let desk = try family.copy("desk")
    for place in [store, desk] {
      try place.setBlocked(true, device: family.founder.deviceID, by: phone)
    }
    try store.setRenewal(phone.deviceID)
    let new = try MembershipStore.renew(in: store.folder, deviceName: "phone", key: phone)
    let certificate = try new.issue(
      for: CertificateRequest(name: "founder", key: family.founder), role: .writer, by: phone)
    #expect(new.member(ofDevice: family.founder.deviceID)?.isBlocked == true)
    #expect(failure { _ = try new.verify(chain: [certificate]) } != nil)
    #expect(try DeviceList.renewal.read(in: store.folder) == [phone.deviceID])
    let joined = try MembershipStore.replace(
      in: desk.folder, root: new.root, certificates: new.certificates,
      revocations: new.revocations, formerly: [store.notebookID])
    #expect(joined.member(ofDevice: family.founder.deviceID)?.isBlocked == true)
  }

  @Test("The IDs it had come the latest first, and each once")
  func order() throws {
    let family = try Family()
    let key = try family.add("phone", .writer)
    var store = try family.copy("phone")
    var ids: [String] = []
    for _ in 0..<3 {
      ids.insert(store.notebookID, at: 0)
      store = try MembershipStore.renew(in: store.folder, deviceName: "phone", key: key)
      #expect(try store.formerIDsLatestFirst() == ids)
    }
    try store.recordFormerIDs([ids[0], String(repeating: "a", count: 52)])
    #expect(try store.formerIDsLatestFirst() == ids + [String(repeating: "a", count: 52)])
  }

  @Test("Cut off at any moment, beginning anew loses neither membership")
  func cutOff() throws {
    let family = try Family()
    let phone = try family.add("phone", .writer)
    let store = try family.copy("phone")
    let (folder, id) = (store.folder, store.notebookID)
    let new = try MembershipStore.renew(in: folder, deviceName: "phone", key: phone)
    let aside = "\(folder)-\(id.prefix(8))"
    // As it was killed after the swap: the old one has no name of its own yet.
    try #require(rename(aside, folder + ".waiting") == 0)
    #expect(try MembershipStore.open(in: folder).notebookID == new.notebookID)
    #expect(try MembershipStore.open(in: aside).notebookID == id)
    // As it was killed in between, where the file system cannot swap.
    try #require(rename(folder, folder + ".waiting") == 0)
    #expect(try MembershipStore.open(in: folder).notebookID == new.notebookID)
    #expect(try MembershipStore.open(in: aside).notebookID == id)
    // The next one keeps both.
    let third = try MembershipStore.renew(in: folder, deviceName: "phone", key: phone)
    for former in [id, new.notebookID] {
      #expect(try MembershipStore.open(in: "\(folder)-\(former.prefix(8))").notebookID == former)
    }
    #expect(try third.formerIDs() == [id, new.notebookID])
  }

  // notes-security(7), STARTING OVER: "The claim is proved if the new root names the old notebook's ID,
  // and its key is an admin's that this device knows".
  @Test("Only a root that an admin made for this notebook proves that it was begun anew")
  func provedRenewal() throws {
    let family = try Family()
    let desk = try family.add("desk", .admin)
    let phone = try family.add("phone", .writer)
    let here = try family.copy("here")
    func renewed(_ name: String, _ key: DeviceKey) throws -> [UInt8] {
      try MembershipStore.renew(in: family.copy(name).folder, deviceName: name, key: key).root
    }
    let root = try renewed("desk", desk)
    #expect(try here.founder(ofRenewal: root)?.name == "desk")
    #expect(try here.founder(ofRenewal: renewed("phone", phone)) == nil)
    #expect(try here.founder(ofRenewal: renewed("stranger", .random())) == nil)
    // Another notebook of the same admin is not this one, however its members call it.
    let other = try MembershipStore.found(
      in: family.folder["other"], notebookName: "Home", deviceName: "desk", key: desk)
    #expect(try here.founder(ofRenewal: other.root) == nil)
    let otherAnew = try MembershipStore.renew(in: other.folder, deviceName: "desk", key: desk)
    #expect(try here.founder(ofRenewal: otherAnew.root) == nil)
    // Nor does one that was removed, or is blocked here, say what becomes of it.
    try here.setBlocked(true, device: desk.deviceID, by: phone)
    #expect(try here.founder(ofRenewal: root) == nil)
    try here.setBlocked(false, device: desk.deviceID, by: phone)
    try here.remove(devices: [desk.deviceID], by: family.founder)
    #expect(try here.founder(ofRenewal: root) == nil)
  }

  @Test("A list that is none is an error, not an empty list")
  func damaged() throws {
    let family = try Family()
    try family.folder.write("../../etc/passwd\n", to: "founder/blocked")
    #expect(
      failure { _ = try MembershipStore.open(in: family.store.folder) }
        == .fileDamaged(path: family.folder["founder/blocked"]))
  }
}
