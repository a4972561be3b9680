internal import History
internal import Membership
internal import Notebook
internal import Sync
internal import WorkTree

extension EventReport {
  /// Tells how a sync ended as a whole, and with which exit code.
  ///
  /// - Throws: why no device was reached, or why one refused, when that is all there is to say.
  func conclude(_ outcome: SyncOutcome, in notebook: Notebook) throws -> Exit {
    let conflicts = try notebook.history.conflicts()
    if writesJSON {
      Output.standard.event(outcome.json(conflicts: conflicts))
    } else {
      tellAbsent(outcome)
      let sparse = try notebook.workTree.sparseFiles().count
      if sparse > 0 {
        Output.standard.line(
          Phrase.count(sparse, "note") + (sparse == 1 ? " is" : " are")
            + " not in this folder; 'notes status' shows why")
      }
      if !conflicts.isEmpty {
        Output.standard.line(
          Phrase.count(conflicts.count, "note") + " in conflict: 'notes conflicts' lists "
            + (conflicts.count == 1 ? "it" : "them"))
      }
    }
    if let failure = outcome.failures.first {
      let failure = Failure(describing: failure.error)
      if outcome.sessions.isEmpty { throw failure }
      return failure.exit == .noPeerReached ? .done : failure.exit
    }
    if outcome.sessions.isEmpty { throw Self.nobody(outcome) }
    return conflicts.isEmpty ? .done : .conflictsToResolve
  }

  private func tellAbsent(_ outcome: SyncOutcome) {
    // Who is away is news only beside those who are there; alone it is the error below.
    guard !outcome.sessions.isEmpty, !outcome.absent.isEmpty else { return }
    let names = outcome.absent.map { Visible.name($0.name) }
    Output.standard.line(Console.output.paint("not there: " + Phrase.list(names), .dim))
  }

  private static func nobody(_ outcome: SyncOutcome) -> Failure {
    guard !outcome.absent.isEmpty else {
      return Failure(
        .noPeerReached, "no_peer", "the notebook has no other device yet",
        hint: "'notes invite' lets one join")
    }
    let names = Phrase.list(outcome.absent.map { Visible.name($0.name) })
    return Failure(
      .noPeerReached, "no_peer", "none of the notebook's devices was found: \(names)",
      hint: "run 'notes sync' or 'notes serve' there too, on the same network; "
        + "or name the device: --at HOST:PORT")
  }
}
