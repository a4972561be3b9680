internal import Glibc
internal import System

extension Repository {
  /// A pack of everything reachable from `wants` and not from `haves`, for a receiver that has
  /// all of `haves`. Both are commits that are here.
  public func pack(wants: [ObjectID], haves: [ObjectID]) throws -> PackWriter {
    let plan = try PackPlan(repository: self, wants: wants, haves: haves)
    return try PackWriter(repository: self, plan: plan, mayNameOutsiders: true)
  }
}

/// Writes a pack (gitformat-pack(5)) piece by piece, oldest objects first. A tree or blob is a
/// delta against the same path in the first parent where that is shorter; the pack is thin.
public final class PackWriter {
  /// How many objects the pack holds.
  public let objectCount: Int
  /// How many of them are commits.
  public let commitCount: Int
  /// How many objects have been written so far.
  public private(set) var objectsWritten = 0
  /// How many bytes of objects have been written so far, before compression.
  public private(set) var contentWritten = 0

  private let repository: Repository
  private let items: [PackPlan.Item]
  private let deflater: Deflater
  private var positions: [ObjectID: Position] = [:]
  private let mayNameOutsiders: Bool
  private var checksum = PackChecksum()
  private var offset = 0
  private var isDone = false

  /// Where an object is, how many deltas lead to it, and the whole object they begin with.
  private struct Position {
    let offset: Int
    let depth: Int
    let root: ObjectID
  }

  // git's own bound (pack.depth): readers resolve chains step by step.
  private static let longestChain = 50
  // Deltas must save this part of the object to be worth resolving.
  private static let worthwhileShare = 2
  private static let chunkSize = 128 * 1024
  // How long, in seconds, nothing is given out: a receiver waits for a piece as notes-protocol(7) says,
  // and large trees become small deltas.
  private static let longestPause = 1.0

  init(repository: Repository, plan: PackPlan, mayNameOutsiders: Bool) throws {
    self.repository = repository
    self.mayNameOutsiders = mayNameOutsiders
    items = plan.items
    objectCount = plan.items.count
    commitCount = plan.commits
    deflater = try Deflater()
  }

  /// How many bytes the objects hold together, before compression.
  public func contentBytes() throws -> Int {
    try items.reduce(0) { try $0 + repository.header(of: $1.id).size }
  }

  /// The next piece of the pack, or nil after the last.
  public func next() throws -> [UInt8]? {
    if isDone { return nil }
    var chunk = offset == 0 ? PackFormat.header(objectCount: objectCount) : []
    let end = Instant.now + Self.longestPause
    while objectsWritten < items.count, chunk.count < Self.chunkSize,
      chunk.isEmpty || !end.hasPassed
    {
      let start = chunk.count
      try append(items[objectsWritten], at: offset + start, to: &chunk)
      objectsWritten += 1
    }
    checksum.update(chunk)
    offset += chunk.count
    if objectsWritten == items.count {
      chunk += checksum.finish()
      isDone = true
    }
    return chunk
  }

  private func append(_ item: PackPlan.Item, at position: Int, to chunk: inout [UInt8]) throws {
    let content = try repository.data(of: item.id, kind: item.kind)
    contentWritten += content.count
    if let (base, delta) = try delta(of: content, item: item) {
      let known = positions[base]
      positions[item.id] = Position(
        offset: position, depth: (known?.depth ?? 0) + 1, root: known?.root ?? base)
      if let known {
        PackFormat.appendHeader(type: 6, size: delta.count, to: &chunk)
        appendDistance(position - known.offset, to: &chunk)
      } else {
        PackFormat.appendHeader(type: 7, size: delta.count, to: &chunk)
        chunk += base.bytes
      }
      try deflater.compress(delta, into: &chunk)
    } else {
      positions[item.id] = Position(offset: position, depth: 0, root: item.id)
      PackFormat.appendHeader(type: UInt8(item.kind.rawValue), size: content.count, to: &chunk)
      try deflater.compress(content, into: &chunk)
    }
  }

  /// A delta that is worth it, and its base: the one planned or, where that one's chain is as long
  /// as may be, the whole object it begins with: a new chain costs what changed since, not another
  /// whole object.
  private func delta(of content: [UInt8], item: PackPlan.Item) throws -> (ObjectID, [UInt8])? {
    guard var base = item.base else { return nil }
    if let known = positions[base] {
      if known.depth >= Self.longestChain { base = known.root }
    } else if !mayNameOutsiders {
      return nil
    }
    let old = try repository.data(of: base, kind: item.kind)
    let delta =
      item.kind == .tree
      ? PackDelta.tree(from: old, to: content) : PackDelta.blob(from: old, to: content)
    guard let delta, delta.count < content.count / Self.worthwhileShare else { return nil }
    return (base, delta)
  }

  private func appendDistance(_ distance: Int, to chunk: inout [UInt8]) {
    var digits = [UInt8(distance & 0x7f)]
    var rest = distance >> 7
    while rest > 0 {
      rest -= 1
      digits.append(UInt8(rest & 0x7f) | 0x80)
      rest >>= 7
    }
    chunk += digits.reversed()
  }
}
