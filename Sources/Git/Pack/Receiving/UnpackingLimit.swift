/// Decides whether a pack may unpack to more bytes because of a version in it: notes-protocol(7), LIMITS.
public struct UnpackingGrant {
  /// A commit that arrived, and its content.
  public typealias Arrived = (id: ObjectID, content: [UInt8])

  /// Whether a commit may be a version that raises the limit, judged by its content only.
  let isCandidate: (_ content: [UInt8]) -> Bool
  /// Whether one of the candidates raises the limit. Called once, if the pack exceeds the ordinary limit.
  let isGiven: (_ candidates: [Arrived]) throws -> Bool

  package static let mostCandidates = 16
  static let candidateBytes = 128 << 10

  /// A grant that these functions decide.
  public init(
    isCandidate: @escaping (_ content: [UInt8]) -> Bool,
    isGiven: @escaping (_ candidates: [Arrived]) throws -> Bool
  ) {
    (self.isCandidate, self.isGiven) = (isCandidate, isGiven)
  }
}

/// The most bytes that a pack may unpack to.
final class UnpackingLimit {
  private var limits: PackLimits
  /// Nil if nothing can raise the limit, or if the grant was already asked.
  private var grant: UnpackingGrant?
  private var candidates: [UnpackingGrant.Arrived] = []
  /// The size of the receiver's own objects, in bytes.
  private let ownBytes: () throws -> Int

  init(
    _ limits: PackLimits, _ grant: UnpackingGrant? = nil,
    ownBytes: @escaping () throws -> Int = { 0 }
  ) {
    (self.limits, self.grant, self.ownBytes) = (limits, grant, ownBytes)
  }

  /// Keeps a commit that may raise the limit.
  func arrived(_ commit: ObjectID, _ content: [UInt8]) {
    guard let grant, candidates.count < UnpackingGrant.mostCandidates,
      content.count <= UnpackingGrant.candidateBytes, grant.isCandidate(content)
    else { return }
    candidates.append((commit, content))
  }

  func check(_ unpacked: Int, ofPack bytes: Int) throws {
    if limits.allows(unpacked: unpacked, ofPack: bytes) { return }
    if let grant {
      self.grant = nil
      if !candidates.isEmpty {
        let own = try ownBytes().multipliedReportingOverflow(by: limits.unpackedBytesPerOwn)
        let raised = max(
          limits.unpackedBytesOfForgetting, own.overflow ? .max : own.partialValue)
        if raised > limits.unpackedBytesOfAny, try grant.isGiven(candidates) {
          limits.unpackedBytesOfAny = raised
        }
      }
      candidates = []
    }
    try limits.check(unpacked: unpacked, ofPack: bytes)
  }
}
