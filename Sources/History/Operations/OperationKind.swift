/// What a command did to the notebook, as the branch's log (git-reflog(1)) remembers it on this
/// device: `notes: KIND`.
public enum OperationKind: String, Sendable, CaseIterable {
  /// A version of what the folder held.
  case save
  /// A new note.
  case create
  /// A note changed by `notes edit`.
  case edit
  case rename
  case delete
  case restore
  /// A conflict settled.
  case resolve
  /// An automatic merge taken back to markers.
  case unmerge
  /// What a sync brought.
  case receive
  case undo
  case redo
  /// The end of a command that was interrupted.
  case checkout
  /// More of the operation before: what a save merged after its version of the other files.
  case continuation
  /// Something else than `notes`: git, by hand.
  case git
}
