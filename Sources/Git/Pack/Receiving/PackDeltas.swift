/// Applies each delta of a pack once. A base is before its delta in the pack, or in the repository,
/// so there are no cycles. Bases stay in memory while further deltas apply to them; over
/// `PackLimits.keptBytes`, those needed last are dropped and unpacked again later.
struct PackDeltas {
  private var entries: PackEntries
  /// The number of entries that arrived in the pack; later entries are bases from the repository.
  let received: Int

  private let pack: MappedFile
  private let packBytes: Int
  private var reads = 0
  private let limits: PackLimits
  private let unpacking: UnpackingLimit
  private let inflater: Inflater
  private(set) var unpackedBytes: Int
  private var keptBytes = 0
  private var hashing: ObjectHashing

  /// The objects that the pack lacks, and a function that adds them to it.
  struct Outside {
    /// The object; nil if there is none with that ID.
    let object: (ObjectID) throws -> (kind: ObjectKind, data: [UInt8])?
    /// Adds an object to the end of the pack.
    let append: (ObjectKind, [UInt8]) throws -> PackEntry
  }

  /// An object to which further deltas apply.
  private struct Kept {
    let entry: Int
    /// The number of deltas in its chain.
    let depth: Int
    var content: [UInt8]?
    var deltas: [Int32]
  }

  /// - Parameter stream: the entries are moved out of it.
  init(
    of stream: inout PackStream, pack: MappedFile, limits: PackLimits, _ unpacking: UnpackingLimit
  ) throws {
    entries = stream.takeEntries()
    received = entries.all.count
    unpackedBytes = stream.unpackedBytes
    self.pack = pack
    packBytes = stream.end
    (self.limits, self.unpacking) = (limits, unpacking)
    hashing = ObjectHashing(limits)
    inflater = try Inflater()
  }

  /// Moves the entries out. After the deltas were applied, all have their kind and ID.
  mutating func takeEntries() -> [PackEntry] {
    var taken: [PackEntry] = []
    swap(&taken, &entries.all)
    return taken
  }

  mutating func apply(_ outside: Outside) throws {
    for entry in 0..<received where entries.all[entry].base == PackEntry.none {
      guard let kind = entries.all[entry].kind else { continue }
      entries.resolve(entry, kind, entries.all[entry].id)
      try apply(below: entry, content: nil, outside)
    }
    try resolveHashed()
    // Resolve in the order of the pack: a delta's base is then resolved before the delta.
    let wanted = entries.waiting.sorted { $0.value.first < $1.value.first }.map(\.key)
    for base in wanted where entries.waiting[base] != nil {
      guard let object = try outside.object(base) else { throw PackError.baseMissing(base) }
      guard object.data.count <= limits.bytes(of: object.kind) else {
        throw PackError.overLimit("bytes in an object", limit: limits.bytes(of: object.kind))
      }
      let entry = entries.all.count
      entries.all.append(try outside.append(object.kind, object.data))
      entries.resolve(entry, object.kind, base)
      try apply(below: entry, content: object.data, outside)
    }
    try resolveHashed()
  }

  private mutating func apply(below root: Int, content: [UInt8]?, _ outside: Outside) throws {
    let deltas = entries.deltas(of: root)
    guard !deltas.isEmpty else { return }
    var stack: [Kept] = []
    keep(
      Kept(entry: root, depth: 0, content: try content ?? unpack(root), deltas: deltas), on: &stack)
    while var base = stack.popLast() {
      let bytes = try base.content ?? unpackAgain(base.entry, outside)
      keptBytes -= base.content?.count ?? 0
      guard let delta = base.deltas.popLast().map(Int.init) else { continue }
      let kind = entries.all[base.entry].kind ?? .blob
      let limit = limits.bytes(of: kind)
      guard let object = PackDelta.applied(try unpack(delta), to: bytes, limit: limit) else {
        throw PackError.malformed("a delta that does not fit its base")
      }
      entries.all[delta].base = Int32(base.entry)
      entries.all[delta].kind = kind
      hashing.add(delta, kind, object)
      // If other deltas wait for their base by ID, this object may be that base.
      if !entries.waiting.isEmpty || hashing.isFull { try resolveHashed() }
      let (entry, depth) = (base.entry, base.depth)
      if !base.deltas.isEmpty {
        keep(Kept(entry: entry, depth: depth, content: bytes, deltas: base.deltas), on: &stack)
      }
      let next = entries.deltas(of: delta)
      guard !next.isEmpty else { continue }
      guard depth + 2 <= limits.chain else {
        throw PackError.overLimit("deltas that lead to one object", limit: limits.chain)
      }
      keep(Kept(entry: delta, depth: depth + 1, content: object, deltas: next), on: &stack)
    }
  }

  private mutating func resolveHashed() throws {
    for (entry, kind, id) in try hashing.take() { entries.resolve(entry, kind, id) }
  }

  /// Pushes an object on the stack. If the objects use too much memory, drops those that are needed last.
  private mutating func keep(_ object: Kept, on stack: inout [Kept]) {
    stack.append(object)
    keptBytes += object.content?.count ?? 0
    for position in stack.indices.dropLast() where keptBytes > limits.keptBytes {
      keptBytes -= stack[position].content?.count ?? 0
      stack[position].content = nil
    }
  }

  /// The content of an entry: an object or a delta. Its size was checked on arrival.
  private mutating func unpack(_ number: Int) throws -> [UInt8] {
    reads += 1
    if reads % MappedFile.readsUntilRelease == 0 { pack.releasePages() }
    let entry = UnsafeRawBufferPointer(
      rebasing: pack.bytes[entries.all[number].offset..<packBytes])
    guard let header = try PackEntryHeader(entry),
      let content = try inflater.inflate(
        UnsafeRawBufferPointer(rebasing: entry[header.length...]), size: header.size)
    else { throw PackError.malformed("a compressed object is damaged") }
    return content
  }

  /// Unpacks a dropped object again, from the whole object at the beginning of its chain.
  private mutating func unpackAgain(_ number: Int, _ outside: Outside) throws -> [UInt8] {
    var deltas: [Int] = []
    var root = number
    while entries.all[root].base != PackEntry.none {
      deltas.append(root)
      root = Int(entries.all[root].base)
    }
    var content: [UInt8]
    if root < received {
      content = try unpack(root)
    } else {
      let id = entries.all[root].id
      guard let object = try outside.object(id) else { throw PackError.baseMissing(id) }
      content = object.data
    }
    while let delta = deltas.popLast() {
      guard let next = PackDelta.applied(try unpack(delta), to: content, limit: .max) else {
        throw PackError.malformed("a delta that does not fit its base")
      }
      unpackedBytes += content.count + next.count
      content = next
    }
    try unpacking.check(unpackedBytes, ofPack: packBytes)
    return content
  }
}
