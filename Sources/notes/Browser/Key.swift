enum Key: Equatable, Sendable {
  case character(Character)
  case control(Character)
  case enter, escape, backspace, tab
  case up, down, left, right, pageUp, pageDown, home, end
  case pasted(String)
  /// The left button of the mouse, and its wheel: how many lines down. Columns and rows count from
  /// 0.
  case click(column: Int, row: Int)
  case wheel(Int, column: Int)
}

/// Decodes a terminal's input into keys: ECMA-48, and the common xterm extensions.
struct KeyDecoder {
  private var pending: [UInt8] = []

  /// Whether there are bytes that may be a complete key or the beginning of another: an escape.
  var isWaiting: Bool { !pending.isEmpty }

  mutating func keys(from bytes: some Sequence<UInt8>) -> [Key] {
    pending += bytes
    var keys: [Key] = []
    while let (key, count) = next() {
      if let key { keys.append(key) }
      pending.removeFirst(count)
    }
    return keys
  }

  /// The keys that the pending bytes mean if nothing follows.
  mutating func flush() -> [Key] {
    defer { pending = [] }
    return pending == [0x1B] ? [.escape] : []
  }

  /// The next key, nil for meaningless bytes, and its length; nil if more bytes must arrive.
  private func next() -> (key: Key?, count: Int)? {
    guard let first = pending.first else { return nil }
    switch first {
    case 0x1B: return escapeSequence()
    case 0x0D, 0x0A: return (.enter, 1)
    case 0x09: return (.tab, 1)
    case 0x08, 0x7F: return (.backspace, 1)
    case 0x00, 0x1C..<0x20: return (nil, 1)
    case 0x01..<0x1B: return (.control(Character(Unicode.Scalar(first | 0x60))), 1)
    case 0x20..<0x7F: return (.character(Character(Unicode.Scalar(first))), 1)
    default: return character()
    }
  }

  private func character() -> (key: Key?, count: Int)? {
    let length = (~pending[0]).leadingZeroBitCount
    guard (2...4).contains(length) else { return (nil, 1) }
    guard pending.count >= length else { return nil }
    guard let text = String(validating: pending[..<length], as: UTF8.self), let first = text.first
    else { return (nil, 1) }
    return (.character(first), length)
  }

  private func escapeSequence() -> (key: Key?, count: Int)? {
    guard pending.count > 1 else { return nil }
    switch pending[1] {
    case UInt8(ascii: "["), UInt8(ascii: "O"): break
    // Escape, followed by another key.
    case 0x1B: return (.escape, 1)
    // An escape before a key stands for Alt.
    default: return (nil, 2)
    }
    guard let last = pending[2...].firstIndex(where: { (0x40...0x7E).contains($0) }) else {
      // No sequence is that long: the bytes are something else.
      return pending.count > 32 ? (nil, pending.count) : nil
    }
    let parameters = String(decoding: pending[2..<last], as: UTF8.self)
    let count = last + 1
    let key: Key?
    switch (Character(Unicode.Scalar(pending[last])), parameters) {
    case ("A", _): key = .up
    case ("B", _): key = .down
    case ("C", _): key = .right
    case ("D", _): key = .left
    case ("H", _), ("~", "1"), ("~", "7"): key = .home
    case ("F", _), ("~", "4"), ("~", "8"): key = .end
    case ("~", "5"): key = .pageUp
    case ("~", "6"): key = .pageDown
    case ("~", "200"): return paste(from: count)
    // The terminal supports only the mouse's older form: three bytes follow.
    case ("M", ""): return pending.count < count + 3 ? nil : (nil, count + 3)
    case ("M", _): key = Self.mouse(parameters)
    default: key = nil
    }
    return (key, count)
  }

  /// The mouse action for the parameters of xterm's SGR form: `<BUTTON;COLUMN;ROW`.
  private static func mouse(_ parameters: String) -> Key? {
    let numbers = parameters.dropFirst().split(separator: ";").compactMap { Int($0) }
    guard parameters.first == "<", numbers.count == 3, numbers.allSatisfy({ $0 >= 0 })
    else { return nil }
    switch numbers[0] {
    case 0: return .click(column: numbers[1] - 1, row: numbers[2] - 1)
    case 64: return .wheel(-wheelLines, column: numbers[1] - 1)
    case 65: return .wheel(wheelLines, column: numbers[1] - 1)
    default: return nil
    }
  }

  private static let wheelLines = 3

  private func paste(from start: Int) -> (key: Key?, count: Int)? {
    guard let mark = pending[start...].firstRange(of: Array("\u{1B}[201~".utf8)) else { return nil }
    let text = String(decoding: pending[start..<mark.lowerBound], as: UTF8.self)
    return (.pasted(text), mark.upperBound)
  }
}
