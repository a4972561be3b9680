/// The addresses that authors of versions have: notes-security(7), SIGNATURES.
package enum DeviceAddress {
  /// The domain of the addresses that `notes` writes into versions. It is reserved never to exist
  /// (RFC 2606), so that no version names somebody's mailbox.
  package static let domain = "notes.invalid"
  /// The names before the domain that are no device's: derived merges, commits that lead a hub's branch
  /// forward, and versions made while the device's key was not there.
  private static let noDevices: Set<Substring> = ["merge", "hub", "unsigned"]

  /// Whether `notes` wrote it, on any device.
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
