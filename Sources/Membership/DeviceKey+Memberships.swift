// The lists of members after a copy of the device key: notes-device(1), export.
extension DeviceKey {
  /// The most bytes of lists that are written and read.
  public static let largestMemberships = 4 << 20

  /// A text followed by this key's signature.
  public func signedMemberships(_ text: [UInt8]) throws -> [UInt8] {
    text + (try VersionSignature(over: text, by: self, for: .memberships)).armored
  }

  /// The text after a copy of the key; empty if there is none. Nil if this key has not signed the text.
  public func verifiedMemberships(in file: [UInt8]) throws -> [UInt8]? {
    let (keyEnd, armor) = (
      Array("-----END ENCRYPTED PRIVATE KEY-----\n".utf8), Array(VersionSignature.first.utf8)
    )
    guard let start = file.firstRange(of: keyEnd)?.upperBound, start < file.endIndex
    else { return [] }
    guard
      let end = file[start...].firstRange(of: armor)?.lowerBound,
      let signature = VersionSignature(armored: Array(file[end...]), for: .memberships),
      signature.publicKey == publicKey
    else { return nil }
    let text = Array(file[start..<end])
    return try signature.isGood(over: text) ? text : nil
  }
}
