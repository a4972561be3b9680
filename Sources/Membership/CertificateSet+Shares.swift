// The part of a set that is too large which is kept: notes-security(7), "Shares".
extension CertificateSet {
  /// Lists of one admin: an honest one has one, or two after it was restored from a backup.
  static let maximumListsPerAdmin = 4
  static let maximumListBytes = 16 << 20

  var isTooLarge: Bool {
    certificates.count > memberCapacity || !hasRoom(for: Array(revocationLists))
      || Dictionary(grouping: revocationLists, by: \.issuerKeyIdentifier).values.contains {
        $0.count > Self.maximumListsPerAdmin
      }
  }

  /// How many certificates there is room for beside the names.
  private var memberCapacity: Int { capacity - min(names.count, Self.maximumNames) }

  private func hasRoom(for lists: [RevocationList]) -> Bool {
    lists.count <= Self.maximumRevocationLists
      && lists.reduce(0) { $0 + $1.der.count } <= Self.maximumListBytes
  }

  /// The certificates and the lists that stay, where these certificates have good chains.
  func withinLimits(good: Set<Certificate>) -> (Set<Certificate>, Set<RevocationList>) {
    let shares = shares()
    let inOrder = shares.filter(good.contains) + shares.filter { !good.contains($0) }
    let lists = Dictionary(grouping: revocationLists, by: \.issuerKeyIdentifier).mapValues {
      $0.sorted {
        $0.number == $1.number
          ? $1.der.lexicographicallyPrecedes($0.der) : $0.number > $1.number
      }.prefix(Self.maximumListsPerAdmin)
    }
    var seen: Set<[UInt8]> = []
    let keys = ([root] + inOrder.filter(\.isAuthority)).map(\.keyIdentifier).filter {
      seen.insert($0).inserted
    }
    var keptLists: [RevocationList] = []
    for list in Self.inTurns(keys.map { Array(lists[$0] ?? []) })
    where hasRoom(for: keptLists + [list]) { keptLists.append(list) }
    return (connected(Set(inOrder.prefix(memberCapacity))), Set(keptLists))
  }

  /// The certificates by whose turn it is: of each admin in turns one that it issued itself, and one
  /// of the share of each admin below it.
  private func shares() -> [Certificate] {
    var shares = Dictionary(grouping: certificates, by: \.issuerKeyIdentifier).mapValues {
      $0.sorted {
        $0.issuedAt == $1.issuedAt
          ? $0.der.lexicographicallyPrecedes($1.der) : $0.issuedAt < $1.issuedAt
      }
    }
    // An admin's place is below the first that made it one, from the root down.
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

  /// The first of each, then the second of each, and so on.
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

  /// Without those whose chain has been given up.
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
