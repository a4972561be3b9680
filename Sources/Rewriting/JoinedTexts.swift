extension Placeholder {
  /// The rest of a text from which two parts were removed, found from two copies that each lack one of them; nil
  /// if these are not copies of one text.
  static func rest(of own: [UInt8], and other: [UInt8]) -> [UInt8]? {
    if own == other || takes(place: own, of: other) { return own }
    if takes(place: other, of: own) { return other }
    var (first, second) = (Token.tokens(of: own)[...], Token.tokens(of: other)[...])
    var (before, behind): ([Token], [Token]) = ([], [])
    while let token = first.first, token == second.first {
      before.append(token)
      (first, second) = (first.dropFirst(), second.dropFirst())
    }
    while let token = first.last, token == second.last {
      behind.append(token)
      (first, second) = (first.dropLast(), second.dropLast())
    }
    guard let middle = JoinedTokens(Array(first), Array(second)).rest() else { return nil }
    return (before + middle + behind.reversed()).flatMap(\.bytes)
  }

  /// A byte, or a placeholder.
  fileprivate enum Token: Hashable {
    case byte(UInt8)
    case placeholder

    var bytes: [UInt8] {
      switch self {
      case .byte(let byte): [byte]
      case .placeholder: Placeholder.bytes
      }
    }

    static func tokens(of text: [UInt8]) -> [Token] {
      Array(
        text.split(byPart: Placeholder.bytes).map { $0.map(Token.byte) }.joined(separator: [
          .placeholder
        ]))
    }
  }

  /// Two texts that are aligned, so that each placeholder of one represents something in the other.
  private struct JoinedTokens {
    private let own: [Token]
    private let other: [Token]
    /// The most pairs of positions that are compared.
    private static let most = 1 << 22

    init(_ own: [Token], _ other: [Token]) { (self.own, self.other) = (own, other) }

    /// The step from a pair of positions towards the end of both.
    private enum Step: UInt8 {
      case none, both, own, other
    }

    func rest() -> [Token]? {
      let (rows, columns) = (own.count + 1, other.count + 1)
      guard rows * columns <= Self.most else { return nil }
      // For each pair of positions, whether the ends can be reached: from outside of placeholders, and from
      // within the content of a placeholder of the first or the second text.
      var free = [Step](repeating: .none, count: rows * columns)
      var inOwn = [Step](repeating: .none, count: rows * columns)
      var inOther = inOwn
      for i in (0..<rows).reversed() {
        for j in (0..<columns).reversed() {
          let here = i * columns + j
          let isEnd = i == own.count && j == other.count
          // The placeholder ends here, or includes one more element.
          func within(_ more: Int?, _ table: [Step], _ step: Step) -> Step {
            if isEnd || free[here] != .none { return .both }
            return more.map { table[$0] != .none } == true ? step : .none
          }
          if i < own.count, j < other.count, own[i] == other[j], isEndOrReaches(free, i + 1, j + 1)
          {
            free[here] = .both
          } else if i < own.count, own[i] == .placeholder, j < other.count,
            inOwn[(i + 1) * columns + j + 1] != .none
          {
            free[here] = .own
          } else if j < other.count, other[j] == .placeholder, i < own.count,
            inOther[(i + 1) * columns + j + 1] != .none
          {
            free[here] = .other
          }
          inOwn[here] = within(j < other.count ? here + 1 : nil, inOwn, .own)
          inOther[here] = within(i < own.count ? here + columns : nil, inOther, .other)
        }
      }
      return path(free, inOwn, inOther)
    }

    private func isEndOrReaches(_ free: [Step], _ i: Int, _ j: Int) -> Bool {
      i == own.count && j == other.count || free[i * (other.count + 1) + j] != .none
    }

    private func path(_ free: [Step], _ inOwn: [Step], _ inOther: [Step]) -> [Token]? {
      let columns = other.count + 1
      var (i, j) = (0, 0)
      var rest: [Token] = []
      while i < own.count || j < other.count {
        switch free[i * columns + j] {
        case .none: return nil
        case .both:
          rest.append(own[i])
          (i, j) = (i + 1, j + 1)
        case .own:
          rest.append(.placeholder)
          (i, j) = (i + 1, j + 1)
          while inOwn[i * columns + j] == .own { j += 1 }
        case .other:
          rest.append(.placeholder)
          (i, j) = (i + 1, j + 1)
          while inOther[i * columns + j] == .other { i += 1 }
        }
      }
      return rest
    }
  }
}
