@testable import Membership

/// What is read is DER, so its encoding is the very bytes; and a set takes in nothing that its root
/// did not certify.
enum CertificateTarget {
  private static let family: (set: CertificateSet, key: DeviceKey)? = {
    guard let key = try? DeviceKey(privateKey: [UInt8](repeating: 7, count: 32)),
      let root = try? Certificate.root(notebookName: "Home", key: key, now: 1_800_000_000),
      let set = try? CertificateSet(root: root.der)
    else { return nil }
    return (set, key)
  }()

  static func run(_ bytes: [UInt8]) {
    if let certificate = try? Certificate(der: bytes) {
      precondition(certificate.der == bytes)
      if case .member(let name, _) = certificate.kind {
        precondition((try? DisplayName.check(name)) != nil)
      }
    }
    if let list = try? RevocationList(der: bytes) { precondition(list.der == bytes) }
    if let request = try? CertificateRequest(der: bytes) {
      precondition((try? DisplayName.check(request.name)) != nil)
    }
    _ = try? CertificateSet(root: bytes)
    if let family {
      var set = family.set
      let changed = try? set.insert(certificates: [bytes], revocationLists: [bytes])
      precondition(changed != true, "something that nobody signed was taken in")
    }
    if let identity = PairingIdentity(bytes: bytes) { precondition(identity.bytes == bytes) }
    _ = try? DeviceKey(exported: bytes, passphrase: "a passphrase")
  }
}
