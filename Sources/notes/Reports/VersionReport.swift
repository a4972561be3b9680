internal import Git
internal import Notebook

/// One version as the log tells it.
struct VersionReport {
  private struct Line {
    let change: VersionChange
    /// Lines added and removed; nil where they were not counted, or for what is not text.
    let counts: (added: Int, removed: Int)?
  }

  private let version: Version
  private let lines: [Line]
  private let trailers: MergeTrailers

  /// - Parameter limit: for how many changed files the lines are counted; all by default.
  init(_ version: Version, in notebook: Notebook, lineCounts limit: Int = .max) throws {
    self.version = version
    trailers = MergeTrailers(message: version.commit.message)
    lines = try version.changes.enumerated().map { position, change in
      guard position < limit else { return Line(change: change, counts: nil) }
      let old = try change.old.map { try notebook.repository.blob($0) } ?? []
      let new = try change.new.map { try notebook.repository.blob($0) } ?? []
      let diff = LineDiff(from: old, to: new, context: 0)
      return Line(change: change, counts: diff.isBinary ? nil : (diff.added, diff.removed))
    }
  }

  /// Whether a derived merge did more than put edits of different places together.
  static func settledSomething(_ version: Version) -> Bool {
    let trailers = MergeTrailers(message: version.commit.message)
    return !trailers.conflicts.isEmpty || !trailers.merged.isEmpty
  }

  var json: JSON {
    let commit = version.commit
    return [
      "id": .id(commit.id), "parents": .array(commit.parents.map(JSON.id)),
      "author": .string(commit.author.name), "device": .optional(version.deviceID),
      "time": .string(TimeText.rfc3339(commit.author.time, offset: commit.author.offset)),
      "message": .string(version.subject), "derived": .bool(version.isDerived),
      "changes": .array(
        lines.map { line in
          [
            "path": .path(line.change.path), "kind": .string(line.change.kind.rawValue),
            "former_path": line.change.formerPath.map(JSON.path) ?? .null,
            "added": .optional(line.counts?.added), "removed": .optional(line.counts?.removed),
          ]
        }),
      "conflicts": .array(trailers.conflicts.keys.sorted().map(JSON.path)),
      "merged": .array(
        trailers.merged.sorted { $0.key < $1.key }.map { path, rules in
          ["path": .path(path), "rules": .array(rules.ruleNames.map(JSON.string))]
        }),
    ]
  }

  /// - Parameter now: what relative times count from.
  func text(on terminal: Terminal, now: Int64, limit: Int = 10) -> String {
    let commit = version.commit
    let author = version.isDerived ? "merged by notes" : Visible.name(commit.author.name)
    var text = terminal.paint(commit.id.short, .yellow)
    text += "  " + terminal.paint(Visible.name(version.subject), .bold) + "\n"
    text +=
      "  "
      + terminal.paint(
        author + ", " + TimeText.relative(commit.author.time, now: now), .dim) + "\n"
    var table = Table(flexible: 1, indent: "  ")
    for line in lines.prefix(limit) {
      table.add([
        ChangeWord.cell(line.change.kind), Table.Cell(Self.name(of: line.change)),
        Table.Cell(Self.counts(line.counts), .dim),
      ])
    }
    for path in trailers.conflicts.keys.sorted().prefix(limit) {
      table.add([Table.Cell("conflict", .boldYellow), Table.Cell(Visible.name(path))])
    }
    for (path, rules) in trailers.merged.sorted(by: { $0.key < $1.key }).prefix(limit) {
      table.add([
        Table.Cell("merged", .cyan), Table.Cell(Visible.name(path)),
        Table.Cell(rules.phrase, .dim),
      ])
    }
    text += table.lines(for: terminal).map { $0 + "\n" }.joined()
    if lines.count > limit {
      text += "  and \(Counted.things(lines.count - limit, "file")) more\n"
    }
    return text
  }

  private static func name(of change: VersionChange) -> String {
    let name = Visible.name(change.path)
    return change.formerPath.map { "\(Visible.name($0)) → \(name)" } ?? name
  }

  private static func counts(_ counts: (added: Int, removed: Int)?) -> String {
    guard let counts else { return "" }
    return [(counts.added, "+"), (counts.removed, "−")].filter { $0.0 > 0 }
      .map { $0.1 + Counted.grouped($0.0) }.joined(separator: " ")
  }
}

extension MergeRules {
  private static let named: [(rule: MergeRules, word: String, phrase: String)] = [
    (.joinedInsertions, "joined", "both additions kept"),
    (.touchingLines, "lines", "neighbouring lines"),
    (.sentences, "sentences", "by sentences"),
    (MergeRules.words, "words", "by words"),
  ]

  /// The rules' names for programs.
  var ruleNames: [String] { Self.named.filter { contains($0.rule) }.map(\.word) }

  /// The rules for people.
  var phrase: String {
    Self.named.filter { contains($0.rule) }.map(\.phrase).joined(separator: ", ")
  }
}
