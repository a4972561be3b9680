/// Copies objects into a pack as packs that are here hold them, compressed and as deltas: making them
/// anew is most of what a pack of a whole notebook costs. They are sent in the order in which they stand
/// there, so that what a delta is based on comes before it.
struct PackCopying {
  /// From so many objects on it is worth the order of the packs, which takes their whole indexes to make.
  static let worthwhileCount = 1024

  private let reader: PackReader
  /// The places of the items that are in a pack; the others come after those.
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

  /// The object of that number as its pack holds it, unless it is damaged there or in none.
  func entry(_ number: Int) -> PackReader.Entry? {
    number < places.count ? reader.wholeEntry(at: places[number]) : nil
  }
}
