internal import Glibc
internal import System

extension Repository {
  /// A pack of everything reachable from `wants` and not from `haves`. Both are commits that are here; the
  /// receiver has all of `haves`.
  ///
  /// - Parameter first: a commit that comes first in the pack, whole, if the pack contains it.
  public func pack(
    wants: [ObjectID], haves: [ObjectID], first: ObjectID? = nil
  ) throws -> PackWriter {
    try pack(wants: wants, haves: haves, first: first, copiesFrom: PackCopying.worthwhileCount)
  }

  /// - Parameter count: a pack with at least this many objects copies them from local packs.
  func pack(
    wants: [ObjectID], haves: [ObjectID], first: ObjectID? = nil, copiesFrom count: Int
  ) throws -> PackWriter {
    let plan = try PackPlan(repository: self, wants: wants, haves: haves)
    let copies = plan.items.count >= count
    return try PackWriter(
      repository: self, plan: plan, mayNameOutsiders: true, first: first,
      copiesFrom: copies ? packs() : nil)
  }
}

/// Writes a pack (gitformat-pack(5)) in pieces, oldest objects first. A tree or blob is a delta
/// against the same path in the first parent if that is shorter. The pack is thin: some bases are
/// only on the receiver's side. If there are many objects, those in local packs are copied first.
public final class PackWriter {
  /// The number of objects in the pack.
  public let objectCount: Int
  /// The number of commits in the pack.
  public let commitCount: Int
  /// The merge commits in the pack, if the pack is for another device.
  public let merges: [ObjectID]
  /// How many objects have been written so far.
  public private(set) var objectsWritten = 0
  /// How many bytes of objects have been written so far, before compression.
  public private(set) var contentWritten = 0

  private let repository: Repository
  private let items: [PackPlan.Item]
  /// The items' numbers, sorted by ID; a dictionary would need as much memory as the items.
  private let sorted: [Int32]
  private let copying: PackCopying?
  private let deflater: Deflater
  /// The position of each item; nil until it is written.
  private var positions: [Position?]
  /// The size of each item in bytes; empty until requested.
  private var sizes: [Int] = []
  private let mayNameOutsiders: Bool
  private let first: ObjectID?
  private let checksum: SHA1
  private var offset = 0
  private var nextItem = 0
  /// The part of the last item that is not compressed yet.
  private var rest: ArraySlice<UInt8>?
  private var isDone = false

  /// For items that are deltas against an object of the receiver: that object.
  private var outsiders: [Int32: ObjectID] = [:]

  /// The place of an object, the length of its chain of deltas, and the item at the chain's
  /// beginning: a whole object, or a delta against one that the receiver has.
  private struct Position {
    let offset: Int
    let depth: Int32
    let first: Int32
  }

  // git's own limit (pack.depth): readers resolve chains step by step.
  private static let longestChain = 50
  // The part of the object that a delta must save to be worth resolving.
  private static let worthwhileShare = 2
  // How many bytes to send, and how many of an object to compress, at once: a slow processor needs longer for
  // a whole film than the receiver waits.
  private static let chunkSize = 128 * 1024
  // The longest time without a piece, in seconds: the receiver has a time-out (notes-protocol(7)),
  // and large trees become small deltas.
  private static let longestPause = 1.0

  init(
    repository: Repository, plan: PackPlan, mayNameOutsiders: Bool, first: ObjectID? = nil,
    copiesFrom packs: PackReader? = nil
  ) throws {
    self.repository = repository
    (self.mayNameOutsiders, self.first) = (mayNameOutsiders, first)
    var items = plan.items
    copying = packs.map { PackCopying(&items, from: $0) }
    self.items = items
    sorted = items.indices.map { Int32($0) }.sorted { items[Int($0)].id < items[Int($1)].id }
    positions = [Position?](repeating: nil, count: items.count)
    objectCount = items.count
    commitCount = plan.commits
    merges = plan.merges
    (deflater, checksum) = (try Deflater(), try SHA1())
  }

  /// The total size of the objects in bytes, before compression.
  public func contentBytes() throws -> Int {
    if sizes.isEmpty { sizes = try items.map { try repository.header(of: $0.id).size } }
    return sizes.reduce(0, +)
  }

  /// The next piece of the pack; nil after the last.
  public func next() throws -> [UInt8]? {
    if isDone { return nil }
    var chunk = offset == 0 ? PackFormat.header(objectCount: objectCount) : []
    if offset == 0, let first = first.flatMap(number) {
      try append(first, to: &chunk)
      objectsWritten += 1
    }
    let end = Instant.now + Self.longestPause
    while rest != nil || nextItem < items.count, chunk.count < Self.chunkSize,
      chunk.isEmpty || !end.hasPassed
    {
      if rest != nil {
        try compressPart(to: &chunk)
      } else {
        try write(nextItem, to: &chunk)
        nextItem += 1
      }
    }
    checksum.update(chunk)
    offset += chunk.count
    if rest == nil, nextItem == items.count {
      chunk += try checksum.finish()
      isDone = true
    }
    return chunk
  }

  /// - Parameter depth: how many deltas can only be written after this item.
  private func write(_ number: Int, to chunk: inout [UInt8], depth: Int = 0) throws {
    if positions[number] != nil { return }
    if try !appendCopy(of: number, to: &chunk, depth) {
      try append(number, to: &chunk)
      // The delta that is based on this item begins after its end.
      while depth > 0, rest != nil { try compressPart(to: &chunk) }
    }
    objectsWritten += 1
  }

  /// Appends an object after its base, in the form in which a local pack stores it. Returns false if the object
  /// must be compressed again.
  private func appendCopy(of number: Int, to chunk: inout [UInt8], _ depth: Int) throws -> Bool {
    let item = items[number]
    guard let copying, let entry = copying.entry(number),
      entry.header.kind == nil || entry.header.kind == item.kind
    else { return false }
    if let base = entry.base {
      let own = self.number(of: base)
      if let own, depth < Self.longestChain { try write(own, to: &chunk, depth: depth + 1) }
      let known = position(of: base)
      // The receiver has only the objects in the plan and those already sent.
      guard known != nil || base == item.base && own == nil,
        known?.depth ?? 0 < Self.longestChain
      else { return false }
      begin(number, upon: base, known, deltaOf: entry.header.size, in: &chunk)
    } else {
      // A delta against an object of the receiver is shorter.
      if let base = item.base, position(of: base) != nil || self.number(of: base) == nil {
        return false
      }
      begin(number, size: entry.header.size, in: &chunk)
    }
    chunk += entry.content
    contentWritten += try sizes.isEmpty ? repository.header(of: item.id).size : sizes[number]
    return true
  }

  private func append(_ number: Int, to chunk: inout [UInt8]) throws {
    let item = items[number]
    let content = try repository.data(of: item.id, kind: item.kind, isReadOnce: item.base == nil)
    contentWritten += content.count
    if let (base, delta) = try delta(of: content, item: item) {
      begin(number, upon: base, position(of: base), deltaOf: delta.count, in: &chunk)
      rest = delta[...]
    } else {
      begin(number, size: content.count, in: &chunk)
      rest = content[...]
    }
    try deflater.begin()
    try compressPart(to: &chunk)
  }

  private func compressPart(to chunk: inout [UInt8]) throws {
    guard let left = rest else { return }
    let part = left.prefix(Self.chunkSize)
    rest = part.count < left.count ? left.dropFirst(part.count) : nil
    try deflater.append(part, isLast: rest == nil, to: &chunk)
  }

  private func position(of id: ObjectID) -> Position? { number(of: id).flatMap { positions[$0] } }

  /// The number of the item with this ID; nil if there is none.
  private func number(of id: ObjectID) -> Int? {
    let place = sorted.partitionPoint { items[Int($0)].id < id }
    guard place < sorted.count, items[Int(sorted[place])].id == id else { return nil }
    return Int(sorted[place])
  }

  /// Begins a whole object.
  private func begin(_ number: Int, size: Int, in chunk: inout [UInt8]) {
    positions[number] = Position(offset: offset + chunk.count, depth: 0, first: Int32(number))
    PackFormat.appendHeader(type: UInt8(items[number].kind.rawValue), size: size, to: &chunk)
  }

  /// Begins a delta.
  private func begin(
    _ number: Int, upon base: ObjectID, _ known: Position?, deltaOf size: Int,
    in chunk: inout [UInt8]
  ) {
    let position = offset + chunk.count
    positions[number] = Position(
      offset: position, depth: (known?.depth ?? 0) + 1, first: known?.first ?? Int32(number))
    if let known {
      PackFormat.appendHeader(type: 6, size: size, to: &chunk)
      appendDistance(position - known.offset, to: &chunk)
    } else {
      outsiders[Int32(number)] = base
      PackFormat.appendHeader(type: PackFormat.deltaType, size: size, to: &chunk)
      chunk += base.bytes
    }
  }

  /// A delta that saves enough, and its base. The base is the planned one, unless its chain has the maximum
  /// length. Then the base is the whole object at the chain's beginning: a new chain from there costs only the
  /// later changes, and not another whole object. The base is never a later object of the pack.
  private func delta(of content: [UInt8], item: PackPlan.Item) throws -> (ObjectID, [UInt8])? {
    guard var base = item.base else { return nil }
    if let known = position(of: base) {
      if known.depth >= Self.longestChain {
        base = outsiders[known.first] ?? items[Int(known.first)].id
      }
    } else if !mayNameOutsiders || number(of: base) != nil {
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
