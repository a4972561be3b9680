internal import History

extension Styled {
  /// The line as lines of at most `width` columns, broken at spaces if there are any.
  func wrapped(to width: Int) -> [Styled] {
    guard width > 0, Width.of(text) > width else { return [self] }
    var lines: [Styled] = []
    var rest = text[...]
    while true {
      var columns = 0
      let fitting = rest.prefix { character in
        columns += Width.of(character)
        return columns <= width
      }
      var end = fitting.isEmpty ? rest.dropFirst().startIndex : fitting.endIndex
      guard end < rest.endIndex else { return lines + [Styled(String(rest), style)] }
      // The space at a line break is not shown.
      let isSpace = rest[end] == " "
      if !isSpace, let space = rest[..<end].lastIndex(of: " ") { end = rest.index(after: space) }
      lines.append(Styled(String(rest[..<end]), style))
      rest = rest[end...].dropFirst(isSpace ? 1 : 0)
    }
  }

  /// The longest text that a pane shows, in bytes: hours of reading, and quick to wrap.
  static let sizeLimit = 1 << 20

  static func lines(of text: [UInt8]) -> [Styled] {
    if text.contains(0) { return [Styled("not text: \(Phrase.bytes(text.count))", .dim)] }
    var lines = text.prefix(sizeLimit).split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
    ).map { Styled(visible($0)) }
    if text.last == UInt8(ascii: "\n"), text.count <= sizeLimit { lines.removeLast() }
    if text.count > sizeLimit {
      lines.append(Styled("… and \(Phrase.bytes(text.count - sizeLimit)) more", .dim))
    }
    return lines.isEmpty ? [Styled("(empty)", .dim)] : lines
  }

  /// A version's change of a note; nil if the note did not exist.
  static func lines(from old: [UInt8]?, to new: [UInt8]?) -> [Styled] {
    if (old?.count ?? 0) + (new?.count ?? 0) > 2 * sizeLimit {
      return [Styled("too large to compare here; 'notes diff' compares it", .dim)]
    }
    let diff = LineDiff(from: old ?? [], to: new ?? [])
    if diff.isBinary { return [Styled("not text", .dim)] }
    var lines: [Styled] = []
    if old == nil { lines.append(Styled("added", .dim)) }
    if new == nil { lines.append(Styled("deleted", .dim)) }
    if old != nil, new != nil, diff.hunks.isEmpty { lines.append(Styled("same text", .dim)) }
    for hunk in diff.hunks {
      lines.append(Styled("@@ line \(hunk.new.lowerBound + 1) @@", .cyan))
      for line in hunk.lines {
        lines.append(Styled(line.kind.sign + visible(line.slice), line.kind.style))
      }
    }
    return lines
  }

  /// A line with control characters made visible; tab stops are every eight columns.
  private static func visible(_ bytes: ArraySlice<UInt8>) -> String {
    let line = bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes
    let text = String(decoding: line, as: UTF8.self)
    guard text.utf8.contains(UInt8(ascii: "\t")) else { return Visible.name(text) }
    var shown = ""
    let parts = text.split(separator: "\t", omittingEmptySubsequences: false)
    for (position, part) in parts.enumerated() {
      if position > 0 { shown += String.spaces(8 - Width.of(shown) % 8) }
      shown += Visible.name(String(part))
    }
    return shown
  }
}
