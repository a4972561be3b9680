internal import Git

/// Finds parts of a text in the versions of a note before and after those with the whole text: a watcher saves
/// while people type, and a text may be deleted gradually. notes-forget(1), "Parts".
///
/// A line has a part of the text if it replaces, in the version before or after, a line with the text or a part
/// of it: both lines have the same beginning, followed by the beginning of the text; or the same end, after the
/// end of the text. The part must have at least 4 bytes.
struct TextPieces {
  private struct Line: Hashable {
    let blob: ObjectID
    /// The parts of the line before and after the text.
    let before: [UInt8]
    let behind: [UInt8]
    /// The bytes of the line.
    let bytes: [UInt8]
  }

  private let text: [UInt8]
  private let content: (ObjectID) throws -> [UInt8]
  /// The blobs directly before or after each blob.
  private var neighbours: [ObjectID: Set<ObjectID>] = [:]

  /// - Parameter content: returns the content of a blob; empty if it is not text.
  init(of text: [UInt8], content: @escaping (ObjectID) throws -> [UInt8]) {
    (self.text, self.content) = (text, content)
  }

  /// Records that a version changed one blob into another.
  mutating func add(_ old: ObjectID, _ new: ObjectID) {
    neighbours[old, default: []].insert(new)
    neighbours[new, default: []].insert(old)
  }

  /// For each blob, the lines with one of the parts, and the rest of each line.
  func found() throws -> [ObjectID: [[UInt8]: [UInt8]]] {
    // The parts of a text of several lines cannot be found.
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
          // A line that both have only corresponds to itself.
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

  /// The lines with the whole text.
  private func holders(in content: [UInt8], _ blob: ObjectID) -> [Line] {
    LineCut.lines(of: content).compactMap { line in
      line.firstRange(of: text).map {
        Line(
          blob: blob, before: Array(line[..<$0.lowerBound]), behind: Array(line[$0.upperBound...]),
          bytes: line)
      }
    }
  }

  /// The rest of a line without its part of the text; nil if it has no part.
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
