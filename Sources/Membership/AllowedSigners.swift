internal import State
internal import Synchronization
internal import System

/// The file with which git verifies devices' signatures (ssh-keygen(1), ALLOWED SIGNERS). It has a line for each device
/// ever certified here, also for removed ones, because git still verifies their versions.
public enum AllowedSigners {
  /// The path of the file, beside the folder of a membership.
  public static func path(beside folder: String) -> String {
    StateFolder(Disk.parent(of: folder))[.allowedSigners]
  }

  private static let maximumSize = 4 << 20

  /// The address in a device's versions; equal to `DeviceIdentity.email`.
  private static func address(of deviceID: String) -> String {
    "\(deviceID.lowercased())@notes.invalid"
  }

  /// Adds the devices that are not in the file yet. Devices of a former membership stay.
  static func add(_ publicKeys: some Sequence<[UInt8]>, in path: String) throws {
    let former = try Disk.readIfThere(path, limit: maximumSize)
    var lines = Set(String(decoding: former ?? [], as: UTF8.self).split(separator: "\n"))
    let count = lines.count
    for key in publicKeys {
      let address = address(of: try PublicKey.deviceID(key))
      lines.insert(
        "\(address) namespaces=\"git\" ssh-ed25519 \(VersionSignature.keyText(key))")
    }
    if former != nil, lines.count == count { return }
    let text = lines.sorted().map { $0 + "\n" }.joined()
    try Disk.replace(path, with: Array(text.utf8), mode: 0o644, isShared: true)
  }
}

extension MembershipStore {
  /// Calls `addAllowedSigners` and ignores errors: the file is only for git, and the next change of members
  /// writes it again.
  func keepAllowedSigners() {
    do { try addAllowedSigners() } catch {}
  }

  /// Updates the file with which git verifies versions: `allowed-signers`, beside the folder.
  public func addAllowedSigners() throws {
    let keys = state.withLock { state in
      Set([state.set.root.publicKey] + state.set.certificates.map(\.publicKey))
    }
    try AllowedSigners.add(keys, in: AllowedSigners.path(beside: folder))
  }
}
