import Channel
import Git
import Glibc
import History
import Membership
import Notebook
import System
import TestSupport
import Testing

@testable import Exchange

/// Two devices that meet at a hub alone.
struct LinkScene {
  let hub: FolderHub
  let ada: Device
  let folder: TemporaryFolder

  init() throws {
    hub = try FolderHub()
    ada = try Device(founding: "Ada")
    folder = try TemporaryFolder()
    try ada.write("one\n", to: "A.txt")
    _ = try ada.notebook().save()
    try ada.meet(hub)
  }
}

/// A suite about invitations at a hub.
protocol LinkSuite {
  var scene: LinkScene { get }
}

extension LinkSuite {
  var hub: FolderHub { scene.hub }
  var ada: Device { scene.ada }
  var folder: TemporaryFolder { scene.folder }

  func invite(by device: Device? = nil, seconds: Int64 = 3600) throws -> InvitationLink {
    let device = device ?? ada
    try device.context.membership.refresh()
    return try LinkInvitation(device.context, at: hub.hub).make(role: .writer, seconds: seconds)
  }

  /// A member's link for another device of its own.
  func inviteOwn(by device: Device) throws -> InvitationLink {
    try LinkInvitation(device.context, at: hub.hub).make(
      role: .writer, person: .own, seconds: 3600)
  }

  /// Joins by a link as the program does, on a device of its own.
  func join(_ name: String, by link: InvitationLink) throws -> SessionContext {
    var cloning = Cloning(
      of: .hub(Hub(name: "hub", url: hub.path)), key: try .loadOrCreate(in: folder[name + "-key"]),
      deviceName: name)
    cloning.secret = link.secret
    let notebook = try cloning.run(into: folder[name]) { #expect($0.id == link.notebookID) }
    return SessionContext(
      folder: notebook.folder, key: try .loadOrCreate(in: folder[name + "-key"]),
      membership: try .open(in: MembershipStore.folder(ofNotebookAt: notebook.stateFolder)))
  }

  func admitted(_ events: [Event]) -> [String] {
    events.compactMap { if case .admitted(_, let device, _) = $0 { device.name } else { nil } }
  }

  /// The devices that need a person's yes: who asks for which.
  func asked(_ events: [Event]) -> [String] {
    events.compactMap {
      if case .deviceAsked(_, let device, let member, _, _) = $0 {
        "\(member): \(device.name)"
      } else {
        nil
      }
    }
  }

  /// Why a waiting device's request will not be answered, after a visit of it. "It tells its user if the invitation
  /// was cancelled, used by another device or removed, or if several devices ask by it."
  func end(at device: SessionContext) throws -> AskedAdmission.End? {
    _ = try device.visit([hub.hub])
    return try #require(AskedAdmission(in: device.notebook().stateFolder)).end
  }

  /// The names in such warnings, without the beginning of each device's ID: " (XXXXXXXX)".
  func shared(_ events: [Event]) -> [[String]] {
    events.compactMap { event in
      guard case .linkShared(_, _, let devices, _, _) = event else { return nil }
      return devices.map { String($0.dropLast($0.hasSuffix(")") ? 11 : 0)) }
    }
  }

  /// The references of invitations at the hub.
  func references() throws -> [String] {
    try TestSupport.run([
      "git", "-C", hub.path, "for-each-ref", "--format=%(refname)", "refs/invitations",
    ]).lines.filter { !$0.isEmpty }
  }
}
