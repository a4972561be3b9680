import History
import Membership
import Notebook
import State
import System
import TestSupport
import Testing

@testable import Web

/// A served notebook that Ann founded; her device's key is where the page looks for it.
struct FoundedFixture {
  let web: WebFixture
  let keys: TemporaryFolder
  let key: DeviceKey
  let membership: MembershipStore

  init(limits: WebLimits = WebLimits()) throws {
    web = try WebFixture(limits: limits)
    keys = try TemporaryFolder()
    key = try DeviceKey.loadOrCreate(in: web.folder["keys"])
    membership = try MembershipStore.found(
      in: web.notebook.stateFolder.path + "/membership", notebookName: "Home", deviceName: "Ann",
      key: key)
    try adopt(key.deviceID, "Ann")
  }

  /// Has the notebook be that of another device.
  func adopt(_ device: String, _ name: String) throws {
    _ = try Notebook.adopt(
      at: web.folder.path,
      as: NotebookIdentity(
        id: membership.notebookID, name: "Home",
        device: DeviceIdentity(name: name, deviceID: device)))
  }

  /// Certifies another device.
  ///
  /// - Parameter folder: where its key is, if not by its name.
  func join(
    _ name: String, as role: Role = .writer, keyIn folder: String? = nil, by admin: DeviceKey? = nil
  ) throws -> DeviceKey {
    let other = try DeviceKey.loadOrCreate(in: keys[folder ?? name])
    _ = try membership.issue(
      for: CertificateRequest(name: name, key: other), role: role, by: admin ?? key)
    return other
  }

  func role(_ device: DeviceKey) throws -> Role? {
    try membership.refresh()
    return membership.role(ofDevice: device.deviceID)
  }

  /// Where an answer leads, below the page's root.
  func location(_ answer: Answer) -> String? {
    answer.headers["location"].map { String($0.dropFirst(web.root.count)) }
  }

  /// The address of a member's page.
  func page(of device: DeviceKey, _ more: String = "") -> String {
    "/devices/member/\(device.deviceID)\(more)"
  }

  /// A page, as soon as it says this.
  func wait(for text: String, at address: String) throws -> String {
    let end = Instant.now + 120
    var page = try web.get(address).text
    while !page.contains(text), Instant.now < end { page = try web.get(address).text }
    #expect(page.contains(text), "\(page)")
    return page
  }

  /// Opens an invitation on the page.
  func invite(as role: String) throws -> (address: String, code: InvitationCode, page: String) {
    let opened = try web.post("/devices/invite", [("role", role)])
    let address = try #require(location(opened), "\(opened)")
    let page = try web.get(address).text
    let shown = try #require(page.firstMatch(of: #/notes join ([0-9A-Z-]+)</#), "\(page)").1
    return (address, try #require(InvitationCode(parsing: String(shown))), page)
  }
}
