/// The objects of a received pack, for those who check them.
///
/// What is read is unpacked from the pack again. Trees are kept while there is room, since the next
/// version's are based on them; whatever the pack does to be read out of order counts as unpacked, so
/// that a check takes no longer than `PackLimits.unpackedBytes` allows.
final class ReceivedObjects {
  private let file: MappedFile
  private let end: Int
  private let entries: [PackEntry]
  private let received: Int
  /// The numbers of the entries that came, by their IDs.
  private let order: [Int]
  private let repository: Repository
  private let limits: PackLimits
  private let inflater: Inflater

  /// The bytes that were unpacked since the pack began to arrive.
  private(set) var unpackedBytes: Int

  private var kept: [ObjectID: [UInt8]] = [:]
  /// The keys of what is kept, the oldest first, from `firstKept` on.
  private var keptIDs: [ObjectID] = []
  private var firstKept = 0
  private var keptBytes = 0

  init(
    of deltas: PackDeltas, order: [Int], in file: MappedFile, end: Int, repository: Repository,
    limits: PackLimits
  ) throws {
    entries = deltas.entries.all
    received = deltas.received
    unpackedBytes = deltas.unpackedBytes
    self.order = order
    self.file = file
    self.end = end
    self.repository = repository
    self.limits = limits
    inflater = try Inflater()
  }

  /// All of them, by their IDs.
  var all: some Sequence<(id: ObjectID, kind: ObjectKind)> {
    order.lazy.map { [entries] in (entries[$0].id, entries[$0].kind ?? .tag) }
  }

  /// How many there are.
  var count: Int { order.count }

  /// The content of an object of the pack or of the repository.
  ///
  /// - Throws: `PackError` where it is in neither, or where the pack unpacks to too much.
  func content(of id: ObjectID) throws -> [UInt8] {
    if id == .emptyTree { return [] }
    if let content = kept[id] { return content }
    guard var number = number(of: id) else { return try outside(id) }
    // From the object down its deltas to one that is known, and back up.
    var deltas: [Int] = []
    while entries[number].base != PackEntry.none, kept[entries[number].id] == nil {
      deltas.append(number)
      number = Int(entries[number].base)
    }
    var content: [UInt8]
    if let known = kept[entries[number].id] {
      content = known
    } else if number < received {
      content = try unpack(number)
      try keep(content, of: number)
    } else {
      content = try outside(entries[number].id)
    }
    while let delta = deltas.popLast() {
      guard let next = PackDelta.applied(try unpack(delta), to: content, limit: .max) else {
        throw PackError.malformed("a delta that does not fit its base")
      }
      content = next
      try keep(content, of: delta)
    }
    return content
  }

  /// The entry of an object, or nil when the pack has none.
  private func number(of id: ObjectID) -> Int? {
    var (low, high) = (0, order.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[order[middle]].id < id { low = middle + 1 } else { high = middle }
    }
    return low < order.count && entries[order[low]].id == id ? order[low] : nil
  }

  private func unpack(_ number: Int) throws -> [UInt8] {
    let entry = entries[number]
    let next = number + 1 < received ? entries[number + 1].offset : end
    let bytes = file.bytes[(entry.offset + Int(entry.headerBytes))..<next]
    guard
      let content = try inflater.inflate(
        UnsafeRawBufferPointer(rebasing: bytes), size: Int(entry.size))
    else { throw PackError.malformed("a compressed object is damaged") }
    return content
  }

  private func outside(_ id: ObjectID) throws -> [UInt8] {
    guard try repository.contains(id) else { throw PackError.incomplete(id, needs: id) }
    let (kind, content) = try repository.object(id)
    try keep(content, id, kind)
    return content
  }

  private func keep(_ content: [UInt8], of number: Int) throws {
    try keep(content, entries[number].id, entries[number].kind)
  }

  private func keep(_ content: [UInt8], _ id: ObjectID, _ kind: ObjectKind?) throws {
    unpackedBytes += content.count
    try limits.check(unpacked: unpackedBytes, ofPack: end)
    guard kind == .tree, kept.updateValue(content, forKey: id) == nil else { return }
    keptIDs.append(id)
    keptBytes += content.count
    while keptBytes > limits.keptBytes, firstKept < keptIDs.count {
      keptBytes -= kept.removeValue(forKey: keptIDs[firstKept])?.count ?? 0
      firstKept += 1
    }
    if firstKept > 1024, firstKept > keptIDs.count / 2 {
      keptIDs.removeFirst(firstKept)
      firstKept = 0
    }
  }
}
