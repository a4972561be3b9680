package import Git
internal import Merge
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
  /// The first version of the new history, if older ones were forgotten.
  private(set) var start: HistoryStart?

  /// The versions of the new history that have no content.
  private(set) var shells: Set<ObjectID> = []
  /// The versions that got other content because they were not based on the first version.
  private(set) var moved: Set<ObjectID> = []

  private struct Place: Hashable {
    let author: Signature
    let committer: Signature
    let parents: Set<ObjectID>

    init(of commit: Commit, parents: Set<ObjectID>? = nil) {
      (author, committer) = (commit.author, commit.committer)
      self.parents = parents ?? Set(commit.parents)
    }
  }

  private let repository: Repository
  private var cuts: [[ObjectID]: Bool] = [:]
  /// The versions of the new history at each place, and those that are already a form.
  private var places: [Place: [ObjectID]] = [:]
  private var taken: Set<ObjectID> = []

  /// - Parameters:
  ///   - roots: the heads of the old history.
  ///   - tops: versions of the new one.
  ///   - kinds: the kinds of forgotten content.
  package init(
    of roots: [ObjectID], in tops: [ObjectID], kinds: Set<String> = [], _ repository: Repository
  ) throws {
    self.repository = repository
    versions = try repository.commits(from: roots, lacking: tops)
    let new = try repository.commits(from: tops)
    var rewritten: [ObjectID] = []
    for id in new where try repository.commit(id).isRewritten { rewritten.append(id) }
    if rewritten.isEmpty { return }
    for id in rewritten { places[Place(of: try repository.commit(id)), default: []].append(id) }
    if let beginning = try HistoryBeginning(in: rewritten, repository) {
      try pair(with: beginning, among: new)
      try learn(from: beginning, kinds)
      return
    }
    for id in versions {
      let commit = try repository.commit(id)
      for candidate in candidates(at: Place(of: commit, parents: parents(of: commit)))
      where try pair(commit, candidate) { break }
    }
  }

  private func parents(of commit: Commit) -> Set<ObjectID> {
    Set(commit.parents.map { forms[$0] ?? $0 })
  }

  /// The versions at a place that are not a form yet.
  private func candidates(at place: Place) -> [ObjectID] {
    (places[place] ?? []).sorted().filter { !taken.contains($0) }
  }

  private mutating func pair(_ commit: Commit, _ candidate: ObjectID) throws -> Bool {
    let new = try repository.commit(candidate)
    guard let files = try cuts(from: commit, to: new) else { return false }
    set(candidate, for: commit.id)
    self.files[commit.id] = files
    if commit.message != new.message {
      messages.append((Array(commit.message.utf8), Array(new.message.utf8)))
    }
    return true
  }

  private mutating func set(_ form: ObjectID, for id: ObjectID) {
    forms[id] = form
    taken.insert(form)
  }

  /// Pairs the versions of two histories from each of which something else was removed. The new files and
  /// texts are those of the first history, without everything that the second one lacks.
  package init(
    of roots: [ObjectID], besides tops: [ObjectID], _ repository: Repository
  ) throws {
    self.repository = repository
    versions = try repository.commits(from: roots, lacking: tops)
    let others = try repository.commits(from: tops, lacking: roots)
    for id in others { places[Place(of: try repository.commit(id)), default: []].append(id) }
    let theirs = try HistoryBeginning(in: others, repository)
    let ours = try HistoryBeginning(in: versions, repository)
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

  /// The files that differ between two versions; nil if anything other than removed texts differs.
  private mutating func cuts(
    from old: Commit, to new: Commit
  ) throws -> [TreePath: Replacement]? {
    var files: [TreePath: Replacement] = [:]
    for change in try repository.changes(from: old.tree, to: new.tree) {
      guard let before = change.old else { return nil }
      guard let after = change.new else {
        files[change.path] = .gone
        continue
      }
      guard before.mode == after.mode, before.mode.isFile, try isCut(before.id, after.id) else {
        return nil
      }
      texts[before.id] = after.id
      files[change.path] = .file(after)
    }
    return files
  }

  private mutating func isCut(_ old: ObjectID, _ new: ObjectID) throws -> Bool {
    if let known = cuts[[old, new]] { return known }
    let isCut = Placeholder.takes(
      place: try repository.blobReadOnce(new), of: try repository.blobReadOnce(old))
    cuts[[old, new]] = isCut
    return isCut
  }
}

// Histories of which older versions were forgotten: notes-forget(1), "The first version".
extension FormerForms {
  /// Pairs the versions if the new history has versions without files. Each keeps its place, so the place alone shows
  /// which versions went; the first version stands for these.
  ///
  /// - Parameter new: the versions of the new history.
  private mutating func pair(
    with beginning: HistoryBeginning, among new: [ObjectID]
  ) throws {
    let old = Set(versions)
    var merges: [Set<ObjectID>: ObjectID] = [:]
    for id in new {
      let commit = try repository.commit(id)
      if commit.isRewritten, DerivedMerge.isDerived(commit) { merges[Set(commit.parents)] = id }
    }
    // The places of versions that went, and the versions based on the first one.
    var shells: [ObjectID: ObjectID] = [:]
    var onFirst: Set<ObjectID> = []
    var version: ObjectID?
    var past: Set<ObjectID> = []
    func isPast(_ id: ObjectID) -> Bool { past.contains(id) || beginning.shells.contains(id) }
    for id in versions {
      let commit = try repository.commit(id)
      let parents = Set(commit.parents.map { shells[$0] ?? forms[$0] ?? $0 })
      let isOnFirst = commit.parents.contains {
        onFirst.contains($0) || !old.contains($0) && !beginning.shells.contains($0)
      }
      if isOnFirst {
        onFirst.insert(id)
        for candidate in candidates(at: Place(of: commit, parents: parents))
        where try pair(commit, candidate) { break }
        continue
      }
      let places = [parents] + (commit.parents.isEmpty ? [] : beginning.places(of: parents))
      var candidate: ObjectID?
      for place in places where candidate == nil {
        candidate = candidates(at: Place(of: commit, parents: place)).first
      }
      if let candidate {
        taken.insert(candidate)
        if beginning.shells.contains(candidate) {
          shells[id] = candidate
          past.insert(id)
        } else if candidate == beginning.first {
          past.insert(id)
          if version == nil,
            let files = try cuts(from: commit, to: repository.commit(candidate))
          {
            version = id
            onFirst.insert(id)
            self.files[id] = files
          }
        } else {
          moved.insert(id)
          forms[id] = candidate
        }
      } else if commit.parents.contains(where: { isPast($0) || forms[$0] != nil }),
        try commit.isMerge(in: repository)
      {
        // Such a merge was made again, of the new forms of its parents.
        let form = try merge(of: beginning.places(of: parents), among: merges)
        if let form, !beginning.shells.contains(form), form != beginning.first {
          moved.insert(id)
          forms[id] = form
        } else if form != nil || commit.parents.allSatisfy(isPast) {
          // A merge of versions that went adds nothing.
          past.insert(id)
          shells[id] = form ?? shells[commit.parents[0]] ?? commit.parents[0]
        }
      }
      if past.contains(id) { forms[id] = beginning.first }
    }
    if past.isEmpty { return }
    start = HistoryStart(version: version, form: beginning.first, past: past)
  }

  /// The merge of the versions of one of these places: by their heads, among the merges of the new history.
  private func merge(
    of places: [Set<ObjectID>], among merges: [Set<ObjectID>: ObjectID]
  ) throws -> ObjectID? {
    for place in places {
      let heads = try DerivedMerge.reduce(Array(place), in: repository)
      if let merge = heads.count == 1 ? heads[0] : merges[Set(heads)] { return merge }
    }
    return nil
  }

  /// Compares the versions that went, and on which others are based, with the first one, and those based on the first
  /// one now with their forms: a file that only lost a text shows the text, and a removed note is not among the files.
  private mutating func learn(from beginning: HistoryBeginning, _ kinds: Set<String>) throws {
    shells = beginning.shells
    guard let start else { return }
    var bases = Set(try start.last(in: repository))
    for id in versions where !start.past.contains(id) {
      bases.formUnion(try repository.commit(id).parents.filter(start.past.contains))
    }
    let removed = start.version.flatMap { files[$0] }
    let hasNotes = kinds.contains(Forgetting.Kind.note.rawValue)
    for id in (bases.union(moved)).sorted() where id != start.version {
      guard let form = forms[id] else { continue }
      let (old, new) = (try repository.commit(id), try repository.commit(form))
      for change in try repository.changes(from: old.tree, to: new.tree) {
        guard let before = change.old, before.mode.isFile else { continue }
        if let after = change.new {
          guard after.mode.isFile, try isCut(before.id, after.id) else { continue }
          texts[before.id] = after.id
          // The merge of a version that is based on this one takes the text of the first one.
          if moved.contains(id) { files[id, default: [:]][change.path] = .file(after) }
        } else if hasNotes, removed.map({ $0[change.path] == .gone }) ?? true {
          files[id, default: [:]][change.path] = .gone
        }
      }
    }
  }
}

extension FormerForms {
  /// Calls `look` with each text that the rewriting keeps, of the texts in the top versions and in
  /// the rewritten ones.
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
}

extension Commit {
  /// Whether devices make this merge by themselves.
  func isMerge(in repository: Repository) throws -> Bool {
    try DerivedMerge.isDerived(self) || HubMerge.isOne(self, in: repository)
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
