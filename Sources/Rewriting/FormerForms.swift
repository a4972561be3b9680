package import Git
internal import System

/// Pairs the versions of a history with their rewritten forms in one that obeys more forgettings. This requires
/// both histories: a pair is recognized by the unchanged author, committer, dates and position. notes-forget(1),
/// "Other devices".
package struct FormerForms {
  /// The rewritten form of each version that has one.
  package private(set) var forms: [ObjectID: ObjectID] = [:]
  /// The files that differ between a version and its rewritten form.
  private(set) var files: [ObjectID: [TreePath: Replacement]] = [:]
  /// The old and new texts of files that differ.
  private(set) var texts: [ObjectID: ObjectID] = [:]
  /// The old and new messages that differ.
  private(set) var messages: [(old: [UInt8], new: [UInt8])] = []
  /// The versions of the old history that are not in the new one, parents before children.
  package let versions: [ObjectID]

  private struct Place: Hashable {
    let author: Signature
    let committer: Signature
    let parents: Set<ObjectID>

    init(of commit: Commit, by form: (ObjectID) -> ObjectID) {
      (author, committer) = (commit.author, commit.committer)
      parents = Set(commit.parents.map(form))
    }
  }

  private let repository: Repository
  private var cuts: [[ObjectID]: Bool] = [:]

  /// - Parameters:
  ///   - roots: the heads of the old history.
  ///   - tops: versions of the new one.
  ///   - kept: versions of the old history that are not paired, with all below them.
  package init(
    of roots: [ObjectID], in tops: [ObjectID], lacking kept: [ObjectID], _ repository: Repository
  ) throws {
    self.repository = repository
    versions = try repository.commits(from: roots, lacking: tops + kept)
    var places: [Place: [ObjectID]] = [:]
    for id in try repository.commits(from: tops) {
      let commit = try repository.commit(id)
      if commit.isRewritten { places[Place(of: commit, by: { $0 }), default: []].append(id) }
    }
    if places.isEmpty { return }
    // The first version of each form.
    var taken: [ObjectID: (gone: Set<TreePath>, isRewritten: Bool)] = [:]
    for id in versions {
      let commit = try repository.commit(id)
      let place = Place(of: commit) { forms[$0] ?? $0 }
      let fitting = try (places[place] ?? []).compactMap { try cut(from: commit, to: $0) }
      if let best = try least(of: fitting.filter { taken[$0.form.id] == nil }) {
        taken[best.form.id] = (best.gone, commit.isRewritten)
        texts.merge(best.texts) { _, new in new }
        if commit.message != best.form.message {
          messages.append((Array(commit.message.utf8), Array(best.form.message.utf8)))
        }
        (forms[id], files[id]) = (best.form.id, best.files)
        continue
      }
      // Two forms of a version became one. It is this version's as well, but no text is learned from that.
      let best = try least(
        of: fitting.filter {
          guard let first = taken[$0.form.id] else { return false }
          return first.gone.isSuperset(of: $0.gone) || first.isRewritten && !commit.isRewritten
        })
      if let best { (forms[id], files[id]) = (best.form.id, best.files) }
    }
  }

  /// The files and texts that a possible form of a version lacks.
  private struct Cut {
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
  package init(
    of roots: [ObjectID], besides tops: [ObjectID], _ repository: Repository
  ) throws {
    self.repository = repository
    versions = try repository.commits(from: roots, lacking: tops)
    var places: [Place: [ObjectID]] = [:]
    for id in try repository.commits(from: tops, lacking: roots) {
      places[Place(of: try repository.commit(id), by: { $0 }), default: []].append(id)
    }
    var taken: Set<ObjectID> = []
    for id in versions {
      let commit = try repository.commit(id)
      let place = Place(of: commit) { forms[$0] ?? $0 }
      for candidate in (places[place] ?? []).sorted() where !taken.contains(candidate) {
        let other = try repository.commit(candidate)
        guard commit.isRewritten || other.isRewritten,
          let files = try cuts(from: commit, and: other)
        else { continue }
        forms[id] = candidate
        self.files[id] = files
        let message = Array(commit.message.utf8)
        if let rest = Placeholder.rest(of: message, and: Array(other.message.utf8)), rest != message
        {
          messages.append((message, rest))
        }
        taken.insert(candidate)
        break
      }
    }
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
  private mutating func cut(from old: Commit, to id: ObjectID) throws -> Cut? {
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

  private mutating func isCut(_ old: ObjectID, _ new: ObjectID) throws -> Bool {
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
