internal import History
internal import Notebook

struct MatchedText {
  private static let match = Style.boldRed
  private var pieces: [Styled] = []

  init(_ line: SearchLine) { self.init(line.bytes, matches: line.matches) }

  /// - Parameter matches: ranges of bytes, by place and apart.
  init(_ bytes: [UInt8], matches: [Range<Int>]) {
    func add(_ range: Range<Int>, isMatch: Bool) {
      guard !range.isEmpty else { return }
      let text = String(decoding: bytes[range], as: UTF8.self)
      let visible = Visible.text(text.replacingTabs())
      pieces.append(Styled(visible, isMatch ? Self.match : nil))
    }
    var position = 0
    for match in matches {
      add(position..<match.lowerBound, isMatch: false)
      add(match, isMatch: true)
      position = match.upperBound
    }
    add(position..<bytes.count, isMatch: false)
  }

  /// The line with its matches painted; one wider than the terminal is cut on both sides such that
  /// its first match is in sight.
  func shown(on terminal: Terminal, width: Int?) -> String {
    let pieces = width.map { cut(to: max(10, $0)) } ?? pieces
    return pieces.map { terminal.paint($0) }.joined()
  }

  private func cut(to width: Int) -> [Styled] {
    let whole = pieces.reduce(0) { $0 + Width.of($1.text) }
    guard whole > width else { return pieces }
    var cut = pieces
    let first = pieces.firstIndex { $0.style == Self.match } ?? 0
    let before = pieces[..<first].reduce(0) { $0 + Width.of($1.text) }
    let match = first < pieces.count ? Width.of(pieces[first].text) : 0
    // Only as much goes at the left as brings the match into sight with some words before it.
    if before + match > width - 1 {
      let kept = max(0, min(width / 3, width - 2 - match))
      cut = Self.last(kept, of: Array(pieces[..<first])) + pieces[first...]
      cut.insert(Styled("…"), at: 0)
    }
    return Self.first(width, of: cut)
  }

  private static func first(
    _ columns: Int, of pieces: [Styled]
  ) -> [Styled] {
    var left = columns
    var kept: [Styled] = []
    let widths = pieces.map { Width.of($0.text) }
    for (position, piece) in pieces.enumerated() {
      // What follows needs room too, if only for the ellipsis.
      let follows = position + 1 < pieces.count
      if widths[position] < left || (widths[position] == left && !follows) {
        kept.append(piece)
        left -= widths[position]
      } else {
        kept.append(Styled(Width.cut(piece.text + (follows ? "…" : ""), to: left), piece.style))
        return kept
      }
    }
    return kept
  }

  private static func last(
    _ columns: Int, of pieces: [Styled]
  ) -> [Styled] {
    var kept: [Character] = []
    var left = columns
    for character in pieces.map(\.text).joined().reversed() {
      left -= Width.of(character)
      if left < 0 { break }
      kept.append(character)
    }
    return [Styled(String(kept.reversed()))]
  }
}

extension String {
  /// The text with a space for each tab: what stands in columns has no tab stops.
  fileprivate func replacingTabs() -> String {
    contains("\t") ? String(map { $0 == "\t" ? " " : $0 }) : self
  }
}
