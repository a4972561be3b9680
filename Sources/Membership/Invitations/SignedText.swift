internal import State

/// Lines of text followed by a signature over all of them: notes-security(7), "Invitations by a
/// link".
struct SignedText: Sendable {
  let lines: StateLines
  /// The key that signed, 32 bytes.
  let signer: [UInt8]
  /// The lines and the signature.
  let bytes: [UInt8]

  /// The size limit of a text, in bytes.
  static let maximumSize = 8192

  /// Signs these lines.
  init(_ lines: StateLines, for purpose: VersionSignature.Purpose, by key: DeviceKey) throws {
    self.lines = lines
    signer = key.publicKey
    bytes = lines.bytes + (try VersionSignature(over: lines.bytes, by: key, for: purpose)).armored
  }

  /// Nil for a text in another form, or with an invalid signature.
  init?(parsing text: [UInt8], for purpose: VersionSignature.Purpose) throws {
    let armor = Array(VersionSignature.first.utf8)
    guard text.count <= Self.maximumSize,
      let start = text.indices.first(where: { text[$0...].starts(with: armor) }),
      start > 0, text[start - 1] == UInt8(ascii: "\n"),
      String(validating: text, as: UTF8.self) != nil,
      let signature = VersionSignature(armored: Array(text[start...]), for: purpose)
    else { return nil }
    let content = Array(text[..<start])
    guard try signature.isGood(over: content) else { return nil }
    lines = StateLines(parsing: content)
    signer = signature.publicKey
    bytes = text
  }
}
