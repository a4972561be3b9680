internal import Git

/// Finds parts of a text in the versions of a note around those that hold it: a watcher saves while people type, and
/// a text may go bit by bit. notes-forget(1), "Parts".
///
/// A line is a part's where it stands in the place of one that holds the text, or a part of it, in the version before
/// or after: it begins as that line does and goes on with the beginning of the text, or ends as that line does behind
/// the end of the text; 4 bytes of it or more.
struct TextPieces {
  private struct Line: Hashable {
    let blob: ObjectID
    /// The lines before and behind the text.
    let before: [UInt8]
    let behind: [UInt8]
    /// The line as it is.
    let bytes: [UInt8]
  }

  private let text: [UInt8]
  private let content: (ObjectID) throws -> [UInt8]
  /// The blobs that came before or after each.
  private var neighbours: [ObjectID: Set<ObjectID>] = [:]

  /// - Parameter content: the content of a blob; empty for one that is no text.
  init(of text: [UInt8], content: @escaping (ObjectID) throws -> [UInt8]) {
    (self.text, self.content) = (text, content)
  }

  /// Takes note that a version made one blob of another.
  mutating func add(_ old: ObjectID, _ new: ObjectID) {
    neighbours[old, default: []].insert(new)
    neighbours[new, default: []].insert(old)
  }

  /// By blob, lines and what is left of each.
  func found() throws -> [ObjectID: [[UInt8]: [UInt8]]] {
    // Of a text of several lines, no part is known from the whole.
    if text.contains(UInt8(ascii: "\n")) { return [:] }
    var waiting: [Line] = []
    for blob in neighbours.keys.sorted() {
      let content = try content(blob)
      if content.firstRange(of: text) == nil { continue }
      waiting += holders(in: content, blob)
    }
    var seen = Set(waiting)
    var found: [ObjectID: [[UInt8]: [UInt8]]] = [:]
    while let line = waiting.popLast() {
      let own = Set(LineCut.lines(of: try content(line.blob)))
      for blob in neighbours[line.blob, default: []].sorted() {
        for candidate in Set(LineCut.lines(of: try content(blob))) {
          let isSame = candidate == line.bytes
          // A line that both have is in the place of itself alone.
          guard isSame || !own.contains(candidate), candidate.firstRange(of: text) == nil,
            let rest = rest(of: candidate, line)
          else { continue }
          found[blob, default: [:]][candidate] = rest
          let next = Line(
            blob: blob, before: line.before, behind: line.behind, bytes: candidate)
          if seen.insert(next).inserted { waiting.append(next) }
        }
      }
    }
    return found
  }

  /// The lines that hold the whole text.
  private func holders(in content: [UInt8], _ blob: ObjectID) -> [Line] {
    LineCut.lines(of: content).compactMap { line in
      line.firstRange(of: text).map {
        Line(
          blob: blob, before: Array(line[..<$0.lowerBound]), behind: Array(line[$0.upperBound...]),
          bytes: line)
      }
    }
  }

  /// The rest of a line without its part of the text; nil if it has none.
  private func rest(of line: [UInt8], _ holder: Line) -> [UInt8]? {
    if line.starts(with: holder.before) {
      let tail = line.dropFirst(holder.before.count)
      let count = zip(tail, text).prefix { $0 == $1 }.count
      if count >= TextCut.shortest {
        return holder.before + Placeholder.bytes + Array(tail.dropFirst(count))
      }
    }
    guard line.reversed().starts(with: holder.behind.reversed()) else { return nil }
    let head = line.dropLast(holder.behind.count)
    let count = zip(head.reversed(), text.reversed()).prefix { $0 == $1 }.count
    guard count >= TextCut.shortest else { return nil }
    return Array(head.prefix(head.count - count)) + Placeholder.bytes + holder.behind
  }
}
