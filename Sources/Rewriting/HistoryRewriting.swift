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
package struct HistoryRewriting {
  private let history: History
  private let forgetting: Forgetting
  private let isTrial: Bool
  private var followed: FollowedNotes?
  /// The pairs of versions when another history is followed, and that history's tops.
  private var paired: FormerForms?
  private var tops: [ObjectID] = []
  /// The notes that the other history has removed, and those from which it has removed lines.
  private var goneNotes: FollowedNotes?
  private var changedNotes: FollowedNotes?
  /// The versions on top of that history.
  private var above: Set<ObjectID> = []
  /// The rewritten form of each version that has one.
  package private(set) var forms: [ObjectID: ObjectID] = [:]
  private var seen: Set<ObjectID> = []
  /// The replaced files of each version; no entry if there are none.
  private var replaced: [ObjectID: [TreePath: Replacement]] = [:]
  private var cutBlobs: [Place: ObjectID?] = [:]
  /// Lines of blobs that have a part of the text, and the rest of each line.
  private var parts: [ObjectID: [[UInt8]: [UInt8]]] = [:]
  private var hasParts = false
  /// Versions whose IDs do not help to guess the forgotten content.
  private var shielded: Set<ObjectID> = []
  private var omitted: Set<ObjectID> = []
  /// Changes of versions that were read for the parts and are still to be visited.
  private var knownChanges: [ObjectID: [TreeChange]] = [:]
  private static let mostKnownChanges = 20_000
  /// The findings so far.
  package private(set) var found = ForgettingFindings()

  private var repository: Repository { history.repository }

  /// - Parameter isTrial: whether only to find out what would be removed; nothing is written.
  package init(of history: History, _ forgetting: Forgetting, isTrial: Bool = false) {
    (self.history, self.forgetting, self.isTrial) = (history, forgetting, isTrial)
    switch forgetting.cut {
    case .text, .learned: break
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
  ///   - kinds: the kinds of forgotten content.
  package init(
    of history: History, _ roots: [ObjectID], like tops: [ObjectID], keeping kept: [ObjectID] = [],
    obeying own: ObjectID? = nil, kinds: Set<String>
  ) throws {
    let repository = history.repository
    let kept = kept + [own].compactMap(\.self)
    let paired = try FormerForms(of: roots, in: tops, lacking: kept, repository)
    let hasOthers = paired.versions.contains { paired.forms[$0] == nil }
    try self.init(of: history, learning: paired, hasOthers ? tops : [], kinds)
    self.tops = tops + kept
    self.paired = paired
    seen = Set(try repository.commits(from: self.tops))
    if let own {
      for id in try repository.commits(from: [own], lacking: tops)
      where try repository.commit(id).parents.contains(where: isNew) { above.insert(id) }
    }
    (goneNotes, changedNotes) = (FollowedNotes(in: history), FollowedNotes(in: history))
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
    self.init(of: history, Forgetting(id: "", cut: .learned(learned)))
  }

  /// Removes from a history the content that another history has forgotten, when each has forgotten something
  /// else: the result is the same as if the other history had been rewritten for this one's forgettings.
  ///
  /// - Parameters:
  ///   - roots: the heads of this history.
  ///   - tops: those of the other one.
  package init(
    of history: History, _ roots: [ObjectID], besides tops: [ObjectID], kinds: Set<String>
  ) throws {
    let repository = history.repository
    let paired = try FormerForms(of: roots, besides: tops, repository)
    try self.init(of: history, learning: paired, tops, kinds)
    var (gone, changed): ([ObjectID: Set<TreePath>], [ObjectID: Set<TreePath>]) = ([:], [:])
    for (id, files) in paired.files {
      gone[id] = Set(files.keys.filter { files[$0] == .gone })
      changed[id] = Set(files.keys.filter { files[$0] != .gone })
    }
    goneNotes = FollowedNotes(NoteTrail(gone), in: history)
    changedNotes = FollowedNotes(NoteTrail(changed), in: history)
  }

  /// Leaves out a version that was made to remove the content, if it no longer changes anything.
  package mutating func omit(_ version: ObjectID) { omitted.insert(version) }

  /// Rewrites these versions and their ancestors.
  package mutating func rewrite(
    _ roots: [ObjectID], progress: (_ done: Int, _ of: Int) -> Void = { _, _ in }
  ) throws {
    let all = try repository.commits(from: roots, lacking: tops)
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

  /// The rewritten form of a version, or the version itself; nil if it was not visited.
  package func form(of id: ObjectID) -> ObjectID? { seen.contains(id) ? forms[id] ?? id : nil }

  /// The replaced files of a version: nil for a removed one.
  package func files(in id: ObjectID) -> [TreePath: TreeEntry?] {
    (replaced[id] ?? [:]).mapValues(\.entry)
  }

  /// The blobs that are replaced everywhere.
  package var goneBlobs: [ObjectID] {
    guard case .text = forgetting.cut else { return [] }
    return cutBlobs.compactMap { $0.value == nil ? nil : $0.key.file }
  }

  /// The texts to remove wherever they are.
  package var texts: [TextCut] { forgetting.texts }

  /// A blob, and whether it is in a note with removed lines.
  private struct Place: Hashable {
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
    if try commit.parents.contains(where: isNew) {
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
    if omitted.contains(id), let parent = version.parents.first, version.parents.count == 1,
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
    if !commit.isRewritten {
      version.add(header: Forgetting.header, version.wasSigned ? "signed" : "unsigned")
    }
    forms[id] = try repository.write(version)
  }

  /// Whether a version was made after something had already been forgotten.
  private func isNew(_ id: ObjectID) throws -> Bool {
    try above.contains(id)
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
    if !files.isEmpty { replaced[commit.id] = files }
    forms[commit.id] = form
    goneNotes?.set(Set(files.keys.filter { files[$0] == .gone }), in: commit.id)
    changedNotes?.set(Set(files.keys.filter { files[$0] != .gone }), in: commit.id)
    let hasOwn = try !files.isEmpty || repository.commit(form).message != commit.message
    if isShielded(commit, isSigned: SignedCommit.isSigned(data), hasOwn: hasOwn) {
      shielded.insert(commit.id)
    }
  }

  /// The changes of a version against its first parent.
  private mutating func changes(of commit: Commit) throws -> [TreeChange] {
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

  // MARK: Files

  private mutating func replacements(
    in commit: Commit, changes: [TreeChange]
  ) throws -> [TreePath: Replacement] {
    var files = commit.parents.first.flatMap { replaced[$0] } ?? [:]
    let notes = try followed?.paths(in: commit, changes: changes)
    let gone = try goneNotes?.paths(in: commit, changes: changes) ?? []
    let changed = try changedNotes?.paths(in: commit, changes: changes) ?? []
    for change in changes {
      if change.new != nil { found.allPaths.insert(change.path) }
      files[change.path] = try change.new.flatMap {
        try replacement(for: $0, at: change.path, among: notes, gone, changed)
      }
    }
    // A merge may have a note from another parent than the first, unchanged.
    for path in (notes ?? []).union(gone).union(changed) where files[path] == nil {
      guard let entry = try repository.entry(at: path, in: commit.tree) else { continue }
      files[path] = try replacement(for: entry, at: path, among: notes, gone, changed)
    }
    return files
  }

  private mutating func replacement(
    for file: TreeEntry, at path: TreePath, among notes: Set<TreePath>?, _ gone: Set<TreePath>,
    _ changed: Set<TreePath>
  ) throws -> Replacement? {
    if let notes, !notes.contains(path) { return nil }
    if case .notes = forgetting.cut { return .gone }
    guard file.mode.isFile else { return nil }
    if gone.contains(path), case .learned(let cut) = forgetting.cut {
      let content = try repository.blobReadOnce(file.id)
      guard let rest = cut.rest(of: content, file.id) else { return .gone }
      let new = forgetting.texts.applied(to: rest) ?? rest
      return new == content ? nil : .file(file.with(try repository.write(blob: new)))
    }
    let place = Place(file: file.id, isChanged: changed.contains(path))
    return try self.cut(place, at: path).map { .file(file.with($0)) }
  }

  /// The replacement of a blob; nil if it is kept.
  private mutating func cut(_ place: Place, at path: TreePath) throws -> ObjectID? {
    if let known = cutBlobs[place] { return known }
    let id = place.file
    let content = try repository.blobReadOnce(id)
    var new: [UInt8]?
    switch forgetting.cut {
    case .text: new = withoutTexts(content, id, at: path)
    case .lines(let lines, _): if content.isTextByLook { new = lines.applied(to: content) }
    case .notes: break
    case .learned(let cut):
      if let known = cut.files[id] {
        cutBlobs[place] = .some(known)
        return known
      }
      new = withoutTexts(content, id, at: path)
      if place.isChanged, content.isTextByLook {
        new = LineCut.replacing(in: new ?? content) { cut.lines[$0] } ?? new
      }
    }
    let blob = try new.map { try isTrial ? repository.hash(blob: $0) : repository.write(blob: $0) }
    cutBlobs[place] = .some(blob)
    return blob
  }

  private mutating func withoutTexts(
    _ content: [UInt8], _ id: ObjectID, at path: TreePath
  ) -> [UInt8]? {
    guard content.isTextByLook else {
      if forgetting.texts.contains(where: { $0.isIn(content) }) { found.attachments.insert(path) }
      return nil
    }
    let new = forgetting.texts.applied(to: content)
    guard let lines = parts[id] else { return new }
    return LineCut.replacing(in: new ?? content) { lines[$0] } ?? new
  }

  private mutating func findParts(of cut: TextCut, in versions: [ObjectID]) throws {
    let repository = repository
    var pieces = TextPieces(of: cut.text) {
      let content = try repository.blob($0)
      return content.isTextByLook ? content : []
    }
    for id in versions {
      let commit = try repository.commit(id)
      let changes = try changes(of: commit)
      if knownChanges.count < Self.mostKnownChanges, changes.count < Self.mostKnownChanges / 1000 {
        knownChanges[id] = changes
      }
      for change in changes {
        if let old = change.old, let new = change.new, old.mode.isFile, new.mode.isFile {
          pieces.add(old.id, new.id)
        }
      }
      // A version may rename and edit a note at the same time.
      guard changes.contains(where: { $0.old == nil }), changes.contains(where: { $0.new == nil })
      else { continue }
      for change in try history.changes(of: commit) where change.formerPath != nil {
        if let old = change.old, let new = change.new { pieces.add(old, new) }
      }
    }
    parts.merge(try pieces.found()) { $0.merging($1) { first, _ in first } }
  }

  // MARK: Note IDs

  /// Whether the ID of a version does not help to guess the removed content: it covers a signature, which only
  /// its device can make.
  private func isShielded(_ commit: Commit, isSigned: Bool, hasOwn: Bool) -> Bool {
    isSigned
      || !hasOwn && commit.parents.allSatisfy { forms[$0] == nil || shielded.contains($0) }
  }

  private static let mostIDs = 1_000

  private func keepIDs(
    of changes: [TreeChange], _ files: [TreePath: Replacement], in commit: Commit,
    _ version: inout RewrittenCommit
  ) throws {
    let born = changes.filter { $0.old == nil && files[$0.path] != .gone }.prefix(Self.mostIDs)
    for change in born {
      let id = try history.noteID(bornAs: change.path, in: commit.id)
      version.add(header: Forgetting.idHeader, "\(id) \(change.path.hexadecimal)")
    }
  }
}

extension TreeEntry {
  fileprivate func with(_ id: ObjectID) -> TreeEntry { TreeEntry(name: name, mode: mode, id: id) }
}
