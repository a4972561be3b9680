internal import System

/// The progress and the complaints that git writes to standard error.
public struct GitProgress: Sendable {
  /// The two directions of objects.
  public enum Stage: String, Sendable {
    /// Objects received.
    case receiving = "Receiving objects:"
    /// Objects sent.
    case sending = "Writing objects:"
  }

  /// The stage that git reported last; nil before the first.
  public private(set) var stage: Stage?
  /// How many objects are done, and how many there are.
  public private(set) var done = 0
  public private(set) var total = 0
  /// The bytes transferred so far, as git rounds and reports them; for received objects, the bytes
  /// on the disk.
  public internal(set) var bytes = 0
  /// The last lines that are not progress, without passwords: if an address fails, git prints it with its
  /// password.
  public var complaint: [String] {
    said[oldest...].map(AddressText.withoutSecrets)
      + said[..<oldest].map(AddressText.withoutSecrets)
  }

  /// The last lines, in a ring buffer: a server may send millions.
  private var said: [String] = []
  /// The position of the oldest line in `said`.
  private var oldest = 0
  private var rest: [UInt8] = []
  private static let (mostLines, longestLine) = (64, 4_096)

  init() {}

  mutating func read(_ piece: [UInt8]) {
    for byte in piece {
      if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
        finish()
      } else if rest.count < Self.longestLine {
        rest.append(byte)
      }
    }
  }

  /// Treats the unfinished last line as complete.
  mutating func finish() {
    if rest.isEmpty { return }
    let line = String(decoding: rest, as: UTF8.self)
    rest.removeAll(keepingCapacity: true)
    let words = line.split(separator: " ")
    if words.isEmpty || take(words, of: line) { return }
    // The counts of the other side's git are not shown.
    if words.first == "remote:", line.contains("%") { return }
    if said.count < Self.mostLines {
      said.append(line)
    } else {
      said[oldest] = line
      oldest = (oldest + 1) % Self.mostLines
    }
  }

  /// Reads `Receiving objects:  45% (9/20), 1.20 MiB | 3.00 MiB/s`; false for any other line.
  private mutating func take(_ words: [Substring], of line: String) -> Bool {
    for stage in [Stage.receiving, .sending] where line.hasPrefix(stage.rawValue) {
      self.stage = stage
      if let counts = words.first(where: { $0.hasPrefix("(") }) {
        let numbers = counts.split { !$0.isNumber }.compactMap { Int($0) }
        if numbers.count == 2 { (done, total) = (numbers[0], numbers[1]) }
      }
      let units = ["bytes": 1.0, "KiB": 1024, "MiB": 1_048_576, "GiB": 1_073_741_824]
      for (number, unit) in zip(words, words.dropFirst()) {
        let unit = unit.filter { $0 != "," }
        guard let number = Double(number), let factor = units[unit] else { continue }
        // A server's lines are read here, too, and can contain any number.
        bytes = Int(exactly: (number * factor).rounded()).map { max(0, $0) } ?? bytes
        break
      }
      return true
    }
    // Lines that begin so are ordinary: `Enumerating objects: 5, done.`, `Total 3 (delta 1), ...`, `To URL`.
    return [
      "Enumerating", "Counting", "Compressing", "Delta", "Resolving", "Unpacking", "Total", "From",
      "To", "POST",
    ].contains(words[0].description)
  }
}
