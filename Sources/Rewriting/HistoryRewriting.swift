package import Git
package import History
internal import Merge
internal import WorkTree

/// Rewrites a history without the forgotten content: a pure function of a version and a forgetting, so
/// every device gets the same result. notes-forget(1), "Versions".
///
/// A version keeps its author, dates, position and message; it is not rewritten if neither it nor an
/// ancestor has the content. The cost depends on the versions' changes and the removed content, not on the
/// size of the notebook times its versions.
///
/// If older versions are forgotten, the others are first put on the first one, and then rewritten like any others.
package struct HistoryRewriting {
  let history: History
  let forgetting: Forgetting
  let isTrial: Bool
  /// The first step, if older versions are forgotten.
  private(set) var beginning: VersionsOnFirst?
  var followed: FollowedNotes?
  /// The pairs of versions when another history is followed, and that history's tops.
  private var paired: FormerForms?
  private var tops: [ObjectID] = []
  /// The versions of that history.
  private var known: Set<ObjectID> = []
  /// The notes that the other history has removed, and those from which it has removed lines.
  var goneNotes: FollowedNotes?
  var changedNotes: FollowedNotes?
  /// The versions on top of that history.
  private var above: Set<ObjectID> = []
  /// The rewritten form of each version that has one, after the first step.
  private(set) var forms: [ObjectID: ObjectID] = [:]
  var seen: Set<ObjectID> = []
  /// The replaced files of each version; no entry if there are none.
  var replaced: [ObjectID: [TreePath: Replacement]] = [:]
  var cutBlobs: [Place: ObjectID?] = [:]
  /// Lines of blobs that have a part of the text, and the rest of each line.
  var parts: [ObjectID: [[UInt8]: [UInt8]]] = [:]
  private var hasParts = false
  /// The versions of this history by those of the one beside it.
  private(set) var besides: [ObjectID: ObjectID] = [:]
  /// Versions whose IDs do not help to guess the forgotten content.
  var shielded: Set<ObjectID> = []
  var omitted: Set<ObjectID> = []
  /// Changes of versions that were read for the parts and are still to be visited.
  var knownChanges: [ObjectID: [TreeChange]] = [:]
  static let mostKnownChanges = 20_000
  /// The findings so far.
  package internal(set) var found = ForgettingFindings()

  var repository: Repository { history.repository }

  /// - Parameter isTrial: whether only to find out what would be removed; nothing is written.
  package init(of history: History, _ forgetting: Forgetting, isTrial: Bool = false) throws {
    self.init(history, forgetting, isTrial)
    guard let first = forgetting.first else { return }
    found = try FirstVersionMaking.findings(of: first, in: history)
    if !isTrial { beginning = try VersionsOnFirst(with: FormerFirst(first), in: history) }
  }

  private init(_ history: History, _ forgetting: Forgetting, _ isTrial: Bool) {
    (self.history, self.forgetting, self.isTrial) = (history, forgetting, isTrial)
    switch forgetting.cut {
    case .text, .learned, .before: break
    case .notes(let trail), .lines(_, let trail): followed = FollowedNotes(trail, in: history)
    }
  }

  /// Rewrites a history like another one that obeys more forgettings: versions in both become the other's, and
  /// the same content is removed from the rest.
  ///
  /// - Parameters:
  ///   - roots: the heads of the old history, and versions on top of it or of the new one.
  ///   - tops: the versions that list the new history's forgettings.
  ///   - kept: other heads of the new history, whose versions stay as they are. No admin vouches for them, so
  ///     nothing is learned from them.
  ///   - own: the head of a history that obeys already: its versions stay, and so do those on top of its rewritten ones.
  ///   - lines: the forgettings that the new history obeys, by an admin's list.
  ///   - known: those that the old history obeys by its lists.
  ///   - isJoining: whether an admin's device joins the two.
  package init(
    of history: History, _ roots: [ObjectID], like tops: [ObjectID], keeping kept: [ObjectID] = [],
    obeying own: ObjectID? = nil, lines: [ForgettingVersion.Line], besides obeyed: Set<String>,
    isJoining: Bool = false
  ) throws {
    let repository = history.repository
    let kept = kept + [own].compactMap(\.self)
    let known = Set(try repository.commits(from: tops + kept))
    let new = lines.filter { !obeyed.contains($0.id) }
    let kinds = Set(new.map(\.kind))
    let first = try HistoryBeginning(
      with: lines.compactMap(\.beginning), in: known, repository)
    var beginning = try first.flatMap { first in
      try Self.beginning(
        of: history, roots, with: first, known: known, tops: tops + kept, kinds: kinds,
        follows: own == nil && !obeyed.isEmpty && !lines.contains {
          $0.beginning?.version == first.first && obeyed.contains($0.id)
        }, isJoining: isJoining)
    }
    try beginning?.put(roots)
    var paired = try FormerForms(
      of: roots.map { beginning?.form(of: $0) ?? $0 }.eachOnce, in: tops, lacking: kept,
      kinds: kinds, withoutFiles: first?.emptied ?? [], repository)
    if let beginning { try paired.pairFirst(beginning.former, with: beginning.first) }
    let hasOthers = paired.versions.contains { paired.forms[$0] == nil }
    try self.init(of: history, learning: paired, hasOthers ? tops : [], kinds)
    self.tops = tops + kept
    self.paired = paired
    (self.beginning, self.known, seen) = (beginning, known, known)
    if let own {
      for id in try repository.commits(from: [own], lacking: tops)
      where try repository.commit(id).parents.contains(where: isNew) { above.insert(id) }
    }
    (goneNotes, changedNotes) = (FollowedNotes(in: history), FollowedNotes(in: history))
    guard let beginning, let files = paired.files[beginning.former] else { return }
    use(files, in: beginning.first)
  }

  /// Removes the content that differs in the pairs of former and rewritten versions.
  ///
  /// - Parameter tops: versions of the new history, which keeps what is not forgotten; none if only messages of
  ///   git are left to rewrite, so that this is not worth a look at every version.
  private init(
    of history: History, learning paired: FormerForms, _ tops: [ObjectID], _ kinds: Set<String>
  ) throws {
    let repository = history.repository
    let learned = try LearnedCut(paired, kinds: kinds, in: repository) { look in
      try paired.survivors(in: tops, look)
    }
    self.init(history, Forgetting(id: "", cut: .learned(learned)), false)
  }

  /// Removes from a history the content that another history has forgotten, when each has forgotten something
  /// else: the result is the same as if the other history had been rewritten for this one's forgettings.
  ///
  /// - Parameters:
  ///   - roots: the heads of this history.
  ///   - tops: those of the other one.
  ///   - kinds: the kinds of content that only the other one has forgotten.
  ///   - allKinds: those that only one of the two has forgotten.
  ///   - begins: the versions with which the other history begins, by its admin's list.
  package init(
    of history: History, _ roots: [ObjectID], besides tops: [ObjectID], kinds: Set<String>,
    allKinds: Set<String>, beginningWith begins: [ForgettingVersion.Beginning]
  ) throws {
    let repository = history.repository
    var beginning = try Self.beginning(
      of: history, roots, besides: tops, begins, kinds: allKinds)
    try beginning?.put(roots)
    let paired = try FormerForms(
      of: roots.map { beginning?.form(of: $0) ?? $0 }.eachOnce, besides: tops, repository)
    try self.init(of: history, learning: paired, tops, kinds)
    self.beginning = beginning
    for (own, other) in paired.forms { besides[other] = own }
    var (gone, changed): ([ObjectID: Set<TreePath>], [ObjectID: Set<TreePath>]) = ([:], [:])
    for (id, files) in paired.files {
      gone[id] = Set(files.keys.filter { files[$0] == .gone })
      changed[id] = Set(files.keys.filter { files[$0] != .gone })
    }
    goneNotes = FollowedNotes(NoteTrail(gone), in: history)
    changedNotes = FollowedNotes(NoteTrail(changed), in: history)
  }

  /// Leaves out a version that was made to remove the content, if it no longer changes anything.
  package mutating func omit(_ version: ObjectID) {
    omitted.insert(version)
    beginning?.omit(version)
  }

  /// Rewrites these versions and their ancestors.
  package mutating func rewrite(
    _ roots: [ObjectID], progress: (_ done: Int, _ of: Int) -> Void = { _, _ in }
  ) throws {
    try beginning?.put(roots)
    let roots = roots.map { beginning?.form(of: $0) ?? $0 }.eachOnce
    let all = try repository.commits(from: roots, lacking: tops)
    if forgetting.first != nil { return seen.formUnion(all) }
    if !hasParts {
      hasParts = true
      // If the other history has all of them, no text is removed here.
      if all.contains(where: { paired?.forms[$0] == nil }) {
        for text in forgetting.texts { try findParts(of: text, in: all) }
      }
    }
    var done = 0
    try repository.withPackedWrites {
      while done < all.count {
        try visit(all[done])
        done += 1
        if done % 256 == 0 { progress(done, all.count) }
      }
    }
    progress(all.count, all.count)
  }

  /// The blobs that are replaced everywhere.
  package var goneBlobs: [ObjectID] {
    guard case .text = forgetting.cut else { return [] }
    return cutBlobs.compactMap { $0.value == nil ? nil : $0.key.file }
  }

  /// The texts to remove wherever they are.
  package var texts: [TextCut] { forgetting.texts }

  /// A blob, and whether it is in a note with removed lines.
  struct Place: Hashable {
    let file: ObjectID
    let isChanged: Bool
  }

  // MARK: One version

  private mutating func visit(_ id: ObjectID) throws {
    guard seen.insert(id).inserted else { return }
    let data = try repository.object(id).data
    let commit = try Commit(parsing: data, id: id)
    let isMoved = commit.parents.contains { forms[$0] != nil }
    if let form = paired?.forms[id] { return try pair(commit, data, with: form) }
    if try commit.parents.contains(where: { try isNew($0) && !isOld(id, on: $0) }) {
      above.insert(id)
      // A later edit by a person is not removed.
      if !isMoved { return }
    }
    let changes = try changes(of: commit)
    var files = try replacements(in: commit, changes: changes)
    if above.contains(id), !files.isEmpty { try keepNew(&files, in: commit) }
    if !files.isEmpty { replaced[id] = files }
    let message = messageCut(of: commit, changes: changes)
    let hasMessage = message.isNeeded(for: Array(commit.message.utf8))
    found.add(files, hasMessage: hasMessage)
    guard !isTrial, isMoved || !files.isEmpty || hasMessage else { return }
    var version = try RewrittenCommit(of: data, id: id)
    version.parents = commit.parents.map { forms[$0] ?? $0 }.eachOnce
    if !files.isEmpty {
      version.tree = try repository.write(tree: commit.tree, replacing: files.mapValues(\.entry))
    }
    if isOmitted(id), let parent = version.parents.first, version.parents.count == 1,
      try repository.commit(parent).tree == version.tree
    {
      forms[id] = parent
      return
    }
    version.message =
      isMoved || !files.isEmpty
      ? message.applied(to: version.message) : message.withoutText(version.message)
    if isShielded(commit, isSigned: version.wasSigned, hasOwn: !files.isEmpty || hasMessage) {
      shielded.insert(id)
      try keepIDs(of: changes, files, in: commit, &version)
    }
    forms[id] = try repository.write(&version, of: commit)
  }

  /// Whether a version was made after something had already been forgotten.
  private func isNew(_ id: ObjectID) throws -> Bool {
    if beginning?.made.contains(id) == true, !known.contains(id) { return above.contains(id) }
    return try above.contains(id)
      || paired != nil && seen.contains(id) && forms[id] == nil
        && (tops.contains(id) || repository.commit(id).isRewritten)
  }

  /// Keeps the files of a merge that it has from a version that was made after something had been forgotten.
  private func keepNew(_ files: inout [TreePath: Replacement], in merge: Commit) throws {
    for parent in try merge.parents.filter(isNew) {
      let tree = try repository.commit(parent).tree
      for path in files.keys where replaced[parent]?[path] == nil {
        guard let entry = try repository.entry(at: path, in: tree),
          try repository.entry(at: path, in: merge.tree) == entry
        else { continue }
        files[path] = nil
      }
    }
  }

  /// Uses a version's form in the history that was already rewritten.
  private mutating func pair(_ commit: Commit, _ data: [UInt8], with form: ObjectID) throws {
    let files = paired?.files[commit.id] ?? [:]
    forms[commit.id] = form
    use(files, in: commit.id)
    let hasOwn = try !files.isEmpty || repository.commit(form).message != commit.message
    if isShielded(commit, isSigned: SignedCommit.isSigned(data), hasOwn: hasOwn) {
      shielded.insert(commit.id)
    }
  }

  /// Uses the files that differ between a version and its form.
  private mutating func use(_ files: [TreePath: Replacement], in id: ObjectID) {
    if !files.isEmpty { replaced[id] = files }
    goneNotes?.set(Set(files.keys.filter { files[$0] == .gone }), in: id)
    changedNotes?.set(Set(files.keys.filter { files[$0] != .gone }), in: id)
  }

  /// The changes of a version against its first parent.
  mutating func changes(of commit: Commit) throws -> [TreeChange] {
    if let known = knownChanges.removeValue(forKey: commit.id) { return known }
    let base = try commit.parents.first.map { try repository.commit($0).tree }
    return try repository.changes(from: base, to: commit.tree)
  }

  private func messageCut(of commit: Commit, changes: [TreeChange]) -> MessageCut {
    var gone: Set<TreePath> = []
    for id in [commit.id] + commit.parents {
      for (path, new) in replaced[id] ?? [:] where new == .gone { gone.insert(path) }
    }
    return MessageCut(
      changes: changes.map(Change.init), gone: gone, texts: forgetting.texts,
      form: { seen.contains($0) ? forms[$0] ?? $0 : nil },
      formNamed: { digits in forms.first { $0.key.hex.hasPrefix(digits) }?.value })
  }
}
