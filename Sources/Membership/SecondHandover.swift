public import State
internal import Synchronization

/// Two handovers of a notebook by one key: it is on two machines, or has a thief. Devices disagree about the founder,
/// each by the handover that it received first: notes-security(7), "Handover".
public struct SecondHandover: Hashable, Sendable {
  /// The device whose key handed over twice. It was the founder, as far as this device knows.
  public let former: Member
  /// The device ID of the heir whose handover counts here.
  public let heir: String
  /// The device ID of the other heir, which is the founder on devices that received that handover first.
  public let otherHeir: String
}

extension MembershipStore {
  /// The former founders whose second handover has reached this device, the first founder first.
  ///
  /// - Throws: if the record cannot be read.
  public func secondHandovers() throws -> [SecondHandover] {
    let ids = try DeviceList.twice.inOrder(in: folder)
    let heirs = Dictionary(
      stride(from: 0, to: ids.count - 1, by: 2).map { (ids[$0], ids[$0 + 1]) }
    ) { first, _ in first }
    return state.withLock { $0.set }.formerFounders().compactMap { former, heir in
      heirs[former.deviceID].map { SecondHandover(former: former, heir: heir, otherHeir: $0) }
    }
  }

  /// Whether a second handover has reached the notebook with this state folder, without reading the list of members.
  public static func hasSecondHandovers(at stateFolder: StateFolder) throws -> Bool {
    try !DeviceList.twice.inOrder(in: folder(ofNotebookAt: stateFolder)).isEmpty
  }

  /// Records second handovers, one of each key. Called with `changing` held.
  func record(_ found: [[UInt8]: Certificate]) throws {
    if found.isEmpty { return }
    var ids = try DeviceList.twice.inOrder(in: folder)
    // Any present or former admin can sign certificates of this form: only those of founders count.
    let founders = Set(state.withLock { $0.set }.formerFounders().map(\.former.deviceID))
    let known = Set(stride(from: 0, to: ids.count, by: 2).map { ids[$0] })
    let new = found.values.filter {
      founders.contains($0.issuerID) && !known.contains($0.issuerID)
    }
    if new.isEmpty { return }
    ids += new.sorted { $0.issuerID < $1.issuerID }.flatMap { [$0.issuerID, $0.deviceID] }
    try DeviceList.twice.write(inOrder: ids, in: folder)
  }
}

extension CertificateSet {
  /// The founders before the present one, the first one first, each with the device ID of its heir.
  fileprivate func formerFounders() -> [(former: Member, heir: String)] {
    let anchors = succession.former.map(\.anchor) + [succession.present.anchor]
    return zip(anchors, anchors.dropFirst()).compactMap { former, heir in
      member(ofKey: former.keyIdentifier).map { ($0, heir.deviceID) }
    }
  }
}
