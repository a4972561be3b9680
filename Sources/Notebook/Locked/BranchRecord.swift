internal import Git
internal import Glibc
internal import History
internal import Merge
internal import System
internal import WorkTree

/// The commit of each branch when `notes` last moved or read it: `refs/notes-state/made/BRANCH`. It keeps every
/// version made here reachable, whatever git does to the branch. It also shows when git has removed a version
/// from the branch: notes-undo(1), "Versions that git dropped".
struct BranchRecord {
  static let folder = "refs/notes-state/made/"

  let writer: VersionWriter

  private var repository: Repository { writer.repository }

  /// The reference with the record of a branch or of a detached HEAD.
  private func name(of reference: String) -> String {
    Self.folder + (reference.hasPrefix("refs/") ? String(reference.dropFirst(5)) : reference)
  }

  private func reference(named name: String) -> String {
    let rest = String(name.dropFirst(Self.folder.count))
    return rest.contains("/") ? "refs/" + rest : rest
  }

  func follow(_ reference: String, at id: ObjectID) throws {
    try writer.copy(reference: reference, at: id, to: name(of: reference))
  }

  /// Keeps versions that a git command has removed from their branch since the last command, and
  /// updates the record to the branch's present commit.
  func keepDropped(at time: Int64) throws {
    let head = try repository.head()
    if isUpToDate(head) { return }
    let recorded = try repository.references(under: Self.folder)
    for (name, last) in recorded {
      let branch = reference(named: name)
      let tip = try branch == head.reference ? head.commit : repository.reference(branch)
      if tip == last { continue }
      try keep(last, unlessReachableFrom: head, insteadOf: tip, at: time)
      if let tip, branch != "HEAD" || branch == head.reference {
        try follow(branch, at: tip)
      } else {
        try repository.delete(reference: name)
      }
    }
    if let tip = head.commit { try follow(head.reference, at: tip) }
  }

  /// A check without reading all references, for the usual case: one branch, which is where notes left
  /// it.
  private func isUpToDate(_ head: Head) -> Bool {
    guard let tip = head.commit, head.branch != nil else { return false }
    return repository.hasFile(ofReference: name(of: head.reference), at: tip)
      && Disk.namesIfAny(in: "\(repository.gitFolder)/\(Self.folder)heads").count == 1
      && Counted.access("\(repository.gitFolder)/\(Self.folder)HEAD", F_OK) != 0
  }

  private func keep(
    _ last: ObjectID, unlessReachableFrom head: Head, insteadOf tip: ObjectID?, at time: Int64
  ) throws {
    guard try isDropped(last, head) else { return }
    let kept = try DroppedVersions.all(in: repository)
    guard !kept.contains(where: { $0.newest == last }) else { return }
    // If the branch is gone, the commit below the dropped versions stands in for its tip.
    let instead =
      try tip ?? head.commit.flatMap { try repository.mergeBases(of: last, and: $0).first }
    let parents = try [last, instead].compactMap { try $0.map(repository.commit) }
    let keeper = try writer.makeVersion(
      of: parents[0].tree, parents: parents, message: "Kept by notes: git dropped these versions")
    try writer.setDeviceReference(
      DroppedVersions.reference(to: last, at: time), to: keeper, message: "notes: dropped")
  }

  /// Whether a version, or one of those that it merges, is reachable from no branch and no tag. References for
  /// other devices' versions do not count: those devices may also lose the versions.
  private func isDropped(_ last: ObjectID, _ head: Head) throws -> Bool {
    guard try repository.contains(last) else { return false }
    let places = ["refs/heads/", "refs/tags/"]
    let known = try places.flatMap { try repository.references(under: $0).map(\.id) }
    let starts = [head.commit].compactMap { $0 } + known.eachOnce
    return try DerivedMerge.reduce([last], in: repository).contains { version in
      try !starts.contains { start in
        // A tag may name something other than a commit.
        try (try? repository.commit(start)) != nil && repository.isAncestor(version, of: start)
      }
    }
  }
}
