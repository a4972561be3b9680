package import Exchange
import FoundationEssentials
import History
package import Membership
import Notebook
import State
package import TestSupport

// A notebook in a folder of its own, as the command line would have made it: the device's key is in
// `data`, the notebook in `notes`.
extension SessionContext {
  /// A new notebook.
  package static func founded(
    by name: String, in folder: TemporaryFolder, timeouts: ProtocolTimeouts
  ) throws -> SessionContext {
    try made(name, in: folder, timeouts: timeouts) { state, key in
      try MembershipStore.found(in: state, notebookName: "Home", deviceName: name, key: key)
    }
  }

  /// This notebook on another device, which this one certifies.
  package func certified(
    _ name: String, as role: Role, in folder: TemporaryFolder
  ) throws -> SessionContext {
    try Self.made(name, in: folder, timeouts: timeouts) { state, key in
      let request = try CertificateRequest(name: name, key: key)
      _ = try membership.issue(for: request, role: role, by: self.key)
      return try MembershipStore.install(
        in: state, root: membership.root, certificates: membership.certificates,
        revocations: membership.revocations)
    }
  }

  /// The same device on another machine, as a cloned disk makes it.
  package func cloned(in folder: TemporaryFolder) throws -> SessionContext {
    let data = folder["data"]
    try FileManager.default.copyItem(atPath: key.folder ?? "", toPath: data)
    let name = membership.members().first { $0.deviceID == key.deviceID }?.name ?? ""
    return try Self.made(name, in: folder, timeouts: timeouts) { state, _ in
      try MembershipStore.install(
        in: state, root: membership.root, certificates: membership.certificates,
        revocations: membership.revocations)
    }
  }

  private static func made(
    _ name: String, in folder: TemporaryFolder, timeouts: ProtocolTimeouts,
    _ join: (_ state: String, DeviceKey) throws -> MembershipStore
  ) throws -> SessionContext {
    let key = try DeviceKey.loadOrCreate(in: folder["data"])
    let state = try Notebook.prepare(at: folder["notes"])
    let membership = try join(state[.membership], key)
    _ = try Notebook.adopt(
      at: folder["notes"],
      as: NotebookIdentity(
        id: membership.notebookID, name: "Home",
        device: DeviceIdentity(name: name, deviceID: key.deviceID)))
    return SessionContext(
      folder: folder["notes"], key: key, membership: membership, timeouts: timeouts)
  }
}
