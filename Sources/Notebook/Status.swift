public import History
public import WorkTree

/// How the folder stands to the history.
public struct NotebookStatus: Sendable {
  /// Which notebook it is, and which device this is.
  public let identity: NotebookIdentity
  /// Which version the device shows.
  public let state: NotebookState
  /// What differs from the last version, by path.
  public let changes: [Change]
  /// Files that are not versioned, and why, by path.
  public let skipped: [SkippedFile]
  /// Whether an interrupted checkout waits to be finished by the next command that writes.
  public let isInterrupted: Bool
}

extension Notebook {
  /// How the folder stands to the history. Takes no lock and changes nothing.
  public func status() throws -> NotebookStatus {
    let found = try workTree.changes()
    return NotebookStatus(
      identity: identity, state: try state(), changes: found.changes, skipped: found.skipped,
      isInterrupted: try CheckoutJournal.load(from: stateFolder) != nil)
  }
}
