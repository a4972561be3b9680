package import Git

/// One installation of notes on one machine for one user, as versions name it.
public struct DeviceIdentity: Hashable, Sendable {
  /// The name people gave the device.
  public var name: String
  /// The base32 form of the SHA-256 of the device's public key.
  public var deviceID: String

  /// Both are taken as they are; nothing is checked.
  public init(name: String, deviceID: String) {
    self.name = name
    self.deviceID = deviceID
  }

  /// The domain of the addresses that devices write into versions. It is reserved never to exist
  /// (RFC 2606), so that no version names somebody's mailbox.
  static let mailDomain = "notes.invalid"

  /// The address of versions that were made while the device's key was not there.
  public static let emailWithoutKey = "unsigned@\(mailDomain)"
  /// What stands before the domain and is no device's: derived merges, and what leads a hub's branch
  /// forward.
  private static let noDevices: Set<Substring> = ["merge", "hub", "unsigned"]

  /// The address that versions made on this device carry: `DEVICE-ID@notes.invalid`, lower case.
  public var email: String { "\(deviceID.lowercased())@\(Self.mailDomain)" }

  /// Who made what a guest of this device made on it: notes-security(7), GUESTS.
  public func authorName(of guest: String) -> String { "\(guest) (via \(name))" }

  /// Whether `notes` made what this is the committer of, on any device.
  package static func isOurs(_ committer: Signature) -> Bool {
    committer.email.hasSuffix("@\(mailDomain)")
  }

  /// The device ID that an address of the form above carries, or nil for any other address.
  public static func deviceID(inEmail email: String) -> String? {
    let suffix = "@\(mailDomain)"
    guard email.hasSuffix(suffix) else { return nil }
    let local = email.dropLast(suffix.count)
    guard !noDevices.contains(local), !local.isEmpty else { return nil }
    return local.uppercased()
  }
}
