internal import Git
package import History
internal import Merge
internal import WorkTree

// The first version of a history whose beginning is forgotten: notes-forget(1), "The first version".
extension HistoryRewriting {
  /// How many versions have another form, besides those that the first version stands for.
  package var rewrittenCount: Int {
    forms.count - (start.map { $0.past.count { forms[$0] != nil } - 1 } ?? 0)
  }

  /// The versions with which the rewritten history begins, the latest first: an admin's list names them.
  package var newBeginnings: [ForgettingVersion.Beginning] {
    var all: [ForgettingVersion.Beginning] = []
    if let start, let version = start.version {
      let others = beginnings.first { $0.version == version }?.formers ?? []
      let own = shielded.contains(version) ? [version] : []
      all.append(.init(start.form, formers: (others + own).eachOnce))
    }
    for old in beginnings {
      let new = emptied[old.version] ?? forms[old.version] ?? old.version
      if !all.contains(where: { $0.version == new }) {
        all.append(.init(new, formers: old.formers))
      }
    }
    return all
  }

  func messageCut(of commit: Commit, changes: [TreeChange]) -> MessageCut {
    var gone: Set<TreePath> = []
    for id in [commit.id] + commit.parents {
      for (path, new) in replaced[id] ?? [:] where new == .gone { gone.insert(path) }
    }
    return MessageCut(
      changes: changes.map(Change.init), gone: gone, texts: forgetting.texts,
      form: { isPast($0) || !seen.contains($0) ? nil : forms[$0] ?? $0 },
      formNamed: { digits in forms.first { $0.key.hex.hasPrefix(digits) }?.value })
  }

  /// Whether a version is before the first one.
  func isPast(_ id: ObjectID) -> Bool {
    start.map { $0.past.contains(id) && $0.version != id } ?? false
  }

  /// Records what is forgotten with the versions before one.
  mutating func findPast(of commit: Commit) throws {
    guard case .before = forgetting.cut else { return }
    let kept = Set(try repository.files(in: commit.tree).map { $0.path })
    found.versions = -1
    for id in try repository.commits(from: [commit.id]) {
      if try isShell(id) { continue }
      found.versions += 1
      let version = try repository.commit(id)
      let former = try version.parents.first.map { try repository.commit($0).tree }
      for change in try repository.changes(from: former, to: version.tree)
      where !kept.contains(change.path) { found.paths.insert(change.path) }
    }
  }

  /// Whether older versions were forgotten before, and this is one of these.
  private func isShell(_ id: ObjectID) throws -> Bool {
    let commit = try repository.commit(id)
    return commit.isRewritten && commit.tree == .emptyTree
      && commit.message == MessageCut.ofEmptied(commit)
  }

  /// Empties a version below the first one: its author, dates and place stay, so that every device recognizes it.
  mutating func empty(_ commit: Commit, _ data: [UInt8]) throws {
    var version = try RewrittenCommit(of: data, id: commit.id)
    version.tree = .emptyTree
    version.parents = commit.parents.map { emptied[$0] ?? $0 }.eachOnce
    version.message = Array(MessageCut.ofEmptied(commit).utf8)
    version.remove(header: Forgetting.idHeader)
    emptied[commit.id] = try write(&version, of: commit)
  }

  /// Lets the history begin with a version: it stands for all that it is based on.
  ///
  /// - Parameters:
  ///   - version: the version with the content that stays.
  ///   - changes: those of the former version.
  mutating func begin(
    with version: RewrittenCommit, of commit: Commit, _ changes: [TreeChange]
  ) throws {
    var version = version
    version.parents = commit.parents.map { emptied[$0] ?? $0 }.eachOnce
    let all = try repository.changes(from: nil, to: version.tree).map(Change.init)
    version.message = MessageCut.ofFirst(
      version.message, changes: changes.map(Change.init), all: all, texts: forgetting.texts)
    let versions = try repository.commits(from: [commit.id])
    let past = try HistoryPast(versions, in: repository)
    if past.shielded.contains(commit.id) { shielded.insert(commit.id) }
    let kept = Set(all.map(\.path))
    let ids = try history.noteIDs(at: commit).filter {
      kept.contains($0.path) && past.shielded.contains($0.birth)
    }
    for note in ids.prefix(Self.mostIDs) {
      version.add(header: Forgetting.idHeader, "\(note.id) \(note.path.hexadecimal)")
    }
    let form = try write(&version, of: commit)
    for id in versions where emptied[id] != id { forms[id] = form }
    start = HistoryStart(version: commit.id, form: form, past: Set(versions))
    onStart.insert(commit.id)
  }

  /// Gives a version that is not based on the first one the content that both merge to.
  ///
  /// - Parameter version: it still has its former parents.
  /// - Returns: the notes in conflict.
  mutating func put(
    _ version: inout RewrittenCommit, of commit: Commit, on start: HistoryStart
  ) throws -> [TreePath: Int] {
    let own = version.tree == commit.tree ? commit.id : try repository.write(version)
    let base = try standIn ?? start.base(in: repository)
    standIn = base
    let merged = try DerivedMerge.merge(base, own, in: repository)
    version.tree = merged.tree
    moved[commit.id] = try replacements(from: commit.tree, to: merged.tree)
    return merged.conflicts
  }

  /// Merges again the forms of the versions that a derived merge merged, of which some are not based on the first
  /// version.
  mutating func mergeAgain(_ commit: Commit) throws {
    let tip = try DerivedMerge.tip(
      of: commit.parents.map { forms[$0] ?? $0 }, in: repository)
    let merge = try repository.commit(tip.id)
    var form = tip.id
    if tip.heads.count > 1 {
      var version = try RewrittenCommit(of: repository.object(form).data, id: form)
      form = try write(&version, of: merge)
    }
    forms[commit.id] = form
    moved[commit.id] = try replacements(from: commit.tree, to: merge.tree)
  }

  /// The files by which a version differs from the first one, which stands for it.
  func changesToStart(from id: ObjectID) throws -> [TreePath: Replacement]? {
    try start.map {
      try replacements(
        from: repository.commit(id).tree, to: repository.commit($0.form).tree)
    }
  }

  func replacements(
    from old: ObjectID, to new: ObjectID
  ) throws -> [TreePath: Replacement] {
    Dictionary(
      uniqueKeysWithValues: try repository.changes(from: old, to: new).map {
        ($0.path, $0.new.map(Replacement.file) ?? .gone)
      })
  }
}

extension MessageCut {
  private static let lineEnd = UInt8(ascii: "\n")
  private static let conflict = Array("Notes-Conflict: ".utf8)
  private static let ofFormer = [
    RenameTrailer.key, UndoTrailer.undo, UndoTrailer.redo, "Notes-Edited-On",
  ].map { Array("\($0):".utf8) }

  /// The message of a version that has no content any more. A derived merge stays one.
  static func ofEmptied(_ commit: Commit) -> String {
    guard DerivedMerge.isDerived(commit) else { return Placeholder.text + "\n" }
    var trailers = MergeTrailers()
    trailers.version = MergeTrailers(message: commit.message).version
    return "\(Placeholder.text)\n\n\(trailers.lines().joined(separator: "\n"))\n"
  }

  /// The message of a version that is the first one from now on: it adds all notes.
  static func ofFirst(
    _ message: [UInt8], changes: [Change], all: [Change], texts: [TextCut]
  ) -> [UInt8] {
    var lines = message.split(separator: lineEnd, omittingEmptySubsequences: false)
    if let subject = lines.first, subject.elementsEqual(Change.summary(of: changes).utf8) {
      lines[0] = Array(Change.summary(of: all).utf8)[...]
    }
    lines.removeAll { line in ofFormer.contains { line.starts(with: $0) } }
    let kept = Array(lines.joined(separator: [lineEnd]))
    return texts.applied(to: kept) ?? kept
  }

  /// The message with these notes in conflict, and no others.
  static func naming(_ conflicts: [TreePath: Int], in message: [UInt8]) -> [UInt8] {
    var lines = message.split(separator: lineEnd, omittingEmptySubsequences: false)
    lines.removeAll { $0.starts(with: conflict) }
    while lines.last?.isEmpty == true { lines.removeLast() }
    var trailers = MergeTrailers()
    trailers.conflicts = conflicts
    let more = trailers.lines()
    let paragraph = lines.lastIndex(where: \.isEmpty)
    let hasTrailers = paragraph.map {
      lines[($0 + 1)...].allSatisfy { $0.contains(UInt8(ascii: ":")) }
    }
    if !more.isEmpty, hasTrailers != true { lines.append([]) }
    lines += more.map { Array($0.utf8)[...] }
    return Array(lines.joined(separator: [lineEnd])) + [lineEnd]
  }
}

/// The versions before the first one.
private struct HistoryPast {
  /// The versions whose IDs do not help to guess their content: they, or versions below, had a signature.
  private(set) var shielded: Set<ObjectID> = []

  /// - Parameter versions: parents before children.
  init(_ versions: [ObjectID], in repository: Repository) throws {
    for id in versions {
      let data = try repository.object(id).data
      let parents = try Commit(parsing: data, id: id).parents
      if SignedCommit.isSigned(data) || parents.contains(where: shielded.contains) {
        shielded.insert(id)
      }
    }
  }
}
