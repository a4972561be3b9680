/// The places in a table that are asked for again and again, for one file after another: that of its name,
/// and that of its own change among the thousands of a version. Each is found by going through all, until
/// that has been asked a few times; then by an index that was built for that.
final class TableLookup {
  private let table: HistoryTable
  private var questions = 0
  private var paths: [ArraySlice<UInt8>: Int]?
  private var changes: [Int: [Int: Int]] = [:]
  /// By version, and then by parent and path.
  private var moves: [Int: [Move: Int]] = [:]

  private struct Move: Hashable {
    let parent: Int
    let path: Int
  }

  /// Before so many questions nothing is built, nor ever for a version of so few changes.
  private static let (fewQuestions, fewChanges) = (8, 32)

  init(_ table: HistoryTable) { self.table = table }

  /// The number of a path; nil for one that no version has.
  func path(_ path: [UInt8]) -> Int? {
    questions += 1
    guard questions > Self.fewQuestions else { return table.paths.firstIndex(of: path) }
    let known =
      paths
      ?? Dictionary(table.paths.indices.map { (table.paths[$0], $0) }) { first, _ in first }
    paths = known
    return known[path[...]]
  }

  /// The change that a version made to a path.
  func change(of path: Int, in version: Int) -> Int? {
    let all = table.changes(of: version)
    guard questions > Self.fewQuestions, all.count > Self.fewChanges else {
      return table.change(of: path, in: version)
    }
    if changes[version] == nil {
      changes[version] = Dictionary(all.map { (table.path(ofChange: $0), $0) }) { first, _ in first
      }
    }
    return changes[version]?[path]
  }

  /// The name of a path in the parent of that position.
  func former(of path: Int, in version: Int, parent: Int, change: Int?) -> Int {
    let all = table.moves(of: version)
    guard parent > 0, questions > Self.fewQuestions, all.count > Self.fewChanges else {
      return table.former(of: path, in: version, parent: parent, change: change)
    }
    if moves[version] == nil {
      moves[version] = Dictionary(
        all.map { move in
          let key = Move(
            parent: table.moves.number(move), path: table.moves.number(move, at: 4))
          return (key, table.moves.number(move, at: 8))
        }, uniquingKeysWith: { first, _ in first })
    }
    return moves[version]?[Move(parent: parent, path: path)] ?? path
  }
}
