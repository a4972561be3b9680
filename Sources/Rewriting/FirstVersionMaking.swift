package import Git
internal import History
internal import Merge
internal import WorkTree

/// Makes the first version of a history whose beginning is forgotten, and the versions without content below it:
/// notes-forget(1), "The first version".
struct FirstVersionMaking {
  /// The first version.
  let first: ObjectID
  /// The versions without content, by those of which they are left. Author, dates and place stay.
  let emptied: [ObjectID: ObjectID]
  /// The former versions whose IDs do not help to guess their content: they, or versions below, had a signature.
  let shielded: Set<ObjectID>

  /// - Parameter past: the version and all those on which it is based, parents before children.
  init(of id: ObjectID, _ past: [ObjectID], in history: History) throws {
    let repository = history.repository
    var emptied: [ObjectID: ObjectID] = [:]
    try repository.withPackedWrites {
      for older in past where older != id {
        emptied[older] = try Self.emptied(older, by: emptied, in: repository)
      }
    }
    let shielded = try repository.shielded(of: past)
    (self.emptied, self.shielded) = (emptied, shielded)
    let (commit, data) = (try repository.commit(id), try repository.object(id).data)
    var version = try RewrittenCommit(of: data, id: id)
    version.parents = commit.parents.map { emptied[$0] ?? $0 }.eachOnce
    let former = try commit.parents.first.map { try repository.commit($0).tree }
    version.message = try Self.message(
      of: commit, as: version.message, without: past,
      changes: repository.changes(from: former, to: commit.tree).map(Change.init),
      all: repository.changes(from: nil, to: commit.tree).map(Change.init), in: repository)
    let ids = try history.noteIDs(at: commit).filter {
      $0.isKept || shielded.contains($0.birth)
    }
    version.remove(header: Forgetting.idHeader)
    for note in ids.prefix(HistoryRewriting.mostIDs) {
      version.add(header: Forgetting.idHeader, "\(note.id) \(note.path.hexadecimal)")
    }
    first = try repository.write(&version, of: commit)
  }

  private static func emptied(
    _ id: ObjectID, by others: [ObjectID: ObjectID], in repository: Repository
  ) throws -> ObjectID {
    let commit = try repository.commit(id)
    var version = try RewrittenCommit(of: repository.object(id).data, id: id)
    version.tree = .emptyTree
    version.parents = commit.parents.map { others[$0] ?? $0 }.eachOnce
    version.message = Array(message(ofEmptied: commit).utf8)
    version.remove(header: Forgetting.idHeader)
    return try repository.write(&version, of: commit)
  }

  /// The message of a version that has no content any more. A derived merge stays one.
  private static func message(ofEmptied commit: Commit) -> String {
    guard DerivedMerge.isDerived(commit) else { return Version.emptiedSubject + "\n" }
    var trailers = MergeTrailers()
    trailers.version = MergeTrailers(message: commit.message).version
    return "\(Version.emptiedSubject)\n\n\(trailers.lines().joined(separator: "\n"))\n"
  }

  /// The lines by which `notes` names other versions: the first one has none before it.
  private static let ofFormer = [
    RenameTrailer.key, UndoTrailer.undo, UndoTrailer.redo, "Notes-Edited-On", ForgettingVersion.key,
  ].map { Array("\($0):".utf8) }

  /// The message of a version that is the first one from now on: it adds all notes.
  private static func message(
    of commit: Commit, as message: [UInt8], without past: [ObjectID], changes: [Change],
    all: [Change], in repository: Repository
  ) throws -> [UInt8] {
    let end = UInt8(ascii: "\n")
    var lines = message.split(separator: end, omittingEmptySubsequences: false)
    if let subject = lines.first, subject.elementsEqual(Change.summary(of: changes).utf8) {
      lines[0] = Array(Change.summary(of: all).utf8)[...]
    } else if let subject = lines.first {
      lines[0] = MessageCut.naming(none: past, in: subject)
    }
    lines.removeAll { line in ofFormer.contains { line.starts(with: $0) } }
    let kept = Array(lines.joined(separator: [end]))
    // Others may have left them to older versions.
    let open = try OpenConflicts.conflicts(at: commit.id, in: repository)
    let named = MergeTrailers(message: commit.message).conflicts
    return open == named ? kept : MessageCut.naming(open, in: kept)
  }

  /// The content that is forgotten with the versions before one, and the number of these.
  static func findings(of id: ObjectID, in history: History) throws -> ForgettingFindings {
    let repository = history.repository
    var found = ForgettingFindings()
    // The names of the files that stay, in any version.
    var kept = Set(try repository.files(in: repository.commit(id).tree).map { $0.path })
    for older in try repository.commits(from: [id]).reversed() {
      let version = try repository.commit(older)
      if version.isRewritten, version.tree == .emptyTree,
        version.message == message(ofEmptied: version)
      {
        continue
      }
      if older != id { found.versions += 1 }
      for change in try history.changes(of: version) {
        if !kept.contains(change.path) {
          found.paths.insert(change.path)
        } else if let former = change.formerPath {
          kept.insert(former)
        }
      }
    }
    return found
  }
}

extension Repository {
  /// The versions whose IDs do not help to guess their content: they cover a signature, which only its device can make.
  ///
  /// - Parameter versions: parents before children.
  package func shielded(of versions: [ObjectID]) throws -> Set<ObjectID> {
    var shielded: Set<ObjectID> = []
    for id in versions {
      let data = try object(id).data
      let parents = try Commit(parsing: data, id: id).parents
      if SignedCommit.isSigned(data) || parents.contains(where: shielded.contains) {
        shielded.insert(id)
      }
    }
    return shielded
  }
}
