internal import Merge

/// An installation of notes for one user on one machine, with the name and address that its versions have.
public struct DeviceIdentity: Hashable, Sendable {
  /// The name that people gave the device.
  public var name: String
  /// The base32 form of the SHA-256 of the device's public key.
  public var deviceID: String

  /// Does not check the values.
  public init(name: String, deviceID: String) {
    self.name = name
    self.deviceID = deviceID
  }

  /// The address in versions that were made without the device's key.
  public static let emailWithoutKey = "unsigned@\(DeviceAddress.domain)"

  /// The author's address in versions made on this device: `DEVICE-ID@notes.invalid`, lower case.
  public var email: String { "\(deviceID.lowercased())@\(DeviceAddress.domain)" }

  /// The author's name in versions that a guest made on this device: notes-security(7), GUESTS.
  public func authorName(of guest: String) -> String { "\(guest) (via \(name))" }
}
