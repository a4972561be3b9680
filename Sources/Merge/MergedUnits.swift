/// The lines and blocks of a merge's result, as the text of a note: notes-merge(7), "Markers".
struct MergedUnits {
  let units: [Int32]
  let table: LineTable

  /// The text, with markers around the sides of blocks.
  func rendered(_ endings: LineEndings) -> [UInt8] {
    let size = markerSize
    var text: [UInt8] = []
    // Reserves space first, so that memory never has two copies of a large text while it grows.
    text.reserveCapacity(units.reduce(0) { $0 + room(for: $1, markerSize: size) })
    for unit in units {
      if let block = table.blocks[unit] {
        append(block, size: size, to: &text)
      } else {
        text += table[unit]
        text.append(UInt8(ascii: "\n"))
      }
    }
    return endings.apply(to: text, keepsFinalNewline: units.last.map(isBlock) ?? false)
  }

  /// The size of the markers; nil if there is no block.
  var markerSizeOfBlocks: Int? { units.contains(where: isBlock) ? markerSize : nil }

  private func isBlock(_ unit: Int32) -> Bool { table.blocks[unit] != nil }

  /// The minimum size of the text in bytes, with a newline at its end.
  var leastSize: Int {
    units.reduce(0) { sum, unit in
      guard let block = table.blocks[unit] else { return sum + table[unit].count + 1 }
      return block.sides.reduce(sum) { $0 + table.size(of: $1.lines) }
    }
  }

  /// The size of a line or block in bytes.
  private func room(for unit: Int32, markerSize: Int) -> Int {
    guard let block = table.blocks[unit] else { return table[unit].count + 1 }
    return block.sides.reduce(0) { sum, side in
      side.lines.reduce(sum + 2 * (markerSize + side.label.count + 2)) { $0 + table[$1].count + 1 }
    }
  }

  /// One more than the longest run that could be read as a marker, at least 7.
  private var markerSize: Int {
    var longest = MarkedText.smallestMarkerSize - 1
    for unit in units {
      if let block = table.blocks[unit] {
        for line in block.sides.flatMap(\.lines) {
          longest = max(longest, MarkerLine.Parts(table[line])?.size ?? 0)
        }
      } else if let parts = MarkerLine.Parts(table[unit]), parts.mark != UInt8(ascii: "=") {
        longest = max(longest, parts.size)
      }
    }
    return longest + 1
  }

  private func append(_ block: ConflictBlock, size: Int, to text: inout [UInt8]) {
    func marker(_ mark: Unicode.Scalar, _ label: [UInt8]?) -> [UInt8] {
      let run = Array(repeating: UInt8(ascii: mark), count: size)
      return run + (label.map { Array(" ".utf8) + $0 } ?? []) + Array("\n".utf8)
    }
    let last = block.sides.count - 1
    for (index, side) in block.sides.enumerated() {
      text += index == 0 ? marker("<", side.label) : marker("=", index == last ? nil : side.label)
      for line in side.lines {
        text += table[line]
        text.append(UInt8(ascii: "\n"))
      }
      if index == last { text += marker(">", side.label) }
    }
  }
}
