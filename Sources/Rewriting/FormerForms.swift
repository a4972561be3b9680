package import Git
package import History
internal import System

/// Pairs the versions of a history with their rewritten forms in one that obeys more forgettings. This requires
/// both histories: a pair is recognized by the unchanged author, committer, dates and position. notes-forget(1),
/// "Other devices".
package struct FormerForms {
  /// The rewritten form of each version that has one.
  package internal(set) var forms: [ObjectID: ObjectID] = [:]
  /// The files that differ between a version and its rewritten form.
  var files: [ObjectID: [TreePath: Replacement]] = [:]
  /// The old and new texts of files that differ.
  var texts: [ObjectID: ObjectID] = [:]
  /// The old and new messages that differ.
  private(set) var messages: [(old: [UInt8], new: [UInt8])] = []
  /// The versions of the old history that are not in the new one, parents before children.
  package let versions: [ObjectID]
  /// The first version of the new history, if older ones were forgotten.
  var start: HistoryStart?

  /// The versions of the new history that have no content.
  var shells: Set<ObjectID> = []
  /// The versions that got other content because they were not based on the first version.
  var moved: Set<ObjectID> = []

  struct Place: Hashable {
    let author: Signature
    let committer: Signature
    let parents: Set<ObjectID>

    init(of commit: Commit, parents: Set<ObjectID>? = nil) {
      (author, committer) = (commit.author, commit.committer)
      self.parents = parents ?? Set(commit.parents)
    }
  }

  let repository: Repository
  var cuts: [[ObjectID]: Bool] = [:]
  /// The versions of the new history at each place, and those that are already a form.
  var places: [Place: [ObjectID]] = [:]
  var taken: Set<ObjectID> = []
  /// The loss of the first version of each form.
  private var firsts: [ObjectID: (gone: Set<TreePath>, isRewritten: Bool)] = [:]

  /// - Parameters:
  ///   - roots: the heads of the old history.
  ///   - tops: versions of the new one.
  ///   - kept: versions of the old history that are not paired, with all below them.
  ///   - kinds: the kinds of forgotten content.
  ///   - begins: the versions with which the new history begins, by an admin's list.
  package init(
    of roots: [ObjectID], in tops: [ObjectID], lacking kept: [ObjectID], kinds: Set<String> = [],
    beginningWith begins: [ForgettingVersion.Beginning] = [], _ repository: Repository
  ) throws {
    self.repository = repository
    versions = try repository.commits(from: roots, lacking: tops + kept)
    let new = try repository.commits(from: tops)
    for id in new {
      let commit = try repository.commit(id)
      if commit.isRewritten { places[Place(of: commit), default: []].append(id) }
    }
    if places.isEmpty { return }
    if let beginning = try HistoryBeginning(with: begins, in: Set(new), repository) {
      try pair(with: beginning, among: new)
      try learn(from: beginning, kinds)
      return
    }
    for id in versions { try pair(repository.commit(id)) }
  }

  private func parents(of commit: Commit) -> Set<ObjectID> {
    Set(commit.parents.map { forms[$0] ?? $0 })
  }

  /// The versions at a place that are not a form yet.
  func candidates(at place: Place) -> [ObjectID] {
    (places[place] ?? []).sorted().filter { !taken.contains($0) }
  }

  private mutating func set(_ form: ObjectID, for id: ObjectID) {
    forms[id] = form
    taken.insert(form)
  }

  /// Pairs a version with its rewritten form, if it has one.
  mutating func pair(_ commit: Commit, parents: Set<ObjectID>? = nil) throws {
    let place = Place(of: commit, parents: parents ?? self.parents(of: commit))
    let fitting = try (places[place] ?? []).compactMap { try cut(from: commit, to: $0) }
    if let best = try least(of: fitting.filter { firsts[$0.form.id] == nil }) {
      firsts[best.form.id] = (best.gone, commit.isRewritten)
      texts.merge(best.texts) { _, new in new }
      if commit.message != best.form.message {
        messages.append((Array(commit.message.utf8), Array(best.form.message.utf8)))
      }
      set(best.form.id, for: commit.id)
      files[commit.id] = best.files
      return
    }
    // Two forms of a version became one. It is this version's as well, but no text is learned from that.
    let best = try least(
      of: fitting.filter {
        guard let first = firsts[$0.form.id] else { return false }
        return first.gone.isSuperset(of: $0.gone) || first.isRewritten && !commit.isRewritten
      })
    if let best { (forms[commit.id], files[commit.id]) = (best.form.id, best.files) }
  }

  /// The files and texts that a possible form of a version lacks.
  struct Cut {
    let form: Commit
    var files: [TreePath: Replacement] = [:]
    var texts: [ObjectID: ObjectID] = [:]
    var gone: Set<TreePath> { Set(files.keys.filter { files[$0] == .gone }) }
  }

  /// The form that lacks the least: of two forms of a version, which may both have the same place, each gets its own.
  private func least(of cuts: [Cut]) throws -> Cut? {
    if cuts.count < 2 { return cuts.first }
    let counted = try cuts.map { cut in
      let placeholders = try cut.texts.values.reduce(0) {
        try $0 + repository.blobReadOnce($1).split(byPart: Placeholder.bytes).count
      }
      return (cut: cut, order: (cut.files.count, placeholders, cut.form.id))
    }
    return counted.min { $0.order < $1.order }?.cut
  }

  /// Pairs the versions of two histories from each of which something else was removed. The new files and
  /// texts are those of the first history, without everything that the second one lacks.
  ///
  /// - Parameter begins: the versions with which each of the histories begins, by its admins' lists.
  package init(
    of roots: [ObjectID], besides tops: [ObjectID],
    beginningWith begins: (
      own: [ForgettingVersion.Beginning], other: [ForgettingVersion.Beginning]
    ),
    _ repository: Repository
  ) throws {
    self.repository = repository
    versions = try repository.commits(from: roots, lacking: tops)
    let others = try repository.commits(from: tops, lacking: roots)
    for id in others { places[Place(of: try repository.commit(id)), default: []].append(id) }
    let theirs = try HistoryBeginning(with: begins.other, in: Set(others), repository)
    let ours = try HistoryBeginning(with: begins.own, in: Set(versions), repository)
    for id in versions {
      let commit = try repository.commit(id)
      for candidate in candidates(at: Place(of: commit, parents: parents(of: commit))) {
        if theirs?.shells.contains(candidate) == true || ours?.shells.contains(id) == true {
          set(candidate, for: id)
          break
        }
        let other = try repository.commit(candidate)
        guard commit.isRewritten || other.isRewritten,
          let files = try cuts(from: commit, and: other)
        else { continue }
        set(candidate, for: id)
        self.files[id] = files
        let message = Array(commit.message.utf8)
        if let rest = Placeholder.rest(of: message, and: Array(other.message.utf8)), rest != message
        {
          messages.append((message, rest))
        }
        break
      }
    }
    guard let theirs else { return }
    let version = forms.first { $0.value == theirs.first }?.key
    if let version, ours?.shells.contains(version) == true { return }
    start = HistoryStart(version: version, form: theirs.first, past: [])
  }

  /// The files of one version that another lacks or has with texts removed; other texts may be
  /// removed in the first.
  private mutating func cuts(
    from own: Commit, and other: Commit
  ) throws -> [TreePath: Replacement]? {
    var files: [TreePath: Replacement] = [:]
    for change in try repository.changes(from: own.tree, to: other.tree) {
      guard let before = change.old else {
        // Only the other version has the file: this one may lack it because it was forgotten.
        guard own.isRewritten else { return nil }
        continue
      }
      guard let after = change.new else {
        guard other.isRewritten else { return nil }
        files[change.path] = .gone
        continue
      }
      guard before.mode == after.mode, before.mode.isFile else { return nil }
      let content = try repository.blobReadOnce(before.id)
      guard let rest = Placeholder.rest(of: content, and: try repository.blobReadOnce(after.id))
      else { return nil }
      if rest == content { continue }
      let blob = try repository.write(blob: rest)
      texts[before.id] = blob
      files[change.path] = .file(TreeEntry(name: before.name, mode: before.mode, id: blob))
    }
    return files
  }

  /// The difference of a version and a possible form; nil if anything other than removed texts differs.
  mutating func cut(from old: Commit, to id: ObjectID) throws -> Cut? {
    var found = Cut(form: try repository.commit(id))
    for change in try repository.changes(from: old.tree, to: found.form.tree) {
      guard let before = change.old else { return nil }
      guard let after = change.new else {
        found.files[change.path] = .gone
        continue
      }
      guard before.mode == after.mode, before.mode.isFile, try isCut(before.id, after.id) else {
        return nil
      }
      found.texts[before.id] = after.id
      found.files[change.path] = .file(after)
    }
    return found
  }

  /// Calls `look` with each text that the rewriting keeps, of the texts in the top versions and in the rewritten
  /// ones.
  func survivors(in tops: [ObjectID], _ look: ([UInt8]) throws -> Void) throws {
    if tops.isEmpty { return }
    var done: Set<ObjectID> = []
    func see(_ file: TreeEntry) throws {
      guard file.mode.isFile, texts[file.id] == nil, done.insert(file.id).inserted else { return }
      let content = try repository.blobReadOnce(file.id)
      if content.isTextByLook { try look(content) }
    }
    for top in tops {
      for (_, file) in try repository.files(in: repository.commit(top).tree) { try see(file) }
    }
    for id in versions {
      guard let files = files[id] else { continue }
      let commit = try repository.commit(id)
      let base = try commit.parents.first.map { try repository.commit($0).tree }
      for change in try repository.changes(from: base, to: commit.tree)
      where files[change.path] == nil {
        if let new = change.new { try see(new) }
      }
    }
  }

  mutating func isCut(_ old: ObjectID, _ new: ObjectID) throws -> Bool {
    if let known = cuts[[old, new]] { return known }
    let isCut = Placeholder.takes(
      place: try repository.blobReadOnce(new), of: try repository.blobReadOnce(old))
    cuts[[old, new]] = isCut
    return isCut
  }
}

extension Placeholder {
  /// Whether a text is another text in which placeholders replace parts.
  static func takes(place new: [UInt8], of old: [UInt8]) -> Bool {
    let kept = new.split(byPart: bytes)
    guard kept.count > 1, let first = kept.first, let last = kept.last,
      old.count >= first.count + last.count, old.starts(with: first),
      old.suffix(last.count).elementsEqual(last)
    else { return false }
    var start = first.count
    let end = old.count - last.count
    for part in kept.dropFirst().dropLast() where !part.isEmpty {
      guard let found = old.firstRange(of: part, from: start), found.upperBound <= end else {
        return false
      }
      start = found.upperBound
    }
    return true
  }
}

extension [UInt8] {
  /// The parts between the occurrences of `part`.
  func split(byPart part: [UInt8]) -> [[UInt8]] {
    var parts: [[UInt8]] = []
    var start = 0
    while let found = firstRange(of: part, from: start) {
      parts.append(Array(self[start..<found.lowerBound]))
      start = found.upperBound
    }
    return parts + [Array(self[start...])]
  }
}
