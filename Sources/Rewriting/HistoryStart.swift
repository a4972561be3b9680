internal import Git
internal import History
internal import Merge

/// The version with which a history begins since everything before it was forgotten: notes-forget(1), "The first
/// version".
struct HistoryStart {
  /// The former version; nil if it is not here.
  let version: ObjectID?
  /// The rewritten version, which has no parents.
  let form: ObjectID
  /// The former versions that the rewritten one stands for.
  let past: Set<ObjectID>

  /// The header of the rewritten version for each device: `DEVICE ID`, the device's last version that it stands for.
  static let header = "notes-before"
  /// The most such headers.
  static let mostDevices = 1_000

  /// Finds, among the versions of a former history, those that the first version of a rewritten one stands for; nil
  /// if there are none.
  ///
  /// - Parameters:
  ///   - rewritten: versions of the rewritten history.
  ///   - versions: versions that are not in it, parents before children.
  ///   - isForm: whether a rewritten version can be the form of one of these.
  static func find(
    in rewritten: [ObjectID], among versions: [ObjectID], _ repository: Repository,
    isForm: (_ new: Commit, _ former: Commit) throws -> Bool = { _, _ in true }
  ) throws -> HistoryStart? {
    if versions.isEmpty { return nil }
    var former: [ObjectID]?
    for id in rewritten {
      let first = try repository.commit(id)
      guard first.parents.isEmpty, first.isRewritten else { continue }
      let versions = try former ?? whole(versions, repository)
      former = versions
      let alike = try versions.first {
        let commit = try repository.commit($0)
        return try commit.author == first.author && commit.committer == first.committer
          && isForm(first, commit)
      }
      if let alike {
        // A first version also has a form if only its content was changed.
        if try repository.commit(alike).parents.isEmpty { continue }
        let past = Set(try repository.commits(from: [alike]))
        return HistoryStart(version: alike, form: id, past: past)
      }
      let past = try versionsBefore(first, among: versions, repository)
      if past.isEmpty { continue }
      return HistoryStart(version: nil, form: id, past: past)
    }
    return nil
  }

  /// The versions of which all history is among these: the others are based on the rewritten history.
  private static func whole(
    _ versions: [ObjectID], _ repository: Repository
  ) throws -> [ObjectID] {
    var whole: Set<ObjectID> = []
    return try versions.filter { id in
      guard try repository.commit(id).parents.allSatisfy(whole.contains) else { return false }
      return whole.insert(id).inserted
    }
  }

  /// A version to merge others with: it has the content of the rewritten one, on top of what the former one was
  /// based on.
  func base(in repository: Repository) throws -> ObjectID {
    let former = try version.map(repository.commit)
    if let former, try former.tree == repository.commit(form).tree { return former.id }
    var standIn = try RewrittenCommit(of: repository.object(form).data, id: form)
    standIn.parents = try former?.parents ?? last(in: repository)
    return try repository.write(standIn)
  }

  /// The versions of the past on which no other one is based.
  func last(in repository: Repository) throws -> [ObjectID] {
    past.subtracting(try past.flatMap { try repository.commit($0).parents }).sorted()
  }

  /// The versions that the first version of another history was based on, although it is not here itself.
  ///
  /// The versions of a device follow each other. So a device's version is one of them if the device's last one, which
  /// the first version names, is based on it, or is not here: then it is newer.
  private static func versionsBefore(
    _ first: Commit, among versions: [ObjectID], _ repository: Repository
  ) throws -> Set<ObjectID> {
    var last: [String: ObjectID] = [:]
    for value in RewrittenCommit.values(ofHeader: header, in: try repository.object(first.id).data)
    {
      let words = value.split(separator: " ")
      if words.count == 2, let id = ObjectID(hex: words[1]) { last[String(words[0])] = id }
    }
    if last.isEmpty { return [] }
    let all = Set(versions)
    let named = last.values.filter(all.contains).sorted()
    var past: Set<ObjectID> = []
    if !named.isEmpty { past = Set(try repository.commits(from: named)) }
    var unseen: Set<ObjectID> = []
    var presumed: [ObjectID] = []
    for id in versions where !past.contains(id) {
      let commit = try repository.commit(id)
      let isLast = commit.deviceID.map { last[$0].map { !all.contains($0) } ?? false }
      if isLast == false || commit.committer.time > first.committer.time
        || commit.parents.contains(where: unseen.contains)
      {
        unseen.insert(id)
      } else if isLast == true {
        presumed.append(id)
      }
    }
    if !presumed.isEmpty { past.formUnion(try repository.commits(from: presumed)) }
    // A merge of such versions adds nothing.
    for id in versions where !past.contains(id) {
      let commit = try repository.commit(id)
      guard !commit.parents.isEmpty, commit.parents.allSatisfy(past.contains) else { continue }
      if try DerivedMerge.isDerived(commit) || HubMerge.isOne(commit, in: repository) {
        past.insert(id)
      }
    }
    return past
  }
}

/// The versions that become one, and what is kept of them.
struct HistoryPast {
  /// The versions whose IDs do not help to guess their content: they, or versions below, had a signature.
  private(set) var shielded: Set<ObjectID> = []
  /// The last version of each device.
  private(set) var last: [String: ObjectID] = [:]

  /// - Parameter versions: parents before children.
  init(_ versions: [ObjectID], in repository: Repository) throws {
    for id in versions {
      let data = try repository.object(id).data
      let commit = try Commit(parsing: data, id: id)
      let wasSigned =
        SignedCommit.isSigned(data)
        || RewrittenCommit.values(ofHeader: Forgetting.header, in: data).contains("signed")
      let isShielded =
        SignedCommit.isSigned(data) || commit.parents.contains(where: shielded.contains)
      if isShielded { shielded.insert(id) }
      for value in RewrittenCommit.values(ofHeader: HistoryStart.header, in: data) {
        let words = value.split(separator: " ")
        if words.count == 2, let id = ObjectID(hex: words[1]) { last[String(words[0])] = id }
      }
      if let device = commit.deviceID, wasSigned, isShielded { last[device] = id }
    }
  }

  /// The headers that name the devices' last versions.
  var headers: [String] {
    last.sorted { $0.key < $1.key }.prefix(HistoryStart.mostDevices).map { "\($0) \($1)" }
  }
}
