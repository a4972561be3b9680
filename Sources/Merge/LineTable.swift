internal import System

/// Gives equal lines one number, so that the merge compares numbers instead of bytes.
package struct LineTable {
  private var lines: [ArraySlice<UInt8>] = []
  private var numbers: [Key: Int32] = [:]
  private var blockNumbers: [[[Int32]]: Int32] = [:]
  private(set) var blocks: [Int32: ConflictBlock] = [:]

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
    // A slice would keep the whole text that it is of.
    let copy = ArraySlice(Array(line))
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
    var lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines.map { number(of: $0) }
  }

  func text(of lines: [Int32]) -> [UInt8] { lines.flatMap { self[$0] + [UInt8(ascii: "\n")] } }
}
