internal import System

/// The objects of a pack in pack order, by its index.
struct PackOrder {
  private let entries: [(offset: Int, position: Int32)]

  init(of index: PackIndexFile) {
    entries = (0..<index.count).compactMap { position in
      index.offset(at: position).map { ($0, Int32(position)) }
    }.sorted { $0.offset < $1.offset }
  }

  /// The position in the index of the object that starts at `offset`, and the start of the next object (nil
  /// after the last). Nil if no object starts there.
  func entry(at offset: Int) -> (position: Int, next: Int?)? {
    let rank = entries.partitionPoint { $0.offset < offset }
    guard rank < entries.count, entries[rank].offset == offset else { return nil }
    return (
      Int(entries[rank].position), rank + 1 < entries.count ? entries[rank + 1].offset : nil
    )
  }
}
