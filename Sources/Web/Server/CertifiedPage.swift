internal import Channel
internal import Membership
internal import Synchronization

/// What the page on the network shows, anew each day: a certificate of this machine's authority.
final class CertifiedPage: Sendable {
  private let pageAuthority: PageAuthority
  private let addresses: [String]
  private let latest: Mutex<(context: BrowserTLSContext, fingerprint: String)>
  /// The SHA-256 of the certificate that people install.
  let authorityFingerprint: String

  init(_ authority: PageAuthority, addresses: [String]) throws {
    (pageAuthority, self.addresses) = (authority, addresses)
    authorityFingerprint = try authority.fingerprint()
    latest = Mutex(try Self.make(authority, addresses))
  }

  /// The certificate that people install, DER.
  var authority: [UInt8] { pageAuthority.root }
  var context: BrowserTLSContext { latest.withLock { $0.context } }
  /// The SHA-256 of the page's own certificate.
  var fingerprint: String { latest.withLock { $0.fingerprint } }

  /// Takes a new certificate; where that fails the former one is good for weeks.
  func renew() {
    guard let made = try? Self.make(pageAuthority, addresses) else { return }
    latest.withLock { $0 = made }
  }

  private static func make(
    _ authority: PageAuthority, _ addresses: [String]
  ) throws -> (BrowserTLSContext, String) {
    let certificate = try authority.certify(addresses: addresses)
    let context = try BrowserTLSContext(
      chain: certificate.chain, privateKey: certificate.privateKey)
    return (context, try certificate.fingerprint())
  }
}
