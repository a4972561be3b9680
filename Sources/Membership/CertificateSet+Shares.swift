// The part that is kept of a set that is too large: notes-security(7), "Shares".
extension CertificateSet {
  /// The limit of lists for one admin: a correct device has one, or two after a restore from a
  /// backup.
  static let maximumListsPerAdmin = 4
  static let maximumListBytes = 16 << 20

  var isTooLarge: Bool {
    certificates.count > memberCapacity || !hasRoom(for: Array(revocationLists))
      || Dictionary(grouping: revocationLists, by: \.issuerKeyIdentifier).values.contains {
        $0.count > Self.maximumListsPerAdmin
      }
  }

  /// The number of certificates that fit besides the names.
  private var memberCapacity: Int {
    capacity - min(names.count, Self.maximumNames) - min(statements.count, Self.maximumStatements)
  }

  private func hasRoom(for lists: [RevocationList]) -> Bool {
    lists.count <= Self.maximumRevocationLists
      && lists.reduce(0) { $0 + $1.der.count } <= Self.maximumListBytes
  }

  /// The certificates and lists that are kept, if these certificates have valid chains.
  func withinLimits(good: Set<Certificate>) -> (Set<Certificate>, Set<RevocationList>) {
    let shares = shares()
    let first = succession.certificates
    let others = shares.filter { !first.contains($0) }
    let inOrder = first + others.filter(good.contains) + others.filter { !good.contains($0) }
    let lists = Dictionary(grouping: revocationLists, by: \.issuerKeyIdentifier).mapValues {
      $0.sorted {
        $0.number == $1.number
          ? $1.der.lexicographicallyPrecedes($0.der) : $0.number > $1.number
      }.prefix(Self.maximumListsPerAdmin)
    }
    var seen: Set<[UInt8]> = []
    let keys = ([succession.present.anchor, root] + inOrder.filter(\.isAuthority)).map(
      \.keyIdentifier
    ).filter {
      seen.insert($0).inserted
    }
    var keptLists: [RevocationList] = []
    for list in Self.inTurns(keys.map { Array(lists[$0] ?? []) })
    where hasRoom(for: keptLists + [list]) { keptLists.append(list) }
    return (connected(Set(inOrder.prefix(memberCapacity))), Set(keptLists))
  }

  /// The certificates in the order of their turns. Each admin has turns for the certificates that it issued,
  /// and for the shares of the admins below it.
  private func shares() -> [Certificate] {
    var shares = Dictionary(grouping: certificates, by: \.issuerKeyIdentifier).mapValues {
      $0.sorted {
        $0.issuedAt == $1.issuedAt
          ? $0.der.lexicographicallyPrecedes($1.der) : $0.issuedAt < $1.issuedAt
      }
    }
    // An admin is placed below the first one that made it an admin, from the root down.
    var below: [[UInt8]: [[UInt8]]] = [:]
    var keys = [root.keyIdentifier]
    var seen = Set(keys)
    var index = 0
    while index < keys.count {
      let found = (shares[keys[index]] ?? []).filter(\.isAuthority).map(\.keyIdentifier).filter {
        seen.insert($0).inserted
      }
      below[keys[index]] = found
      keys += found
      index += 1
    }
    for key in keys.reversed() {
      shares[key] = Self.inTurns(
        [shares[key] ?? []] + (below[key] ?? []).map { shares[$0] ?? [] })
    }
    return shares[root.keyIdentifier] ?? []
  }

  /// The first of each queue, then the second of each, and so on.
  private static func inTurns<Element>(_ queues: [[Element]]) -> [Element] {
    if queues.count == 1 { return queues[0] }
    var turns: [Element] = []
    var queues = queues.map { $0[...] }
    while !queues.isEmpty {
      queues = queues.filter { !$0.isEmpty }
      for index in queues.indices { turns.append(queues[index].removeFirst()) }
    }
    return turns
  }

  /// The certificates without those whose chain was dropped.
  private func connected(_ certificates: Set<Certificate>) -> Set<Certificate> {
    let bySigner = Dictionary(grouping: certificates, by: \.signer)
    var level = root.authority.map { [$0] } ?? []
    var seen = Set(level)
    var connected: Set<Certificate> = []
    while !level.isEmpty {
      let found = level.flatMap { bySigner[$0] ?? [] }
      connected.formUnion(found)
      level = found.compactMap(\.authority).filter { seen.insert($0).inserted }
    }
    return connected
  }
}
