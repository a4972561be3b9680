internal import Channel
internal import Membership
internal import Synchronization

/// The certificate of the page on the network, issued by this machine's authority. It stays the same while
/// the addresses do, for most of a year.
final class CertifiedPage: Sendable {
  private struct Latest {
    let addresses: [String]
    let context: BrowserTLSContext
    let fingerprint: String
  }

  private let pageAuthority: PageAuthority
  private let dataFolder: String
  private let latest: Mutex<Latest>
  /// The SHA-256 of the certificate that people install.
  let authorityFingerprint: String

  init(_ authority: PageAuthority, addresses: [String], dataFolder: String) throws {
    (pageAuthority, self.dataFolder) = (authority, dataFolder)
    authorityFingerprint = try authority.fingerprint()
    latest = Mutex(try Self.make(authority, addresses, dataFolder))
  }

  /// The certificate that people install, in DER.
  var authority: [UInt8] { pageAuthority.root }
  var context: BrowserTLSContext { latest.withLock { $0.context } }
  /// The SHA-256 of the page's own certificate.
  var fingerprint: String { latest.withLock { $0.fingerprint } }

  /// Makes a new certificate if it is due; if that fails, the former one is still valid for weeks.
  func renew() { certify(latest.withLock { $0.addresses }) }

  /// Makes a certificate for other addresses, all of them private.
  func certify(_ addresses: [String]) {
    // The present certificate stays, and the next change of addresses tries again.
    guard let made = try? Self.make(pageAuthority, addresses, dataFolder) else { return }
    latest.withLock { $0 = made }
  }

  private static func make(
    _ authority: PageAuthority, _ addresses: [String], _ dataFolder: String
  ) throws -> Latest {
    let certificate = try authority.certificate(for: addresses, keptIn: dataFolder)
    let context = try BrowserTLSContext(
      chain: certificate.chain, privateKey: certificate.privateKey)
    return Latest(
      addresses: addresses, context: context, fingerprint: try certificate.fingerprint())
  }
}

/// The facts about the page on the network for people.
public struct ServedNetwork: Sendable {
  /// The addresses of the page, that of the links first.
  public let origins: [String]
  /// The SHA-256 of the page's certificate.
  public let fingerprint: String
  /// The address of the certificate that people install.
  public let authority: String
  /// The SHA-256 of that certificate.
  public let authorityFingerprint: String
}
