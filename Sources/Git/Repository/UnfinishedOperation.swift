internal import Glibc
internal import System

/// Something that git was told to do, and that waits for a person to finish it or to give it up.
public enum UnfinishedOperation: String, Codable, Sendable {
  case rebase, merge, revert
  case cherryPick = "cherry-pick"

  /// The files that git keeps in its folder as long as an operation is under way: gitrevisions(7),
  /// git-rebase(1). A rebase may stand at a commit that it is picking.
  fileprivate static let signs: [(file: String, operation: UnfinishedOperation)] = [
    ("rebase-merge", .rebase), ("rebase-apply", .rebase), ("MERGE_HEAD", .merge),
    ("CHERRY_PICK_HEAD", .cherryPick), ("REVERT_HEAD", .revert),
  ]
}

extension Repository {
  /// The operation that git is in the middle of; nil for none.
  public var unfinishedOperation: UnfinishedOperation? {
    UnfinishedOperation.signs.first { Counted.access("\(gitFolder)/\($0.file)", F_OK) == 0 }?
      .operation
  }
}
