internal import Synchronization
internal import System

/// The SHA-256 of an encoding: what a certificate or list is known by. Two alike cannot be made, so it
/// serves as key even if the author of the certificates wants keys that collide.
struct Fingerprint: Hashable, Sendable {
  let bytes: [UInt8]

  init(of der: [UInt8]) throws { bytes = try OpenSSL.sha256(der) }

  func hash(into hasher: inout Hasher) { hasher.combine(atOnce: bytes[...]) }
}

/// The results of the signatures that were looked at: one that is sent again is not verified again. An
/// encoding names the key that is said to have signed it, so there is one answer for each.
final class SignatureMemory: Sendable {
  /// Twice as many as a set has. If a peer sends more, some are verified again.
  static let maximum = 2 * CertificateSet.maximumCertificates

  private let state = Mutex((verdicts: [Fingerprint: Bool](), computed: 0))

  /// How many signatures have been verified.
  var computed: Int { state.withLock { $0.computed } }

  func isGood(_ fingerprint: Fingerprint, verify: () throws -> Bool) throws -> Bool {
    if let known = state.withLock({ $0.verdicts[fingerprint] }) { return known }
    let isGood = try verify()
    state.withLock { $0.computed += 1 }
    keep(isGood, of: fingerprint)
    return isGood
  }

  /// Keeps that a signature is good which this device has just made.
  func rememberGood(_ fingerprint: Fingerprint) { keep(true, of: fingerprint) }

  private func keep(_ verdict: Bool, of fingerprint: Fingerprint) {
    state.withLock { state in
      if state.verdicts.count >= Self.maximum { state.verdicts = [:] }
      state.verdicts[fingerprint] = verdict
    }
  }
}
