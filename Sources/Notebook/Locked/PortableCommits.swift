internal import Git
internal import History
internal import WorkTree

/// What stands in the place of commits that other devices do not take: notes-merge(7), "Versions made by
/// hand".
///
/// The cost follows what was made by hand, not the size of a version: what `notes` makes holds nothing
/// that what it is made on does not.
struct PortableCommits {
  private let repository: Repository
  /// What stands in the place of a commit that is not plain.
  private var forms: [ObjectID: ObjectID] = [:]
  /// What the trees of commits hold that no device takes; no entry stands for nothing.
  private var unfit: [ObjectID: [TreePath: SkipReason]] = [:]

  init(in repository: Repository) { self.repository = repository }

  /// The plain form of a commit, which is stored if it is not the commit itself.
  ///
  /// - Parameter plain: commits that are known to be plain, with all their history.
  mutating func commit(for tip: ObjectID, knowing plain: [ObjectID]) throws -> ObjectID {
    let walk = try repository.walk(from: [tip], hiding: plain, order: .oldestFirst)
    while let id = try walk.next() { try look(at: id) }
    return forms[tip] ?? tip
  }

  /// What the plain form of a commit lacks of it, by path.
  func excluded(from commit: ObjectID) -> [SkippedFile] {
    (unfit[commit] ?? [:]).map { SkippedFile(path: $0.key, reason: $0.value) }
      .sorted { $0.path < $1.path }
  }

  private mutating func look(at id: ObjectID) throws {
    let commit = try repository.commit(id)
    let former = commit.parents.first
    var found = former.flatMap { unfit[$0] } ?? [:]
    if !found.isEmpty || !DeviceIdentity.isOurs(commit.committer) {
      let base = try former.map { try repository.commit($0).tree }
      for change in try repository.changes(from: base, to: commit.tree) {
        found[change.path] = try change.new.flatMap { try problem(with: $0, at: change.path) }
      }
    }
    if !found.isEmpty { unfit[id] = found }
    let parents = commit.parents.map { forms[$0] ?? $0 }
    let (author, committer) = (commit.author.plain, commit.committer.plain)
    guard
      !found.isEmpty || parents != commit.parents || author != commit.author
        || committer != commit.committer
    else { return }
    forms[id] = try repository.write(
      commit: tree(of: commit, without: Array(found.keys), upon: parents.first),
      parents: parents.eachOnce, author: author, committer: committer, message: commit.message)
  }

  /// The commit's tree with what the parent has in the place of what no device takes.
  private func tree(
    of commit: Commit, without paths: [TreePath], upon parent: ObjectID?
  ) throws -> ObjectID {
    let former = try parent.map { try repository.commit($0).tree }
    var replaced: [TreePath: TreeEntry?] = [:]
    for path in paths {
      replaced.updateValue(
        try former.flatMap { try repository.entry(at: path, in: $0) }, forKey: path)
    }
    return replaced.isEmpty
      ? commit.tree : try repository.write(tree: commit.tree, replacing: replaced)
  }

  /// Why no device takes a file of a version, or nil when they do.
  private func problem(with file: TreeEntry, at path: TreePath) throws -> SkipReason? {
    if let kind = SkipReason(of: file.mode) { return kind }
    if let why = NameRules.problem(withPath: path) { return .unfitName(why: why) }
    let size = try repository.header(of: file.id).size
    return size > PackLimits.standard.objectBytes ? .tooLarge(size: size) : nil
  }
}

extension Signature {
  /// With no character or time that no device takes (notes-protocol(7), PACKS).
  fileprivate var plain: Signature {
    func clean(_ text: String) -> String {
      if text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) { return text }
      return String(
        decoding: text.utf8.map { $0 < 0x20 || $0 == 0x7f ? 0x20 : $0 }, as: UTF8.self)
    }
    return Signature(
      name: clean(name), email: clean(email), time: min(max(time, 0), Signature.latestTime),
      offset: offset)
  }
}

extension SkipReason {
  /// Why no device takes what a version holds with that mode; nil for a file.
  init?(of mode: FileMode) {
    switch mode {
    case .regular, .executable: return nil
    case .symlink: self = .symbolicLink
    case .submodule: self = .nestedRepository
    default: self = .specialFile
    }
  }
}

extension Array where Element: Hashable {
  /// The elements in order, none a second time.
  fileprivate var eachOnce: [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}
