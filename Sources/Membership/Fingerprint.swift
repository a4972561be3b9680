internal import Synchronization
internal import System

/// The SHA-256 of an encoding, which identifies a certificate or list. Two encodings with the same hash
/// cannot be made, so it works as a key even if an author of certificates wants collisions.
struct Fingerprint: Hashable, Sendable {
  let bytes: [UInt8]

  init(of der: [UInt8]) throws { bytes = try OpenSSL.sha256(der) }

  func hash(into hasher: inout Hasher) { hasher.combine(atOnce: bytes[...]) }
}

/// The results of verified signatures: an item that is sent again is not verified again. An encoding
/// names the key that claims to have signed it, so there is one result for each.
final class SignatureMemory: Sendable {
  /// The most results that are remembered: twice as many as a full set needs. If a peer sends more items, some are
  /// verified again.
  static let maximum = 2 * CertificateSet.maximumCertificates

  private let state = Mutex((verdicts: [Fingerprint: Bool](), computed: 0))

  /// How many signatures were verified.
  var computed: Int { state.withLock { $0.computed } }

  func isGood(_ fingerprint: Fingerprint, verify: () throws -> Bool) throws -> Bool {
    if let known = state.withLock({ $0.verdicts[fingerprint] }) { return known }
    let isGood = try verify()
    state.withLock { $0.computed += 1 }
    keep(isGood, of: fingerprint)
    return isGood
  }

  /// Records that a signature is valid: this device has just made it.
  func rememberGood(_ fingerprint: Fingerprint) { keep(true, of: fingerprint) }

  private func keep(_ verdict: Bool, of fingerprint: Fingerprint) {
    state.withLock { state in
      if state.verdicts.count >= Self.maximum { state.verdicts = [:] }
      state.verdicts[fingerprint] = verdict
    }
  }
}
