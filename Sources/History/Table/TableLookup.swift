/// Looks up the number of a path, and the number of a path's change among the changes of a version, which may be
/// thousands. The first few lookups search linearly; then an index is built.
final class TableLookup {
  private let table: HistoryTable
  private var questions = 0
  private var paths: [ArraySlice<UInt8>: Int]?
  private var changes: [Int: [Int: Int]] = [:]
  /// The moves, by version, and then by parent and path.
  private var moves: [Int: [Move: Int]] = [:]

  private struct Move: Hashable {
    let parent: Int
    let path: Int
  }

  /// An index is built only after this many lookups, and only for a version with more changes than this.
  private static let (fewQuestions, fewChanges) = (8, 32)

  init(_ table: HistoryTable) { self.table = table }

  /// The number of a path; nil if no version has it.
  func path(_ path: [UInt8]) -> Int? {
    questions += 1
    guard questions > Self.fewQuestions else { return table.paths.firstIndex(of: path) }
    let known =
      paths
      ?? Dictionary(table.paths.indices.map { (table.paths[$0], $0) }) { first, _ in first }
    paths = known
    return known[path[...]]
  }

  /// The number of a version's change of a path.
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

  /// The name of a path in the parent at that position.
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
