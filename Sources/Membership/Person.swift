internal import System

/// A person, in whose name devices act: notes-security(7), "Persons".
public struct Person: Hashable, Sendable {
  /// The hash in the device ID of the person's first device.
  let identifier: [UInt8]
  /// The person's name, by the rule of `DisplayName`; not unique.
  public let name: String

  /// The device ID of the person's first device. That device may be removed, or be another person's today.
  public var id: String { String(base32: identifier) }

  init(identifier: [UInt8], name: String) { (self.identifier, self.name) = (identifier, name) }

  private static let (octetString, utf8String): (UInt8, UInt8) = (0x04, 0x0C)

  /// Reads the value of a certificate's extension: a sequence of the hash and the name.
  init(der: [UInt8]) throws(CertificateDefect) {
    guard let sequence = DER.read(0x30, der[...]),
      let identifier = DER.read(Self.octetString, sequence.content),
      let name = DER.read(Self.utf8String, identifier.rest),
      let text = String(validating: name.content, as: UTF8.self)
    else { throw .extensions }
    self.init(identifier: Array(identifier.content), name: text)
    if self.identifier.count != 32 || self.der != der { throw .extensions }
    try Certificate.checkName(text)
  }

  /// The value of a certificate's extension.
  var der: [UInt8] {
    DER.sequence(
      DER.value(Self.octetString, identifier) + DER.value(Self.utf8String, Array(name.utf8)))
  }
}

/// The persons of the devices, and how people call them: a pure function of the set.
struct People: Sendable {
  private var persons: [[UInt8]: Person] = [:]
  /// The devices whose certificates name the person.
  private var named: Set<[UInt8]> = []
  private var deviceCounts: [[UInt8]: Int] = [:]
  /// The IDs of the persons with each name, in lower case.
  private var namesakes: [String: Set<[UInt8]>] = [:]

  /// Begins without persons.
  init() {}

  /// - Parameter devices: every device's key and own name, and the certificate that names its person, if one does.
  init(
    _ devices: [(key: [UInt8], name: String, isMember: Bool, naming: Certificate?)]
  ) {
    let grouped = Dictionary(grouping: devices) { $0.naming?.person?.identifier ?? $0.key }
    for (identifier, devices) in grouped {
      deviceCounts[identifier] = devices.count
      let naming = devices.compactMap { one in one.naming.map { ($0, isMember: one.isMember) } }
      let latest = naming.max { left, right in
        if left.isMember != right.isMember { return right.isMember }
        if left.0.issuedAt != right.0.issuedAt { return left.0.issuedAt < right.0.issuedAt }
        return left.0.der.lexicographicallyPrecedes(right.0.der)
      }
      let first = devices.first { $0.key == identifier }
      let name = latest?.0.person?.name ?? first?.name ?? ""
      namesakes[name.lowercased(), default: []].insert(identifier)
      for device in devices {
        persons[device.key] = Person(identifier: identifier, name: name)
        if device.naming != nil { named.insert(device.key) }
      }
    }
  }

  /// The person of a device; nil for a key that was never certified.
  func person(ofKey key: [UInt8]) -> Person? { persons[key] }

  /// The person of a device, if a certificate names the person; else nil.
  func namedPerson(ofKey key: [UInt8]) -> Person? { named.contains(key) ? persons[key] : nil }

  /// The person with this ID; nil if no device is that person's.
  func person(_ id: String) -> Person? { persons.values.first { $0.id == id } }

  /// The keys of a person's devices, also of removed ones.
  func keys(of person: Person) -> [[UInt8]] {
    persons.filter { $0.value.identifier == person.identifier }.map(\.key)
  }

  /// The name by which people call a device: the person's, and if the person has or had several, also the device's.
  /// It is never another person's name, because members choose the names of their devices.
  func name(ofKey key: [UInt8], called deviceName: String) -> String {
    guard let person = persons[key] else { return deviceName }
    if deviceCounts[person.identifier, default: 1] == 1 { return person.name }
    let names = [person.name(withDevice: deviceName), person.fullName(withDevice: deviceName)]
    func isAnothers(_ name: String) -> Bool {
      namesakes[name.lowercased()].map { $0 != [person.identifier] } ?? false
    }
    return names.first { !isAnothers($0) }
      ?? DisplayName.marked(names[1], with: " (\(String(base32: key).prefix(8)))")
  }
}

extension Person {
  /// `PERSON (DEVICE)`, cut to the length of a name; the device's own name if it begins with the person's.
  public func name(withDevice device: String) -> String {
    let (prefix, folded) = (name.lowercased(), device.lowercased())
    if folded.hasPrefix(prefix), folded.dropFirst(prefix.count).first.map({ !$0.isLetter }) ?? true
    {
      return device
    }
    return fullName(withDevice: device)
  }

  /// `PERSON (DEVICE)`, cut to the length of a name.
  fileprivate func fullName(withDevice device: String) -> String {
    DisplayName.made(from: "\(name) (\(device))") ?? name
  }
}

extension CertificateSet {
  /// The persons of the devices.
  func settledPeople() -> People {
    People(
      byKey.compactMap { key, certificates in
        guard let current = current(ofKey: key) else { return nil }
        return (
          key, current.deviceName, memberChains[key] != nil, naming(current, among: certificates)
        )
      })
  }

  /// The certificate that names the person: this one or, if it names no person, the latest that does among the
  /// certificates that it replaced, directly or through others.
  private func naming(_ certificate: Certificate, among own: [Certificate]) -> Certificate? {
    if certificate.person != nil { return certificate }
    if certificate.replaced == nil { return nil }
    var bySerial = Dictionary(grouping: own, by: \.serial)
    var next: Certificate? = certificate
    while let one = next {
      if one.person != nil { return one }
      next = one.replaced.flatMap { bySerial.removeValue(forKey: $0) }.flatMap { inOrder($0).first }
    }
    return nil
  }
}

extension Certificate {
  /// The name of the device that it certifies.
  var deviceName: String {
    switch kind {
    case .member(let name, _):
      isHandover || keyIdentifier == issuerKeyIdentifier ? Succession.name(in: name) : name
    case .claim(let name), .stop(let name): name
    case .root, .name: "founder"
    }
  }
}
