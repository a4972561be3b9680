internal import System

/// The progress and the complaints that git writes to standard error.
public struct GitProgress: Sendable {
  /// The things that git counts.
  public enum Stage: String, Sendable {
    /// Objects that come.
    case receiving = "Receiving objects:"
    /// Objects that go.
    case sending = "Writing objects:"
  }

  /// The stage that it counted last; nil before.
  public private(set) var stage: Stage?
  /// How many objects are done, and how many there are.
  public private(set) var done = 0
  public private(set) var total = 0
  /// How many bytes went over by that, as git rounds them and tells now and then; of what comes, as many as
  /// are here.
  public internal(set) var bytes = 0
  /// The lines that are no progress, the last ones of many. git names the address that failed, with all that is
  /// in it; these lines have no passwords.
  public var complaint: [String] {
    said[oldest...].map(AddressText.withoutSecrets)
      + said[..<oldest].map(AddressText.withoutSecrets)
  }

  /// The last lines, in a ring: a server may say millions.
  private var said: [String] = []
  /// The place of the oldest line in `said`.
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

  /// Takes what came last for a whole line.
  mutating func finish() {
    if rest.isEmpty { return }
    let line = String(decoding: rest, as: UTF8.self)
    rest.removeAll(keepingCapacity: true)
    let words = line.split(separator: " ")
    if words.isEmpty || take(words, of: line) { return }
    // The counts of the other side's git are not ours to tell.
    if words.first == "remote:", line.contains("%") { return }
    if said.count < Self.mostLines {
      said.append(line)
    } else {
      said[oldest] = line
      oldest = (oldest + 1) % Self.mostLines
    }
  }

  /// Reads `Receiving objects:  45% (9/20), 1.20 MiB | 3.00 MiB/s`; false where it is something else.
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
        // The lines of a server come here as well, and can name any number.
        bytes = Int(exactly: (number * factor).rounded()).map { max(0, $0) } ?? bytes
        break
      }
      return true
    }
    // `Enumerating objects: 5, done.`, `Total 3 (delta 1), ...`, `To URL`.
    return [
      "Enumerating", "Counting", "Compressing", "Delta", "Resolving", "Unpacking", "Total", "From",
      "To", "POST",
    ].contains(words[0].description)
  }
}
