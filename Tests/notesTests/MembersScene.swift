import TestSupport
import Testing

@testable import Membership

/// A notebook's founder at a shell, and devices that are only keys.
struct MembersScene {
  let shell: Shell
  let store: MembershipStore
  let founder: DeviceKey

  init() throws {
    shell = try Shell()
    try shell.initialise()
    store = try MembershipStore.open(in: shell.folder["notes/.git/notes/membership"])
    founder = try #require(try DeviceKey.load(in: shell.folder["home/.local/share/notes"]))
  }
}

/// A suite about the members of a notebook.
protocol MembersSuite {
  var scene: MembersScene { get }
}

extension MembersSuite {
  var shell: Shell { scene.shell }
  var store: MembershipStore { scene.store }
  var founder: DeviceKey { scene.founder }

  /// Another device, certified by this one. Its own data folder is `devices/NAME`.
  @discardableResult
  func add(_ name: String, _ role: Role, folder: String? = nil) throws -> DeviceKey {
    let key = try DeviceKey.loadOrCreate(in: shell.folder["devices/\(folder ?? name)/notes"])
    _ = try store.issue(
      for: CertificateRequest(name: name, key: key), role: role, by: founder)
    return key
  }

  func role(of key: DeviceKey) throws -> Role? {
    try store.refresh()
    return store.role(ofDevice: key.deviceID)
  }
}
