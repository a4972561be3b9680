internal import System

/// An object of a pack that is being received, and its place in the tree of deltas. The links are
/// entry numbers, because a pack may contain millions.
struct PackEntry {
  let offset: Int
  let crc: UInt32
  var kind: ObjectKind?
  /// The object's ID, once its kind is known.
  var id = ObjectID.zero
  var base: Int32 = PackEntry.none
  /// The number of the first delta that applies to this object.
  var firstDelta: Int32 = PackEntry.none
  /// The number of the next delta that applies to the same base as this one.
  var nextDelta: Int32 = PackEntry.none

  static let none: Int32 = -1
}

/// The entries of a pack as they arrived, and the bases that its deltas need.
struct PackEntries {
  var all: [PackEntry] = []
  /// Deltas whose base is named by ID and not known yet, by that ID.
  var waiting: [ObjectID: Waiting] = [:]

  struct Waiting {
    let first: Int32
    var last: Int32
  }

  func entry(at offset: Int) -> Int? {
    let place = all.partitionPoint { $0.offset < offset }
    return place < all.count && all[place].offset == offset ? place : nil
  }

  /// Adds a delta that is based on an earlier entry.
  mutating func append(_ entry: PackEntry, basedOn base: Int) {
    var entry = entry
    entry.base = Int32(base)
    entry.nextDelta = all[base].firstDelta
    all[base].firstDelta = Int32(all.count)
    all.append(entry)
  }

  /// Adds a delta whose base is not in the pack yet.
  mutating func append(_ entry: PackEntry, waitingFor base: ObjectID) {
    let number = Int32(all.count)
    all.append(entry)
    if let list = waiting[base] {
      all[Int(list.last)].nextDelta = number
      waiting[base]?.last = number
    } else {
      waiting[base] = Waiting(first: number, last: number)
    }
  }

  /// Sets an entry's kind and ID. Deltas that waited for this ID now belong to it.
  mutating func resolve(_ number: Int, _ kind: ObjectKind, _ id: ObjectID) {
    all[number].kind = kind
    all[number].id = id
    guard !waiting.isEmpty, let list = waiting.removeValue(forKey: id) else { return }
    all[Int(list.last)].nextDelta = all[number].firstDelta
    all[number].firstDelta = list.first
  }

  /// The deltas that apply to an entry. Deltas on which no other delta is based are applied first, so that the
  /// entry's content is needed for as short a time as possible. The order is reversed: read it from the end.
  func deltas(of number: Int) -> [Int32] {
    var (ends, others): ([Int32], [Int32]) = ([], [])
    var next = all[number].firstDelta
    while next != PackEntry.none {
      if all[Int(next)].firstDelta == PackEntry.none {
        ends.append(next)
      } else {
        others.append(next)
      }
      next = all[Int(next)].nextDelta
    }
    return others + ends
  }
}
