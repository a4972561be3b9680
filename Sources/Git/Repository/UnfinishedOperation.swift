internal import Glibc
internal import System

/// A git operation that waits for a person to finish or abort it.
public enum UnfinishedOperation: String, Codable, Sendable {
  case rebase, merge, revert
  case cherryPick = "cherry-pick"

  /// The files that exist in git's folder during an operation: gitrevisions(7), git-rebase(1). A rebase
  /// may be picking a commit at the same time.
  fileprivate static let signs: [(file: String, operation: UnfinishedOperation)] = [
    ("rebase-merge", .rebase), ("rebase-apply", .rebase), ("MERGE_HEAD", .merge),
    ("CHERRY_PICK_HEAD", .cherryPick), ("REVERT_HEAD", .revert),
  ]
}

extension Repository {
  /// The operation in progress; nil if there is none.
  public var unfinishedOperation: UnfinishedOperation? {
    UnfinishedOperation.signs.first { Counted.access("\(gitFolder)/\($0.file)", F_OK) == 0 }?
      .operation
  }
}
