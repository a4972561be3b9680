/// Decides which revocation lists count, and what they revoke: a pure function of the set. notes-security(7),
/// "Which lists count", defines the rules and the terms.
struct CountingLists {
  private let founder: [UInt8]
  /// The authorities of all founders, with the length of each chain. For a former founder, `staying` is the certificate
  /// with which it stays an admin.
  private let starts: [(authority: Certificate.Authority, length: Int, staying: Int?)]
  private let certificates: [Certificate]
  /// Admins' certificates except handovers, by their signers.
  private let admins: [Certificate.Authority: [Int]]
  /// The certificates that a key's lists revoke.
  private var revokes: [[UInt8]: Set<Int>] = [:]
  /// The keys whose rings were settled, and the entries of their lists that count.
  private var settled: Set<[UInt8]> = []
  private var kept: Set<Int> = []

  /// - Parameter certificates: all except the root.
  init(
    _ succession: Succession, certificates: Set<Certificate>, lists: Set<RevocationList>
  ) {
    let founder = succession.key
    self.founder = founder
    let certificates = Array(certificates)
    self.certificates = certificates
    starts = ([succession.present] + succession.former).compactMap { one in
      let staying = one.staying.flatMap(certificates.firstIndex)
      if staying == nil, one.anchor.keyIdentifier != founder { return nil }
      return one.anchor.authority.map { ($0, one.chain.count, staying) }
    }
    let ordinary = certificates.indices.filter { !succession.handovers.contains(certificates[$0]) }
    admins = Dictionary(grouping: ordinary.filter { certificates[$0].isAuthority }) {
      certificates[$0].signer
    }
    // The founder's certificates are never revoked, nor are handovers.
    let indices = ordinary.filter { certificates[$0].keyIdentifier != founder }
    let bySerial = Dictionary(grouping: indices) { certificates[$0].serial }
    let successors = Dictionary(grouping: indices) { certificates[$0].replaced }
    let asked = Dictionary(grouping: indices.filter { certificates[$0].asker != nil }) {
      certificates[$0].asker
    }
    for (key, lists) in Dictionary(grouping: lists, by: \.issuerKeyIdentifier) {
      var reasons: [[UInt8]: RevocationList.Reason] = [:]
      var pending = lists.flatMap(\.entries)
      while let (serial, reason) = pending.popLast() {
        if let known = reasons[serial], known >= reason { continue }
        reasons[serial] = reason
        if reason == .superseded { continue }
        for index in successors[serial] ?? []
        where reason == .removed || certificates[index].isAuthority {
          pending.append((certificates[index].serial, reason))
        }
      }
      var revoked = Set(reasons.keys.flatMap { bySerial[$0] ?? [] })
      // A device loses its membership together with the device that asked for it, unless an admin has replaced
      // its certificate.
      var askers = reasons.filter { $0.value > .superseded }.map(\.key)
      while let asker = askers.popLast() {
        for index in asked[asker] ?? [] where revoked.insert(index).inserted {
          askers.append(certificates[index].serial)
        }
      }
      revokes[key] = revoked
    }
  }

  /// All revoked certificates.
  func revoked() -> Set<Certificate> {
    var lists = self
    var surely: Set<[UInt8]> = [founder]
    while true {
      var possibly = lists.listingAdmins(where: surely)
      while case let more = lists.listingAdmins(where: possibly), more != surely {
        surely = more
        possibly = lists.listingAdmins(where: surely)
      }
      let contested = possibly.subtracting(surely).subtracting(lists.settled)
      if contested.isEmpty { break }
      lists.settle(contested, besides: surely)
    }
    return Set(lists.revoked(by: surely).map { certificates[$0] })
  }

  private func revoked(by keys: Set<[UInt8]>) -> Set<Int> {
    keys.subtracting(settled).reduce(into: kept) { $0.formUnion(revokes[$1] ?? []) }
  }

  private func listingAdmins(where counting: Set<[UInt8]>) -> Set<[UInt8]> {
    listingAdmins(without: revoked(by: counting))
  }

  /// The keys that have lists, and an admin's certificate with a valid chain; always the founder's key.
  private func listingAdmins(without revoked: Set<Int>) -> Set<[UInt8]> {
    var found: Set<[UInt8]> = [founder]
    var level: [Certificate.Authority] = []
    var seen: Set<Certificate.Authority> = []
    for length in 1..<CertificateSet.maximumChainLength {
      for start in starts where start.length == length {
        if start.staying.map(revoked.contains) ?? false { continue }
        if seen.insert(start.authority).inserted { level.append(start.authority) }
      }
      found.formUnion(level.map(\.keyIdentifier))
      level = level.flatMap { admins[$0] ?? [] }.filter { !revoked.contains($0) }
        .compactMap { certificates[$0].authority }.filter { seen.insert($0).inserted }
    }
    found.formUnion(level.map(\.keyIdentifier))
    return found.filter { revokes[$0] != nil || $0 == founder }
  }

  /// Settles the rings of contested keys that no key outside of the ring revokes.
  private mutating func settle(_ contested: Set<[UInt8]>, besides surely: Set<[UInt8]>) {
    let before = revoked(by: surely)
    let ends = Dictionary(
      uniqueKeysWithValues: contested.map { key in
        let after = listingAdmins(without: before.union(revokes[key] ?? []))
        return (key, contested.subtracting(after))
      })
    let ring = Self.rings(ends)
    for key in ring {
      let enders = contested.filter { ends[$0]?.contains(key) == true }
      kept.formUnion(
        revoked(by: key) { index in
          ring.contains(certificates[index].keyIdentifier)
            || (!enders.isEmpty && enders.allSatisfy { revokes[$0]?.contains(index) == true })
        })
    }
    let standing = ring.intersection(listingAdmins(without: before.union(kept)))
    let above = issuers(above: standing, without: before)
    for key in ring {
      kept.formUnion(revoked(by: key) { above.contains(certificates[$0].keyIdentifier) })
    }
    settled.formUnion(ring)
  }

  private func revoked(by key: [UInt8], where isKept: (Int) -> Bool) -> Set<Int> {
    revokes[key]?.filter(isKept) ?? []
  }

  /// The keys of the issuers between these keys and the root.
  private func issuers(above keys: Set<[UInt8]>, without revoked: Set<Int>) -> Set<[UInt8]> {
    var all = keys
    while case let more = admins.filter({ issuer, issued in
      issued.contains { !revoked.contains($0) && all.contains(certificates[$0].keyIdentifier) }
    }).map(\.key.keyIdentifier), !all.isSuperset(of: more) {
      all.formUnion(more)
    }
    return all
  }

  /// The keys of the rings that no key outside of the ring ends; all keys if there are no such rings.
  private static func rings(_ ends: [[UInt8]: Set<[UInt8]>]) -> Set<[UInt8]> {
    let reached = ends.mapValues { first in
      var all = first
      var pending = Array(first)
      while let key = pending.popLast() {
        pending += (ends[key] ?? []).filter { all.insert($0).inserted }
      }
      return all
    }
    let rings = reached.filter { key, own in
      own.contains(key) && reached.allSatisfy { !$0.value.contains(key) || own.contains($0.key) }
    }
    return Set((rings.isEmpty ? reached : rings).keys)
  }
}
