/// The parents and times of commits, read once each: questions about ancestry read no commit twice.
///
/// Nothing in it can grow old, as no object ever changes. An instance belongs to its repository's
/// thread.
final class CommitGraph {
  /// A commit's position in `nodes`.
  typealias Number = Int32

  struct Node {
    let id: ObjectID
    /// The committer's time in seconds since 1970; meaningless before the commit was read.
    var time: Int64 = 0
    /// The parents' places in `parents`; nil before the commit was read.
    var parents: Range<Int32>?
  }

  private var numbers: [ObjectID: Number] = [:]
  private(set) var nodes: [Node] = []
  private var parents: [Number] = []
  private let read: (ObjectID) throws -> [UInt8]

  /// - Parameter read: the content of the commit object with an ID.
  init(read: @escaping (ObjectID) throws -> [UInt8]) { self.read = read }

  /// The number of a commit, which need not be there.
  func number(of id: ObjectID) -> Number {
    if let known = numbers[id] { return known }
    let number = Number(nodes.count)
    nodes.append(Node(id: id))
    numbers[id] = number
    return number
  }

  /// A commit's time.
  func time(of number: Number) throws -> Int64 {
    try load(number)
    return nodes[Int(number)].time
  }

  /// A commit's parents.
  func parents(of number: Number) throws -> ArraySlice<Number> {
    let range = try load(number)
    return parents[Int(range.lowerBound)..<Int(range.upperBound)]
  }

  @discardableResult
  private func load(_ number: Number) throws -> Range<Int32> {
    let node = nodes[Int(number)]
    if let range = node.parents { return range }
    let headers = try CommitHeaders(parsing: read(node.id), id: node.id)
    guard let committer = Signature(parsing: headers.committer) else {
      throw GitError.malformed(node.id, "a commit needs a committer")
    }
    let start = Int32(parents.count)
    for parent in headers.parents { parents.append(self.number(of: parent)) }
    let range = start..<Int32(parents.count)
    nodes[Int(number)].time = committer.time
    nodes[Int(number)].parents = range
    return range
  }
}

extension CommitGraph {
  /// Commits, each after those of its parents that are among them. Their order does not change
  /// otherwise.
  ///
  /// - Parameter parents: a commit's parents; nil for one that is not among them.
  static func parentsFirst(
    _ commits: [ObjectID], parents: (ObjectID) -> [ObjectID]?
  ) -> [ObjectID] {
    var sorted: [ObjectID] = []
    sorted.reserveCapacity(commits.count)
    var entered: Set<ObjectID> = []
    // A history is deep: no recursion. The flag says that the parents have been dealt with.
    var stack: [(id: ObjectID, isDone: Bool)] = []
    for commit in commits {
      stack.append((commit, false))
      while let (id, isDone) = stack.popLast() {
        if isDone {
          sorted.append(id)
        } else if let parents = parents(id), entered.insert(id).inserted {
          stack.append((id, true))
          stack += parents.map { ($0, false) }
        }
      }
    }
    return sorted
  }
}
