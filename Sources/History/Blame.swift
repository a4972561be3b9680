public import Git
internal import Merge
internal import System
internal import WorkTree

/// A line of a note, and its origin.
public struct BlamedLine: Sendable {
  /// The kinds of origin.
  public enum Origin: Hashable, Sendable {
    /// The version that wrote the line.
    case version(ObjectID)
    /// The line is in the folder and not in any version.
    case unsaved
    /// A marker of an open conflict: it has no author.
    case marker
    /// The line is in an altered merge, and in none of the merged versions, so it has no author. The version on
    /// top vouches for it.
    case alteredMerge(ObjectID, endorsedBy: ObjectID?)
  }

  /// The line's origin.
  public let origin: Origin
  /// The line's bytes without its newline: a part of the note, which may be large.
  public let slice: ArraySlice<UInt8>
  /// A copy of the line's bytes.
  public var bytes: [UInt8] { Array(slice) }
}

extension History {
  /// The author of each line of a note, as it is in a version or else in the folder: notes-blame(1).
  /// Throws `notText` for a file with NUL bytes, and `tooManyLines` for a file over the limit of lines.
  public func blame(_ path: TreePath, at version: NoteVersion? = nil) throws -> [BlamedLine] {
    let text = try version.map(self.text) ?? workTree.text(of: path)
    if text.firstIndex(of: 0, from: 0) != nil { throw HistoryError.notText(path) }
    guard text.count(where: { $0 == UInt8(ascii: "\n") }) < NumberedLines.most else {
      throw HistoryError.tooManyLines(path, limit: NumberedLines.most)
    }
    guard let (table, tip) = try historyTable() else { return Blame.unsaved(text) }
    var start = tip
    if let version {
      guard let position = table.firstIndex(of: version.commit.id) else {
        throw HistoryError.notInVersion(path, version.commit.id)
      }
      start = position
    }
    guard let name = table.paths.firstIndex(of: (version?.path ?? path).bytes),
      let blob = table.blob(of: name, at: start)
    else { return Blame.unsaved(text) }
    let check = MergeCheck(of: self)
    defer { check.remember() }
    var blame = Blame(
      table: table, order: order(of: table, from: tip), repository: repository, check: check)
    return try blame.lines(of: text, stored: blob, named: name, at: start)
  }
}

/// A search for the versions that wrote the lines of a note. Each line moves from a version to a parent that
/// also has it; if no parent has it, that version wrote it. The history table helps to skip versions that did
/// not change the note.
private struct Blame {
  let table: HistoryTable
  let order: VersionOrder
  let repository: Repository
  let check: MergeCheck

  /// A line's number in a version, and in the text to explain.
  typealias Line = (there: Int, asked: Int)

  /// The lines to explain at one version of the note, ascending.
  struct Suspicion {
    let version: Int
    let path: Int
    var lines: [Line]
  }

  var numbers = LineNumbers()
  var known: [ObjectID: NumberedLines] = [:]
  var waiting: [Suspicion] = []
  var origins: [BlamedLine.Origin] = []

  static func unsaved(_ text: [UInt8]) -> [BlamedLine] {
    lines(of: text).map { BlamedLine(origin: .unsaved, slice: $0) }
  }

  private static func lines(of text: [UInt8]) -> [ArraySlice<UInt8>] {
    var lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines
  }

  /// - Parameter blob: the note as the version has it.
  mutating func lines(
    of text: [UInt8], stored blob: ObjectID, named path: Int, at version: Int
  ) throws -> [BlamedLine] {
    let lines = Self.lines(of: text)
    origins = Array(repeating: .unsaved, count: lines.count)
    let present = numbers.lines(of: text)
    let stored = try numbers(of: blob)
    let (found, _) = pass(lines.indices.map { ($0, $0) }, from: present, to: stored)
    suspect(version, path, found)
    // Visits children before parents, so that a version is examined only when all its lines are known.
    while let place = waiting.indices.max(by: { waiting[$0].version < waiting[$1].version }) {
      try explain(waiting.remove(at: place))
    }
    return zip(lines, origins).map { BlamedLine(origin: $1, slice: $0) }
  }

  private mutating func numbers(of blob: ObjectID) throws -> NumberedLines {
    if let lines = known[blob] { return lines }
    let lines = numbers.lines(of: try repository.blob(blob))
    known[blob] = lines
    return lines
  }

  /// Drops cached lines if there are too many; returns whether it did. Line numbers given before
  /// are then invalid.
  private mutating func forgetIfMany() -> Bool {
    guard numbers.count > LineNumbers.mostKept else { return false }
    (numbers, known) = (LineNumbers(), [:])
    return true
  }

  private func pass(
    _ lines: [Line], from new: NumberedLines, to old: NumberedLines
  ) -> (found: [Line], rest: [Line]) {
    var found: [Line] = []
    var rest: [Line] = []
    let hunks = LineMatching.hunks(from: old.numbers, to: new.numbers)
    var next = 0
    var shift = 0
    for line in lines {
      while next < hunks.count, hunks[next].b.upperBound <= line.there {
        shift = hunks[next].a.upperBound - hunks[next].b.upperBound
        next += 1
      }
      if next < hunks.count, hunks[next].b.contains(line.there) {
        rest.append(line)
      } else {
        found.append((line.there + shift, line.asked))
      }
    }
    return (found, rest)
  }

  /// Lets lines that a note has at `version` wait at the version that wrote that text of the note.
  private mutating func suspect(_ version: Int, _ path: Int, _ lines: [Line]) {
    guard !lines.isEmpty, let maker = table.maker(of: path, at: version) else { return }
    if let place = waiting.firstIndex(where: { $0.version == maker && $0.path == path }) {
      waiting[place].lines = (waiting[place].lines + lines).sorted { $0.there < $1.there }
    } else {
      waiting.append(Suspicion(version: maker, path: path, lines: lines))
    }
  }

  private mutating func explain(_ suspicion: Suspicion) throws {
    let version = suspicion.version
    guard let change = table.change(of: suspicion.path, in: version),
      let blob = table.new(ofChange: change)
    else { return }
    var sources: [(parent: Int, path: Int, blob: ObjectID)] = []
    for (position, place) in table.parents(of: version).enumerated() {
      let parent = table.parents.number(place)
      let path = table.former(of: suspicion.path, in: version, parent: position, change: change)
      let before = position == 0 ? table.old(ofChange: change) : table.blob(of: path, at: parent)
      if let before { sources.append((parent, path, before)) }
    }
    if let same = sources.first(where: { $0.blob == blob }) {
      suspect(same.parent, same.path, suspicion.lines)
      return
    }
    _ = forgetIfMany()
    var mine = try numbers(of: blob)
    var rest = suspicion.lines
    for source in sources where !rest.isEmpty {
      if forgetIfMany() { mine = try numbers(of: blob) }
      let theirs = try numbers(of: source.blob)
      let (found, left) = pass(rest, from: mine, to: theirs)
      suspect(source.parent, source.path, found)
      rest = left
    }
    if rest.isEmpty { return }
    if table.isDerived(version) {
      try explainMerged(rest, of: suspicion, blob, sources.map { ($0.parent, $0.path) })
    } else {
      for line in rest { origins[line.asked] = .version(table.id(of: version)) }
    }
  }

  /// Explains the lines that only a derived merge has: markers, and lines merged from several heads, which
  /// count as the newest head's.
  private mutating func explainMerged(
    _ lines: [Line], of suspicion: Suspicion, _ blob: ObjectID,
    _ sources: [(parent: Int, path: Int)]
  ) throws {
    let commit = try repository.commit(table.id(of: suspicion.version))
    let lines = try leftOfAlteration(of: commit, lines, table.path(suspicion.path), blob)
    let size = MergeTrailers(message: commit.message).conflicts[table.path(suspicion.path)]
    let markers = try size.map { size in
      Self.markerLines(of: try repository.blob(blob), markerSize: size)
    }
    let makers = sources.compactMap { table.maker(of: $0.path, at: $0.parent) }
    let newest = makers.max { order.isNewer($1, than: $0) } ?? suspicion.version
    let merged = try numbers(of: blob)
    for line in lines {
      origins[line.asked] =
        markers?.contains(merged.place(of: line.there)) == true
        ? .marker : .version(table.id(of: newest))
    }
  }

  /// The lines that are also in the computed merge of a merge's versions. The other lines get their
  /// origin here.
  private mutating func leftOfAlteration(
    of commit: Commit, _ lines: [Line], _ path: TreePath, _ blob: ObjectID
  ) throws -> [Line] {
    guard case .altered(let altered) = try check.verdict(on: commit),
      let change = altered.changes.first(where: { $0.path == path })
    else { return lines }
    _ = forgetIfMany()
    let expected = try change.old.map { try numbers(of: $0) } ?? NumberedLines()
    let (found, left) = pass(lines, from: try numbers(of: blob), to: expected)
    for line in left {
      origins[line.asked] = .alteredMerge(commit.id, endorsedBy: altered.endorsedBy)
    }
    let kept = Set(found.map(\.asked))
    return lines.filter { kept.contains($0.asked) }
  }

  private static func markerLines(of text: [UInt8], markerSize: Int) -> Set<Int> {
    var markers: Set<Int> = []
    var line = 0
    for piece in MarkedText(text, markerSize: markerSize).pieces {
      switch piece {
      case .text(let text): line += lines(of: Array(text)).count
      case .block(let sides, let source):
        var marker = line
        markers.insert(marker)
        for side in sides {
          marker += lines(of: side.text).count + 1
          markers.insert(marker)
        }
        line += lines(of: Array(source)).count
      }
    }
    return markers
  }
}
