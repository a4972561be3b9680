package import Git
internal import Merge

/// Versions of this device that a git command removed from their branch: notes-undo(1), "Versions that git
/// dropped".
///
/// A reference `refs/notes-state/dropped/SECONDS-ID` keeps each of them. It names a commit whose first parent
/// is the version. A second parent is the commit that the branch had instead, if any.
package struct DroppedVersions: Hashable {
  package static let folder = "refs/notes-state/dropped/"

  /// The reference that keeps the versions.
  package let reference: String
  /// When notes noticed the removal, in seconds since 1970.
  package let time: Int64
  /// The newest of the versions; all others are its ancestors.
  package let newest: ObjectID
  /// The commit to which the branch moved; if the branch was deleted, the commit below the versions.
  package let instead: ObjectID?

  package static func reference(to newest: ObjectID, at time: Int64) -> String {
    "\(folder)\(time)-\(newest)"
  }

  /// All dropped versions that are kept, by time. Other references are ignored.
  package static func all(in repository: Repository) throws -> [DroppedVersions] {
    try repository.references(under: folder).compactMap { name, keeper in
      let words = name.dropFirst(folder.count).split(separator: "-")
      guard words.count == 2, let time = Int64(words[0]), let newest = ObjectID(hex: words[1]),
        // An unreadable commit here keeps nothing that could be shown.
        let parents = (try? repository.commit(keeper))?.parents, parents.first == newest
      else { return nil }
      return DroppedVersions(
        reference: name, time: time, newest: newest, instead: parents.dropFirst().first)
    }.sorted { ($0.time, $0.reference) < ($1.time, $1.reference) }
  }

  /// The removal as a step of the branch's log.
  var entry: BranchLog.Entry? {
    instead.map { BranchLog.Entry(old: newest, new: $0, time: time, message: "git: dropped") }
  }

  /// The log's steps, and the drops in `dropped` that the log lacks, because they are of another branch, or
  /// because git has removed their lines.
  static func entries(
    of log: BranchLog, with dropped: [DroppedVersions]
  ) -> [BranchLog.Entry] {
    let known = Set(
      log.entries.filter { OperationHistory.kind(of: $0) == .git }.map(\.old))
    var entries = log.entries
    for entry in dropped.filter({ !known.contains($0.newest) }).compactMap(\.entry) {
      let position = entries.firstIndex { $0.time > entry.time } ?? entries.endIndex
      entries.insert(entry, at: position)
    }
    return entries
  }
}

extension Operation {
  /// The heads that a git command removed and that are not in the history of `tip`.
  package func dropped(from tip: ObjectID, in repository: Repository) throws -> [ObjectID] {
    guard kind == .git, let before else { return [] }
    return try DerivedMerge.reduce([before], in: repository).filter {
      try !repository.isAncestor($0, of: tip)
    }
  }

  /// The summary of a git command that removed versions; nil if it removed none.
  func summaryOfDrop(in repository: Repository) throws -> String? {
    let lost = try dropped(from: after, in: repository)
    guard let first = lost.first else { return nil }
    let versions = try repository.commits(from: lost, lacking: [after])
    if versions.count > 1 { return "Drop \(versions.count) versions" }
    let message = try repository.commit(first).message
    return "Drop: \(message.prefix { !$0.isNewline })"
  }
}
