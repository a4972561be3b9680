internal import Merge

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

  /// The address of versions that were made while the device's key was not there.
  public static let emailWithoutKey = "unsigned@\(DeviceAddress.domain)"

  /// The address that versions made on this device carry: `DEVICE-ID@notes.invalid`, lower case.
  public var email: String { "\(deviceID.lowercased())@\(DeviceAddress.domain)" }

  /// The author's name of versions that a guest of this device made on it: notes-security(7), GUESTS.
  public func authorName(of guest: String) -> String { "\(guest) (via \(name))" }
}
