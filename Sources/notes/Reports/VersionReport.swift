internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Merge
internal import Notebook
internal import WorkTree

/// An entry of the log: a version, or a burst.
struct VersionReport {
  struct Style {
    var terminal: Terminal
    let now: Int64
    var isLong = false
    var isOfOneNote = false
    /// The versions that this device made.
    var own: Set<ObjectID> = []
    var sharedNames = SharedNames()
  }

  private struct Line {
    let change: VersionChange
    /// The numbers of lines added and removed; nil if they were not counted, or if a file is not
    /// text.
    let counts: (added: Int, removed: Int)?
    let gist: String
  }

  static let mostFiles = 10

  private let burst: Burst
  private let lines: [Line]
  private let trailers: MergeTrailers
  private let author: VersionAuthor?
  /// The device that vouches for it, if it is an altered merge.
  private let endorser: VersionAuthor?
  private let verdict: MergeVerdict?
  /// The remark if the author of the version, or of one in the burst, is not proved.
  private let mark: String?
  /// The authors of the version or burst: commits made with git may be signed by several people.
  private let names: [String]

  private var version: Version { burst.newest }

  /// - Parameter showsAuthor: whether to find out the author, which costs the check of a signature.
  init(
    _ burst: Burst, in notebook: Notebook, lineCounts limit: Int = .max, _ proofs: VersionProofs,
    showsAuthor: Bool = true
  ) throws {
    self.burst = burst
    verdict = try proofs.merges.verdict(on: burst.newest.commit)
    let altered = verdict?.alteration
    if showsAuthor {
      author = try proofs.author(of: burst.newest.commit)
      endorser = try altered?.endorsedBy.map(proofs.author)
      let made = try burst.versions.filter { !$0.isDerived }.map {
        try proofs.author(of: $0.commit)
      }
      names = made.map(\.name).eachOnce
      mark = altered == nil ? made.lazy.compactMap(\.mark).first : endorser?.mark
    } else {
      (author, endorser, mark, names) = (nil, nil, nil, [])
    }
    let trailers = MergeTrailers(message: burst.newest.commit.message)
    self.trailers = trailers
    lines = try (altered?.changes ?? burst.changes).enumerated().map { position, change in
      guard position < limit else { return Line(change: change, counts: nil, gist: "") }
      let old = try change.old.map { try notebook.repository.blob($0) } ?? []
      let new = try change.new.map { try notebook.repository.blob($0) } ?? []
      if LineDiff.hasTooManyLines(old, new) { return Line(change: change, counts: nil, gist: "") }
      let diff = LineDiff(from: old, to: new, context: 0)
      return Line(
        change: change, counts: diff.isBinary ? nil : (diff.added, diff.removed),
        gist: trailers.conflicts[change.path] == nil ? Gist.of(diff) : "")
    }
  }

  /// Whether a derived merge did more than combine edits of different places, or may have.
  static func settledSomething(_ version: Version, _ proofs: VersionProofs) throws -> Bool {
    switch try proofs.merges.verdict(on: version.commit) {
    case .altered, .unchecked: return true
    case .asComputed, nil: break
    }
    let trailers = MergeTrailers(message: version.commit.message)
    return !trailers.conflicts.isEmpty || !trailers.merged.isEmpty
  }

  var json: JSON { json(lines.map { change($0) }) }

  /// The JSON value, including the changes within each file.
  func json(patchIn notebook: Notebook) throws -> JSON {
    let plain = Terminal(isInteractive: false, width: nil, usesColour: false)
    return json(
      try lines.map { line in
        try change(line) + ["diff": FileDiff(line.change, in: notebook).words(for: plain)]
      })
  }

  private func json(_ changes: [JSON]) -> JSON {
    let commit = version.commit
    return [
      "type": "version", "id": commit.id, "parents": commit.parents,
      "author": verdict?.alteration == nil ? author?.name : nil,
      "author_then": verdict?.alteration == nil ? author?.claim : nil,
      "device": version.deviceID,
      "time": TimeText.rfc3339(commit.author.time, offset: commit.author.offset),
      "message": version.subject, "derived": version.isDerived,
      "changes": changes,
      "conflicts": trailers.conflicts.keys.sorted(), "merged": merged, "version": commit.id,
      "full_message": commit.message, "signature": version.isDerived ? nil : author?.proof.rawValue,
      "edited_on": version.editedOn,
      "altered": verdict?.alteration != nil,
      "answered_by": verdict?.alteration?.endorsedBy,
    ]
  }

  private var merged: [JSON] {
    trailers.merged.sorted { $0.key < $1.key }.map { path, rules in
      ["path": path, "rules": rules.ruleNames]
    }
  }

  private func change(_ line: Line) -> JSON {
    [
      "path": line.change.path, "kind": line.change.kind.rawValue,
      "former_path": line.change.formerPath, "added": line.counts?.added,
      "removed": line.counts?.removed,
    ]
  }

  /// The version as a line in a format: notes-log(1), --format.
  func text(as format: LogFormat) -> String {
    format.text(
      of: version.commit, by: author.map { SharedNames().shown($0) } ?? "",
      title: burst.versions.count > 1 ? burstTitle : version.subject)
  }

  func text(in style: Style) -> String {
    let terminal = style.terminal
    let title = Visible.name(burst.versions.count > 1 ? burstTitle : version.subject)
    var text = terminal.paint(version.commit.id) + "  "
    text += terminal.paint(terminal.fitting(title, beside: 12), .bold) + "\n"
    for line in byline(in: style) { text += "  " + line + "\n" }
    return text + table(in: style).text(on: terminal) + rest
  }

  private var burstTitle: String {
    let title = Change.summary(of: burst.changes.map { Change(path: $0.path, kind: $0.kind) })
    return title.isEmpty ? version.subject : title
  }

  /// The words for a merge. Changes in an altered merge have no author; the author of the version on top
  /// vouches for them.
  private var mergeWords: String {
    switch verdict {
    case .altered(let altered) where altered.endorsedBy != nil:
      "altered merge, vouched for by \(Visible.name(endorser?.name ?? ""))"
    case .altered: "altered merge"
    case .unchecked: "merged by notes, not checked"
    case .asComputed, nil: "merged by notes"
    }
  }

  private var authorName: String { Phrase.list(names.map(Visible.name)) }

  private func byline(in style: Style) -> [String] {
    let time = version.commit.author.time
    var parts = [version.isDerived ? mergeWords : authorName]
    if let device = version.deviceID, !version.isDerived {
      if style.own.contains(version.commit.id) {
        parts[0] += " (this device)"
      } else if style.isLong || style.sharedNames.contains(author?.name ?? "") {
        parts[0] += " (device \(device.prefix(10)))"
      }
    }
    if style.isLong, burst.versions.count == 1, let former = author?.formerName {
      parts.append("called \(Visible.name(former)) then")
    }
    if let mark { parts.append(mark) }
    if burst.versions.contains(where: { $0.editedOn != nil }) { parts.append("on an older text") }
    parts.append(style.isLong ? TimeText.long(time) : TimeText.relative(time, now: style.now))
    if burst.versions.count > 1 {
      let minutes = Int((time - burst.oldest.commit.author.time) / 60)
      let within = minutes < 1 ? "within a minute" : "in \(Phrase.count(minutes, "minute"))"
      parts.append("\(Phrase.count(burst.versions.count, "version")) \(within)")
    }
    return [Styled(parts.joined(separator: ", "), .dim)]
      .lines(of: style.terminal.width.map { $0 - 2 }, on: style.terminal)
  }

  private func table(in style: Style) -> Table {
    var table = Table(flexible: 1, optional: 3, dispensable: [2], indent: "  ")
    // In one note's history, show only a version's changes of this note.
    let changed = Set(lines.map(\.change.path))
    func isTold(_ path: TreePath) -> Bool { !style.isOfOneNote || changed.contains(path) }
    table.rows += lines.prefix(Self.mostFiles).map { line in
      let name = Visible.renaming(of: line.change.path, from: line.change.formerPath)
      let counts = line.counts.map { Styled.counts(added: $0.added, removed: $0.removed) }
      return [line.change.kind.cell, Styled(name), counts ?? Styled(""), Styled(line.gist, .dim)]
    }
    for path in trailers.conflicts.keys.filter(isTold).sorted().prefix(Self.mostFiles) {
      table.rows.append([Styled("conflict", .boldYellow), Styled(Visible.name(path))])
    }
    let merged = trailers.merged.filter { isTold($0.key) }.sorted { $0.key < $1.key }
    for (path, rules) in merged.prefix(Self.mostFiles) {
      let name = Styled(Visible.name(path))
      table.rows.append([Styled("merged", .cyan), name, Styled(""), Styled(rules.phrase, .dim)])
    }
    return table
  }

  private var rest: String {
    let count = lines.count - Self.mostFiles
    return count > 0 ? "  and \(Phrase.number(count)) more\n" : ""
  }

  func patch(in notebook: Notebook, on terminal: Terminal) throws -> String {
    try lines.map { line in
      try "\n" + FileDiff(line.change, in: notebook).words(for: terminal)
    }.joined()
  }
}

enum Gist {
  private static let longest = 60

  /// The first line that was added and is not empty; otherwise the first one removed.
  static func of(_ diff: LineDiff) -> String {
    let lines = diff.hunks.flatMap(\.lines)
    for kind in [LineDiff.Line.Kind.added, .removed] {
      for line in lines where line.kind == kind {
        let text = Visible.name(String(decoding: line.slice.prefix(400), as: UTF8.self))
        let words = text.split(separator: " ").joined(separator: " ")
        if words.contains(where: { $0.isLetter || $0.isNumber }) {
          return Width.cut(words, to: longest)
        }
      }
    }
    return ""
  }
}

extension MergeRules {
  var ruleNames: [String] { names.split(separator: ",").map(String.init) }

  var phrase: String {
    let phrases: [(MergeRules, String)] = [
      (.joinedInsertions, "both additions kept"), (.touchingLines, "neighbouring lines"),
      (.words, "by words"),
    ]
    return phrases.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
  }
}

extension MergeVerdict {
  /// The difference between the merge and the computed one. Nil if there is none, or none is known.
  var alteration: AlteredMerge? { if case .altered(let altered) = self { altered } else { nil } }
}
