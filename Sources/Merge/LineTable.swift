internal import System

/// Gives equal lines one number, so that the merge compares numbers instead of bytes.
package struct LineTable {
  /// The bytes of the lines, one after the other in large pieces: an allocation for each line would use more
  /// memory than most lines.
  private var pieces: [[UInt8]] = []
  private var places: [Place] = []
  /// Long lines, which stay slices of their text.
  private var largeLines: [Int32: ArraySlice<UInt8>] = [:]
  /// A hash table of line numbers, with open addressing; -1 is an empty slot.
  private var slots: [Int32] = []
  private var blockNumbers: [[[Int32]]: Int32] = [:]
  private(set) var blocks: [Int32: ConflictBlock] = [:]

  private static let largestCopy = 1 << 20
  private static let pieceSize = 1 << 18

  /// The place of a line's bytes.
  private struct Place {
    /// Negative for a long line.
    var piece: Int32 = 0
    var start: Int32 = 0
    var count: Int32 = 0
    /// The low bits of the line's hash.
    var hash: UInt32 = 0
  }

  package init() {}

  /// The bytes of a line, without its newline.
  package subscript(line: Int32) -> ArraySlice<UInt8> {
    let place = places[Int(line)]
    if place.piece < 0 { return largeLines[line] ?? [] }
    if place.count == 0 { return [] }
    let start = Int(place.start)
    return pieces[Int(place.piece)][start..<start + Int(place.count)]
  }

  /// The number of the line with these bytes.
  package mutating func number(of line: ArraySlice<UInt8>) -> Int32 {
    if 2 * places.count >= slots.count { grow() }
    var hasher = Hasher()
    hasher.combine(atOnce: line)
    let hash = UInt32(truncatingIfNeeded: hasher.finalize())
    var slot = Int(hash) & (slots.count - 1)
    while slots[slot] >= 0 {
      let number = slots[slot]
      if places[Int(number)].hash == hash, self[number] == line { return number }
      slot = (slot + 1) & (slots.count - 1)
    }
    let number = Int32(places.count)
    slots[slot] = number
    places.append(store(line, as: number, hash))
    return number
  }

  private mutating func store(
    _ line: ArraySlice<UInt8>, as number: Int32, _ hash: UInt32
  ) -> Place {
    if line.count > Self.largestCopy {
      largeLines[number] = line
      return Place(piece: -1, hash: hash)
    }
    if pieces.isEmpty || pieces[pieces.count - 1].count + line.count > Self.pieceSize {
      var piece: [UInt8] = []
      if !pieces.isEmpty { piece.reserveCapacity(max(Self.pieceSize, line.count)) }
      pieces.append(piece)
    }
    let last = pieces.count - 1
    let place = Place(
      piece: Int32(last), start: Int32(pieces[last].count), count: Int32(line.count), hash: hash)
    pieces[last] += line
    return place
  }

  /// Makes room for twice as many lines.
  private mutating func grow() {
    slots = Array(repeating: -1, count: max(64, 2 * slots.count))
    for (number, place) in places.enumerated() where blocks[Int32(number)] == nil {
      var slot = Int(place.hash) & (slots.count - 1)
      while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
      slots[slot] = Int32(number)
    }
  }

  /// The number of a whole block: equal for blocks with equal sides, whatever their labels are.
  mutating func number(of block: ConflictBlock) -> Int32 {
    let sides = block.sides.map(\.lines)
    if let known = blockNumbers[sides] { return known }
    let number = append(block)
    blockNumbers[sides] = number
    return number
  }

  /// A new number for a block that must keep its own labels.
  mutating func append(_ block: ConflictBlock) -> Int32 {
    let number = Int32(places.count)
    places.append(Place())
    blocks[number] = block
    return number
  }

  /// The numbers of the lines of a text, which end in `\n`; a last part without a newline also counts as a
  /// line.
  package mutating func lines(of text: [UInt8]) -> [Int32] {
    var numbers: [Int32] = []
    var start = 0
    while let end = text.firstIndex(of: UInt8(ascii: "\n"), from: start) {
      numbers.append(number(of: text[start..<end]))
      start = end + 1
    }
    if start < text.count { numbers.append(number(of: text[start...])) }
    return numbers
  }

  /// Frees the bytes of all lines that are not in `kept`. The table must not be extended afterwards.
  mutating func forget(except kept: [[Int32]]) {
    var isKept = [Bool](repeating: false, count: places.count)
    for lines in kept { for line in lines { isKept[Int(line)] = true } }
    var isUsed = [Bool](repeating: false, count: pieces.count)
    for (line, place) in places.enumerated() where isKept[line] && place.count > 0 {
      isUsed[Int(place.piece)] = true
    }
    for line in places.indices where !isKept[line] { places[line] = Place() }
    for piece in pieces.indices where !isUsed[piece] { pieces[piece] = [] }
    largeLines = largeLines.filter { isKept[Int($0.key)] }
    slots = []
  }

  /// The size of some lines in bytes, including newlines.
  func size(of lines: [Int32]) -> Int { lines.reduce(0) { $0 + self[$1].count + 1 } }

  func text(of lines: [Int32]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(size(of: lines))
    for line in lines {
      text += self[line]
      text.append(UInt8(ascii: "\n"))
    }
    return text
  }
}
