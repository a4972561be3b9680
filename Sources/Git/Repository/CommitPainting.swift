/// Who descends from whom, found by painting: each start has a colour that runs down to its
/// ancestors, newest first, until all that is left to visit has every colour.
///
/// A clock that went wrong only costs steps: no commit is left out that still lacks a colour, and one
/// that gets a new colour late is visited again.
struct CommitPainting {
  private let graph: CommitGraph
  /// How many words of 64 colours a commit has.
  private let width: Int
  private let full: [UInt64]
  /// Per commit met, where its colours begin in `colours`.
  private var places: [CommitGraph.Number: Int32] = [:]
  private var colours: [UInt64] = []
  private var isWaiting: [Bool] = []
  private var queue: [(time: Int64, number: CommitGraph.Number)] = []
  /// How many of those that wait lack a colour.
  private var unfinished = 0

  /// Prepares to paint with so many colours.
  init(graph: CommitGraph, colours count: Int) {
    self.graph = graph
    width = (count + 63) / 64
    full = (0..<width).map { word in
      let left = count - 64 * word
      return left >= 64 ? .max : (1 << UInt64(left)) - 1
    }
  }

  /// Of these commits, each there once, those that no other one descends from.
  static func heads(
    among starts: [CommitGraph.Number], in graph: CommitGraph
  ) throws -> [CommitGraph.Number] {
    var painting = CommitPainting(graph: graph, colours: starts.count)
    for (colour, start) in starts.enumerated() { try painting.add(colour, to: start) }
    // A commit that has no foreign colour when all that wait have every colour never gets one: its
    // descendants among those would be its ancestors, too.
    while try painting.step() != nil {}
    return starts.enumerated().filter { colour, start in
      painting.hasOnly(colour, start)
    }.map(\.element)
  }

  /// The common ancestors of two commits that none of the others found so far descends from; some
  /// may still be ancestors of others.
  static func commonAncestors(
    of left: CommitGraph.Number, and right: CommitGraph.Number, in graph: CommitGraph
  ) throws -> [CommitGraph.Number] {
    if left == right { return [left] }
    // Two colours for the sides; the third says that a descendant is common already.
    var painting = CommitPainting(graph: graph, colours: 3)
    try painting.add(0, to: left)
    try painting.add(1, to: right)
    var found: [CommitGraph.Number] = []
    while let (number, colours) = try painting.step(addingToParents: { $0 == 3 ? 7 : $0 }) {
      if colours == 3 { found.append(number) }
    }
    return found.filter { painting.firstWord(of: $0) == 3 }
  }

  /// Whether one commit is another or has it in its history.
  static func descends(
    _ descendant: CommitGraph.Number, from ancestor: CommitGraph.Number, in graph: CommitGraph
  ) throws -> Bool {
    if ancestor == descendant { return true }
    var painting = CommitPainting(graph: graph, colours: 2)
    try painting.add(0, to: ancestor)
    try painting.add(1, to: descendant)
    while try painting.step() != nil {
      if painting.firstWord(of: ancestor) == 3 { return true }
    }
    return false
  }

  private func firstWord(of number: CommitGraph.Number) -> UInt64 {
    places[number].map { colours[Int($0)] } ?? 0
  }

  private func hasOnly(_ colour: Int, _ number: CommitGraph.Number) -> Bool {
    guard let place = places[number] else { return false }
    return (0..<width).allSatisfy { word in
      colours[Int(place) + word] == (word == colour / 64 ? 1 << UInt64(colour % 64) : 0)
    }
  }

  private mutating func add(_ colour: Int, to number: CommitGraph.Number) throws {
    let place = try meet(number)
    let before = isFull(place)
    colours[place + colour / 64] |= 1 << UInt64(colour % 64)
    try schedule(number, place, wasFull: before)
  }

  /// Visits the next commit: its colours run to its parents. Returns it with its first 64 colours,
  /// or nil when all that wait have every colour.
  private mutating func step(
    addingToParents change: (UInt64) -> UInt64 = { $0 }
  ) throws -> (CommitGraph.Number, UInt64)? {
    guard unfinished > 0, let number = queue.popLast()?.number, let known = places[number] else {
      return nil
    }
    let place = Int(known)
    isWaiting[place / width] = false
    if !isFull(place) { unfinished -= 1 }
    let first = colours[place]
    for parent in try graph.parents(of: number) {
      let target = try meet(parent)
      let before = isFull(target)
      var isNew = false
      for word in 0..<width {
        let colour = word == 0 ? change(first) : colours[place + word]
        isNew = isNew || colour & ~colours[target + word] != 0
        colours[target + word] |= colour
      }
      if isNew { try schedule(parent, target, wasFull: before) }
    }
    return (number, first)
  }

  private mutating func meet(_ number: CommitGraph.Number) throws -> Int {
    if let place = places[number] { return Int(place) }
    let place = colours.count
    places[number] = Int32(place)
    for _ in 0..<width { colours.append(0) }
    isWaiting.append(false)
    return place
  }

  private func isFull(_ place: Int) -> Bool {
    for word in 0..<width where colours[place + word] != full[word] { return false }
    return true
  }

  private mutating func schedule(
    _ number: CommitGraph.Number, _ place: Int, wasFull: Bool
  ) throws {
    let full = isFull(place)
    guard !isWaiting[place / width] else {
      if full, !wasFull { unfinished -= 1 }
      return
    }
    let time = try graph.time(of: number)
    isWaiting[place / width] = true
    if !full { unfinished += 1 }
    push((time, number))
  }

  // MARK: The queue, the newest at its end

  private mutating func push(_ item: (time: Int64, number: CommitGraph.Number)) {
    var (low, high) = (0, queue.count)
    while low < high {
      let middle = (low + high) / 2
      if queue[middle].time < item.time { low = middle + 1 } else { high = middle }
    }
    queue.insert(item, at: low)
  }
}
