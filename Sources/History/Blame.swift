public import Git
internal import Merge
internal import WorkTree

/// A line of a note, and where it comes from.
public struct BlamedLine: Sendable {
  /// Where a line can come from.
  public enum Origin: Hashable, Sendable {
    /// The version that wrote it.
    case version(ObjectID)
    /// It is in the folder and in no version.
    case unsaved
    /// A marker of an open conflict: nobody wrote it.
    case marker
  }

  /// Where it comes from.
  public let origin: Origin
  /// The line's bytes without its newline.
  public let bytes: [UInt8]
}

extension History {
  /// Who wrote each line of a note: notes-blame(1).
  ///
  /// - Parameter version: of this version's text; of the folder's by default.
  /// - Throws: `notText` for a file that holds NUL bytes.
  public func blame(_ path: TreePath, at version: NoteVersion? = nil) throws -> [BlamedLine] {
    let text = try version.map(self.text) ?? workTree.text(of: path)
    if text.contains(0) { throw NotebookError.notText(path) }
    guard let (table, tip) = try historyTable() else { return Blame.unsaved(text) }
    let name = table.paths.firstIndex(of: (version?.path ?? path).bytes)
    var start = tip
    if let version {
      guard let position = table.firstIndex(of: version.commit.id) else {
        throw NotebookError.notInVersion(path, version.commit.id)
      }
      start = position
    }
    guard let name, table.blob(of: name, at: start) != nil else { return Blame.unsaved(text) }
    var blame = Blame(table: table, repository: repository)
    return try blame.lines(of: text, named: name, at: start)
  }
}

/// A search for the versions that wrote the lines of a note.
///
/// Each line goes from a version to the parent that has it too, until there is none: then the version
/// wrote it. Versions that did not change the note are passed over by the table's numbers.
private struct Blame {
  let table: HistoryTable
  let repository: Repository

  /// The lines to be explained at one version of the note.
  private struct Suspicion {
    let version: Int
    let path: UInt32
    /// Where they stand there, ascending, and in the text that was asked about.
    var lines: [(there: Int, asked: Int)]
  }

  private var numbers = LineTable()
  private var known: [ObjectID: [Int32]] = [:]
  private var waiting: [Suspicion] = []
  private var origins: [BlamedLine.Origin] = []

  init(table: HistoryTable, repository: Repository) {
    self.table = table
    self.repository = repository
  }

  static func unsaved(_ text: [UInt8]) -> [BlamedLine] {
    lines(of: text).map { BlamedLine(origin: .unsaved, bytes: Array($0)) }
  }

  private static func lines(of text: [UInt8]) -> [ArraySlice<UInt8>] {
    var lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines
  }

  mutating func lines(of text: [UInt8], named path: UInt32, at version: Int) throws
    -> [BlamedLine]
  {
    let lines = Self.lines(of: text)
    origins = Array(repeating: .unsaved, count: lines.count)
    let present = numbers.lines(of: text)
    guard let blob = table.blob(of: path, at: version) else { return Self.unsaved(text) }
    let stored = try numbers(of: blob)
    let (found, _) = pass(lines.indices.map { ($0, $0) }, from: present, to: stored)
    suspect(version, path, found)
    while let next = takeNewest() { try explain(next) }
    return zip(lines, origins).map { BlamedLine(origin: $1, bytes: Array($0)) }
  }

  private mutating func numbers(of blob: ObjectID) throws -> [Int32] {
    if let lines = known[blob] { return lines }
    let lines = numbers.lines(of: try repository.blob(blob))
    known[blob] = lines
    return lines
  }

  /// The lines that the older text has too, with their places there, and the rest.
  private func pass(
    _ lines: [(there: Int, asked: Int)], from new: [Int32], to old: [Int32]
  ) -> (found: [(there: Int, asked: Int)], rest: [(there: Int, asked: Int)]) {
    var found: [(there: Int, asked: Int)] = []
    var rest: [(there: Int, asked: Int)] = []
    let hunks = LineMatching.hunks(from: old, to: new)
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

  /// Lines of a note at a version wait at the version that made the note so.
  private mutating func suspect(
    _ version: Int, _ path: UInt32, _ lines: [(there: Int, asked: Int)]
  ) {
    guard !lines.isEmpty, let maker = maker(of: path, at: version) else { return }
    if let place = waiting.firstIndex(where: { $0.version == maker && $0.path == path }) {
      waiting[place].lines = (waiting[place].lines + lines).sorted { $0.there < $1.there }
    } else {
      waiting.append(Suspicion(version: maker, path: path, lines: lines))
    }
  }

  /// The nearest version on the line of first parents that changed the file.
  private func maker(of path: UInt32, at version: Int) -> Int? {
    var current: Int? = version
    while let version = current, table.change(of: path, in: version) == nil {
      current = table.firstParent(of: version)
    }
    return current
  }

  /// Children before parents, so that all lines of a version have arrived when it is looked at.
  private mutating func takeNewest() -> Suspicion? {
    let place = waiting.indices.max { waiting[$0].version < waiting[$1].version }
    return place.map { waiting.remove(at: $0) }
  }

  private mutating func explain(_ suspicion: Suspicion) throws {
    let version = suspicion.version
    guard let change = table.change(of: suspicion.path, in: version),
      let blob = table.newBlob(of: change)
    else { return }
    var sources: [(parent: Int, path: UInt32, blob: ObjectID)] = []
    for (position, parent) in table.parentRange(of: version).enumerated() {
      let parent = Int(table.parents[parent])
      let path = table.former(
        of: suspicion.path, in: version, parent: position, change: change)
      let before = position == 0 ? table.oldBlob(of: change) : table.blob(of: path, at: parent)
      if let before { sources.append((parent, path, before)) }
    }
    if let same = sources.first(where: { $0.blob == blob }) {
      suspect(same.parent, same.path, suspicion.lines)
      return
    }
    let mine = try numbers(of: blob)
    var rest = suspicion.lines
    for source in sources where !rest.isEmpty {
      let theirs = try numbers(of: source.blob)
      let (found, left) = pass(rest, from: mine, to: theirs)
      suspect(source.parent, source.path, found)
      rest = left
    }
    if rest.isEmpty { return }
    if table.isDerived(version) {
      try explainMerged(rest, of: suspicion, blob, sources.map { ($0.parent, $0.path) })
    } else {
      assign(version, to: rest)
    }
  }

  /// What only a derived merge has: markers, and lines put together from several heads, which count
  /// as the newest's.
  private mutating func explainMerged(
    _ lines: [(there: Int, asked: Int)], of suspicion: Suspicion, _ blob: ObjectID,
    _ sources: [(parent: Int, path: UInt32)]
  ) throws {
    let commit = try repository.commit(table.id(of: suspicion.version))
    let size = MergeTrailers(message: commit.message).conflicts[table.path(suspicion.path)]
    let texts = try size.map { size in
      Self.markerLines(of: try repository.blob(blob), markerSize: size)
    }
    let makers = sources.compactMap { maker(of: $0.path, at: $0.parent) }
    let newest = makers.max { table.isNewer($1, than: $0) } ?? suspicion.version
    for line in lines {
      if texts?.contains(line.there) == true {
        origins[line.asked] = .marker
      } else {
        assign(newest, to: [line])
      }
    }
  }

  /// Which lines of a text are markers of its blocks.
  private static func markerLines(of text: [UInt8], markerSize: Int) -> Set<Int> {
    var markers: Set<Int> = []
    var line = 0
    for piece in MarkedText(text, markerSize: markerSize).pieces {
      switch piece {
      case .text(let text): line += lines(of: text).count
      case .block(let sides, let source):
        markers.insert(line)
        var inside = line + 1
        for side in sides {
          inside += lines(of: side.text).count
          markers.insert(inside)
          inside += 1
        }
        line += lines(of: source).count
      }
    }
    return markers
  }

  private mutating func assign(_ version: Int, to lines: [(there: Int, asked: Int)]) {
    for line in lines { origins[line.asked] = .version(table.id(of: version)) }
  }
}
