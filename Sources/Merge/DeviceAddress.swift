/// The addresses in versions' author fields: notes-security(7), SIGNATURES.
package enum DeviceAddress {
  /// The domain of the addresses that `notes` writes into versions. It is reserved (RFC 2606), so no such
  /// address is a real mail address.
  package static let domain = "notes.invalid"
  /// The local parts that are not device IDs: derived merges, commits that move a hub's branch forward,
  /// and versions made without the device's key.
  private static let noDevices: Set<Substring> = ["merge", "hub", "unsigned"]

  /// Whether `notes` wrote the address, on any device.
  package static func isOurs(_ address: String) -> Bool {
    address.utf8.suffix(domain.utf8.count + 1).elementsEqual("@\(domain)".utf8)
  }

  /// The device ID in an address of the form `DEVICE-ID@notes.invalid`, in upper case; nil for any
  /// other address.
  package static func deviceID(in address: String) -> String? {
    guard isOurs(address) else { return nil }
    let local = address.dropLast(domain.count + 1)
    return local.isEmpty || noDevices.contains(local) ? nil : local.uppercased()
  }
}
