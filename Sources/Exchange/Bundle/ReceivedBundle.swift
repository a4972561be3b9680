internal import Git
internal import Membership
internal import Notebook

/// A bundle that was read to its end, into a quarantine.
package struct ReceivedBundle {
  let quarantine: Quarantine
  let tip: ObjectID
  package let members: MemberList
  /// The bundle's invitation; nil if it has none.
  let invitation: FileInvitation?
  /// The bundle's branch.
  let branch: String?
  /// The size of the bundle's pack in bytes.
  let bytes: Int

  /// Reads the bundle. `progress` is called with the total number of objects and the number of
  /// received bytes.
  ///
  /// - Throws: `BundleError`, `PackError`.
  init(
    _ reader: BundleReader, for repository: Repository, limits: PackLimits,
    _ grant: UnpackingGrant? = nil, progress: (Int, Int) -> Void = { _, _ in }
  ) throws {
    do {
      try self.init(reading: reader, for: repository, limits: limits, grant, progress: progress)
    } catch PackError.malformed, PackError.baseMissing {
      throw BundleError.damaged
    }
  }

  private init(
    reading reader: BundleReader, for repository: Repository, limits: PackLimits,
    _ grant: UnpackingGrant?,
    progress: (Int, Int) -> Void
  ) throws {
    let header = try reader.header()
    branch = header.references.keys.sorted().first { $0.hasPrefix("refs/heads/") }
      .map { String($0.dropFirst("refs/heads/".count)) }
    guard let list = header.references[MemberList.reference] else {
      throw BundleError.withoutMembers
    }
    guard let tip = header.references[BundleHeader.tip] else { throw BundleError.damaged }
    let lacking = try header.prerequisites.filter { try !repository.contains($0) }
    if let first = lacking.first {
      throw BundleError.lacking(String(first.hex.prefix(10)), count: lacking.count)
    }
    quarantine = try repository.quarantine(limits: limits, grant)
    var bytes = 0
    while let piece = try reader.next() {
      try quarantine.append(piece)
      bytes += piece.count
      progress(quarantine.objectCount, bytes)
    }
    self.bytes = bytes
    guard let members = try MemberList(of: list, in: repository, arriving: quarantine) else {
      throw BundleError.damaged
    }
    self.members = members
    self.tip = tip
    invitation = try FileInvitation(in: header, of: repository, arriving: quarantine)
  }

  /// Merges the bundle's list of members.
  ///
  /// - Throws: `BundleError` for a bundle of another notebook, or of a membership that was started over.
  func takeMembers(for context: SessionContext) throws {
    let membership = context.membership
    // A bundle from before the membership was started over also belongs to the notebook.
    switch try members.relation(to: membership) {
    case .own:
      _ = try membership.merge(certificates: members.certificates, revocations: members.revocations)
    case .former: break
    case .startedOver(let name):
      try StartedOver(by: name, members).keep(in: context.notebook().stateFolder)
      throw BundleError.startedOver(by: name)
    case .foreign: throw BundleError.anotherNotebook
    }
  }
}
