/// The most bytes that a pack may unpack to. A receiver with a large history accepts more: reading its own
/// history costs it as much, and a forgetting rewrites all of it (notes-protocol(7), LIMITS).
final class UnpackingLimit {
  private let limits: PackLimits
  private let repository: Repository?
  /// The limits with what the receiver's own objects add; nil until the pack needs it.
  private var raised: PackLimits?

  /// - Parameter repository: the receiver's; nil for none.
  init(_ limits: PackLimits, for repository: Repository?) {
    (self.limits, self.repository) = (limits, repository)
  }

  func check(_ unpacked: Int, ofPack bytes: Int) throws {
    guard !(raised ?? limits).allows(unpacked: unpacked, ofPack: bytes) else { return }
    if raised == nil, let repository {
      var limits = limits
      let own = try repository.packs().contentBytes
      let more = own.multipliedReportingOverflow(by: limits.unpackedBytesPerOwn)
      limits.unpackedBytesOfAny = max(
        limits.unpackedBytesOfAny,
        min(more.overflow ? .max : more.partialValue, limits.unpackedBytesOfOwn))
      raised = limits
    }
    try (raised ?? limits).check(unpacked: unpacked, ofPack: bytes)
  }
}
