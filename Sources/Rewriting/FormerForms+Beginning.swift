internal import Git
internal import Merge
internal import System

// Histories of which older versions were forgotten: notes-forget(1), "The first version".
extension FormerForms {
  /// Pairs the versions if the new history has versions without files. Each keeps its place, so the place alone shows
  /// which versions went; the first version stands for these.
  ///
  /// - Parameter new: the versions of the new history.
  mutating func pair(
    with beginning: HistoryBeginning, among new: [ObjectID]
  ) throws {
    let old = Set(versions)
    let below = try beginning.former(among: old).map { Set(try repository.commits(from: [$0])) }
    let merges = try derivedMerges(among: new)
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
        try pair(commit, parents: parents)
        continue
      }
      let places = [parents] + (commit.parents.isEmpty ? [] : beginning.places(of: parents))
      var candidate: ObjectID?
      for place in places where candidate == nil {
        candidate = candidates(at: Place(of: commit, parents: place)).first
      }
      // With the former version at hand, only what is below it went: another device may have made a version that has
      // the place of one.
      let isOfPast = candidate.map { $0 == beginning.first || beginning.shells.contains($0) }
      if isOfPast == true, below?.contains(id) == false { candidate = nil }
      if let candidate {
        taken.insert(candidate)
        if beginning.shells.contains(candidate) {
          shells[id] = candidate
          past.insert(id)
        } else if candidate == beginning.first {
          past.insert(id)
          if version == nil,
            let cut = try cut(from: commit, to: candidate)
          {
            version = id
            onFirst.insert(id)
            texts.merge(cut.texts) { _, new in new }
            files[id] = cut.files
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

  /// The rewritten derived merges, by their parents.
  private func derivedMerges(
    among versions: [ObjectID]
  ) throws -> [Set<ObjectID>: ObjectID] {
    var merges: [Set<ObjectID>: ObjectID] = [:]
    for id in versions {
      let commit = try repository.commit(id)
      if commit.isRewritten, DerivedMerge.isDerived(commit) { merges[Set(commit.parents)] = id }
    }
    return merges
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
  mutating func learn(from beginning: HistoryBeginning, _ kinds: Set<String>) throws {
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

extension Commit {
  /// Whether devices make this merge by themselves.
  func isMerge(in repository: Repository) throws -> Bool {
    try DerivedMerge.isDerived(self) || HubMerge.isOne(self, in: repository)
  }
}
