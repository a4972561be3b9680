/// Copies objects from local packs into a new pack, with their compression and deltas: computing
/// these again would be most of the cost of packing a whole notebook. The objects keep their order,
/// so a delta's base comes before it.
struct PackCopying {
  /// From this number of objects on, the order of objects in packs is computed, which requires reading the whole
  /// indexes.
  static let worthwhileCount = 1024

  private let reader: PackReader
  /// The places of the items that are in a pack. Items without a place come after them.
  private let places: [PackReader.Place]

  /// Sorts the items.
  init(_ items: inout [PackPlan.Item], from reader: PackReader) {
    self.reader = reader
    var found: [(place: PackReader.Place, item: PackPlan.Item)] = []
    found.reserveCapacity(items.count)
    var others: [PackPlan.Item] = []
    for item in items {
      if let place = reader.place(of: item.id) {
        found.append((place, item))
      } else {
        others.append(item)
      }
    }
    found.sort { $0.place < $1.place }
    places = found.map(\.place)
    items = found.map(\.item) + others
  }

  /// The item with this number, as stored in its pack; nil if it is damaged there or not in a pack.
  func entry(_ number: Int) -> PackReader.Entry? {
    number < places.count ? reader.wholeEntry(at: places[number]) : nil
  }
}
