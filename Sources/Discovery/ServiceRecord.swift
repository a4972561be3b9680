/// The values of the SRV and TXT records by which a device announces a service.
///
/// Names of people, devices and notebooks are not among them (notes-protocol(7), Discovery).
public struct ServiceRecord: Hashable, Sendable {
  /// The version of the protocol that this program supports.
  public static let currentProtocolVersion = 1

  /// The kind of the service.
  public let kind: ServiceKind
  /// The notebook of the service.
  public let notebookID: String
  /// The device that announces it.
  public let deviceID: String
  /// The first part of the invitation's code; nil for a notebook.
  public let locator: String?
  /// The port at which the device listens.
  public let port: UInt16
  /// The version of the protocol that the device supports.
  public let protocolVersion: Int

  /// A notebook that accepts connections of its members on `port`.
  public static func notebook(id: String, device: String, port: UInt16) -> ServiceRecord {
    ServiceRecord(
      kind: .notebook, notebookID: id, deviceID: device, locator: nil, port: port,
      protocolVersion: currentProtocolVersion)
  }

  /// An invitation to `notebook` that is open on `port`.
  public static func invitation(
    locator: String, notebook: String, device: String, port: UInt16
  ) -> ServiceRecord {
    ServiceRecord(
      kind: .invitation, notebookID: notebook, deviceID: device, locator: locator, port: port,
      protocolVersion: currentProtocolVersion)
  }

  /// The requested instance name, made from the IDs, so that it contains no person's name. If
  /// another service on the network has the same name, Avahi assigns another.
  var instanceName: String {
    let names = [String(notebookID.prefix(12)), String(deviceID.prefix(12))]
    return (names + (locator.map { [$0] } ?? [])).joined(separator: "-")
  }
}

/// The TXT record: `v`, `nb`, `dev` and, for an invitation, `loc` (notes-protocol(7), Discovery). By RFC 6763,
/// section 6.4, the case of keys does not matter and the first of equal keys counts. A string without "=" is a
/// key without value. Unknown keys are ignored.
extension ServiceRecord {
  /// The longest accepted ID; those of notes have 52 characters of base32.
  static let maximumIDLength = 64
  /// The longest accepted locator; those of notes have 2 characters.
  static let maximumLocatorLength = 8
  /// The most strings of a TXT record that are read.
  static let maximumStrings = 16

  var strings: [[UInt8]] {
    var pairs = [("v", String(protocolVersion)), ("nb", notebookID), ("dev", deviceID)]
    if let locator { pairs.append(("loc", locator)) }
    return pairs.map { Array("\($0)=\($1)".utf8) }
  }

  /// Reads a TXT record received from the network; nil if it is not one of notes.
  init?(kind: ServiceKind, port: UInt16, strings: [[UInt8]]) {
    guard port != 0 else { return nil }
    var values: [String: String] = [:]
    for string in strings.prefix(Self.maximumStrings) {
      let key = string.prefix { $0 != UInt8(ascii: "=") }
      guard let name = Self.plainText(key)?.lowercased(), !name.isEmpty else { continue }
      // The first of several equal keys counts, even if its value is unusable.
      if values[name] == nil {
        values[name] = Self.plainText(string.dropFirst(key.count + 1)) ?? ""
      }
    }
    guard
      let version = values["v"].flatMap(Self.version),
      let notebook = values["nb"], Self.isIdentifier(notebook, upTo: Self.maximumIDLength),
      let device = values["dev"], Self.isIdentifier(device, upTo: Self.maximumIDLength)
    else { return nil }
    let locator = kind == .invitation ? values["loc"] ?? "" : nil
    if let locator, !Self.isIdentifier(locator, upTo: Self.maximumLocatorLength) { return nil }
    self.init(
      kind: kind, notebookID: notebook, deviceID: device, locator: locator, port: port,
      protocolVersion: version)
  }

  /// Throws `DiscoveryError.invalidRecord` for values that every reader would reject.
  package func validate() throws {
    guard let read = ServiceRecord(kind: kind, port: port, strings: strings), read == self else {
      throw DiscoveryError.invalidRecord("\(strings.map { String(decoding: $0, as: UTF8.self) })")
    }
  }

  private static func version(_ text: String) -> Int? {
    guard text.utf8.count <= 4, let number = Int(text), number > 0 else { return nil }
    return text == String(number) ? number : nil
  }

  /// Whether a text has only letters and digits, so that it can be shown and compared bytewise.
  private static func isIdentifier(_ text: String, upTo length: Int) -> Bool {
    !text.isEmpty && text.utf8.count <= length
      && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
  }

  private static func plainText(_ bytes: ArraySlice<UInt8>) -> String? {
    guard bytes.allSatisfy({ (0x20...0x7e).contains($0) }) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}
