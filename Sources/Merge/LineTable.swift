internal import System

/// Gives equal lines one number, so that the merge compares numbers instead of bytes.
package struct LineTable {
  private var lines: [ArraySlice<UInt8>] = []
  private var numbers: [Key: Int32] = [:]
  private var blockNumbers: [[[Int32]]: Int32] = [:]
  private(set) var blocks: [Int32: ConflictBlock] = [:]

  private static let largestCopy = 1 << 20

  private struct Key: Hashable {
    let bytes: ArraySlice<UInt8>

    func hash(into hasher: inout Hasher) { hasher.combine(atOnce: bytes) }
  }

  package init() {}

  /// The bytes of a line, without its newline.
  package subscript(line: Int32) -> ArraySlice<UInt8> { lines[Int(line)] }

  /// The number of the line with these bytes.
  package mutating func number(of line: ArraySlice<UInt8>) -> Int32 {
    if let known = numbers[Key(bytes: line)] { return known }
    // A slice keeps the whole text that it is of; a large one is most of it, and stays where it is.
    let copy = line.count > Self.largestCopy ? line : ArraySlice(Array(line))
    let number = Int32(lines.count)
    lines.append(copy)
    numbers[Key(bytes: copy)] = number
    return number
  }

  /// The number that stands for a whole block: equal for blocks with equal sides, whatever their
  /// labels say.
  mutating func number(of block: ConflictBlock) -> Int32 {
    let sides = block.sides.map(\.lines)
    if let known = blockNumbers[sides] { return known }
    let number = append(block)
    blockNumbers[sides] = number
    return number
  }

  /// A number for a block that is to keep its own labels.
  mutating func append(_ block: ConflictBlock) -> Int32 {
    let number = Int32(lines.count)
    lines.append([])
    blocks[number] = block
    return number
  }

  /// The numbers of the lines of a text whose lines end in `\n`; a rest without one is a line too.
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

  /// Lets go of the bytes of all lines but those that are in one of these; the table is not added to after
  /// that.
  mutating func forget(except kept: [[Int32]]) {
    var isKept = [Bool](repeating: false, count: lines.count)
    for lines in kept { for line in lines { isKept[Int(line)] = true } }
    for line in lines.indices where !isKept[line] { lines[line] = [] }
    numbers = [:]
  }

  func text(of lines: [Int32]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(lines.reduce(0) { $0 + self[$1].count + 1 })
    for line in lines {
      text += self[line]
      text.append(UInt8(ascii: "\n"))
    }
    return text
  }
}
