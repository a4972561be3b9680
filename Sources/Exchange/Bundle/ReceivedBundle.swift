internal import Git
internal import Membership
internal import Notebook

/// A bundle that was read to its end, apart from the repository.
package struct ReceivedBundle {
  let quarantine: Quarantine
  let tip: ObjectID
  package let members: MemberList
  /// The invitation that it carries, if it does.
  let invitation: FileInvitation?
  /// The branch that it names.
  let branch: String?
  /// How many bytes its pack has.
  let bytes: Int

  /// Reads it. `progress` is told how many objects there are, and how many bytes have come.
  ///
  /// - Throws: `BundleError`, `PackError`.
  init(
    _ reader: BundleReader, for repository: Repository, limits: PackLimits,
    progress: (Int, Int) -> Void = { _, _ in }
  ) throws {
    do {
      try self.init(reading: reader, for: repository, limits: limits, progress: progress)
    } catch PackError.malformed, PackError.baseMissing {
      throw BundleError.damaged
    }
  }

  private init(
    reading reader: BundleReader, for repository: Repository, limits: PackLimits,
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
    quarantine = try repository.quarantine(limits: limits)
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

  /// Takes in what it says of the members.
  ///
  /// - Throws: `BundleError` for a bundle of another notebook, or of a membership that was started over.
  func takeMembers(for context: SessionContext) throws {
    let membership = context.membership
    // One that was made before a membership was begun anew is of the notebook, too.
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
