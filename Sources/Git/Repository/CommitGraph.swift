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
    let header = try CommitHeader(parsing: read(node.id), id: node.id)
    let start = Int32(parents.count)
    for parent in header.parents { parents.append(self.number(of: parent)) }
    let range = start..<Int32(parents.count)
    nodes[Int(number)].time = header.time
    nodes[Int(number)].parents = range
    return range
  }
}

/// What of a commit says where it stands in history.
private struct CommitHeader {
  var parents: [ObjectID] = []
  var time: Int64 = 0

  /// Reads a commit object's first lines: `tree`, `parent`…, `author`, `committer`.
  init(parsing data: [UInt8], id: ObjectID) throws {
    var position = 0
    while position < data.count {
      let end = data[position...].firstIndex(of: UInt8(ascii: "\n")) ?? data.count
      let line = data[position..<end]
      position = end + 1
      if line.starts(with: "parent ".utf8) {
        guard let parent = ObjectID(hex: line.dropFirst(7)) else {
          throw GitError.malformed(id, "parent line")
        }
        parents.append(parent)
      } else if line.starts(with: "committer ".utf8) {
        guard let signature = Signature(parsing: line.dropFirst(10)) else { break }
        time = signature.time
        return
      } else if line.isEmpty {
        break
      }
    }
    throw GitError.malformed(id, "a commit needs a committer")
  }
}
