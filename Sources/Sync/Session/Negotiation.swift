internal import Git

/// What a side asks for and what it says it has; notes-protocol(7), want.
enum Negotiation {
  /// The heads of a peer that are not here.
  static func wants(of heads: [ObjectID], in repository: Repository) throws -> [ObjectID] {
    try heads.filter { try !repository.contains($0) }
  }

  /// Commits that are here with all their history and that a peer may know.
  static func haves(
    heads: [ObjectID], peer device: String, in repository: Repository
  ) throws -> [ObjectID] {
    var found = heads
    let remotes = try repository.references(under: remotesPrefix)
    let own = remotes.filter { $0.name.hasPrefix(remotesPrefix + device + "/") }.map(\.id)
    found += own
    // Only somebody met for the first time may know none of the above.
    if own.isEmpty, let head = heads.first { found += try sample(from: head, in: repository) }
    found += remotes.map(\.id)
    var seen: Set<ObjectID> = []
    return Array(found.filter { seen.insert($0).inserted }.prefix(ProtocolLimits.haves))
  }

  /// Where what `device` last had is noted.
  static func remoteReference(of device: String, branch: String) -> String {
    remotesPrefix + device + "/" + branch
  }

  private static let remotesPrefix = "refs/remotes/"

  /// The 1st, 2nd, 4th, 8th, … first parent of a commit, and the oldest.
  private static func sample(
    from head: ObjectID, in repository: Repository
  ) throws -> [ObjectID] {
    var found: [ObjectID] = []
    var current = head
    var distance = 0
    var next = 1
    while let parent = try repository.commit(current).parents.first {
      current = parent
      distance += 1
      if distance == next {
        found.append(current)
        next *= 2
      }
    }
    found.append(current)
    return found
  }
}
