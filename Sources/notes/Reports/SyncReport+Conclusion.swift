internal import Membership
internal import Notebook
internal import Sync

extension SyncReport {
  /// Tells how the run ended as a whole, and with which exit code.
  ///
  /// - Throws: why no device was reached, or why one refused, when that is all there is to say.
  func conclude(_ outcome: SyncOutcome, in notebook: Notebook) throws -> Exit {
    let conflicts = try notebook.conflicts()
    if writesJSON {
      Output.standard.event(
        SyncEventJSON.result(
          tip: outcome.tip, results: outcome.sessions, failures: outcome.failures.map(Peer.init),
          conflicts: conflicts))
    } else {
      tellAbsent(outcome)
      let leftOut = try notebook.leftOut().count
      if leftOut > 0 {
        Output.standard.line(
          Counted.things(leftOut, "note") + (leftOut == 1 ? " is" : " are")
            + " not in this folder; 'notes status' shows why")
      }
      if !conflicts.isEmpty {
        Output.standard.line(
          Counted.things(conflicts.count, "note") + " in conflict: 'notes conflicts' lists "
            + (conflicts.count == 1 ? "it" : "them"))
      }
    }
    if let failure = outcome.failures.first, outcome.sessions.isEmpty {
      throw Failure(describing: failure.error)
    }
    if outcome.sessions.isEmpty { throw Self.nobody(outcome) }
    if let failure = outcome.failures.first {
      let exit = Failure(describing: failure.error).exit
      return exit == .noPeerReached ? .done : exit
    }
    return conflicts.isEmpty ? .done : .conflictsToResolve
  }

  private func tellAbsent(_ outcome: SyncOutcome) {
    // Who is away is news only beside those who are there; alone it is the error below.
    guard !outcome.sessions.isEmpty, !outcome.absent.isEmpty else { return }
    let names = outcome.absent.map { Visible.name($0.name) }
    Output.standard.line(Console.output.paint("not there: " + Counted.list(names), .dim))
  }

  private static func nobody(_ outcome: SyncOutcome) -> Failure {
    guard outcome.absent.isEmpty else {
      let names = Counted.list(outcome.absent.map { Visible.name($0.name) })
      return Failure(
        .noPeerReached, "no_peer", "none of the notebook's devices was found: \(names)",
        hint: "run 'notes sync' or 'notes serve' there too, on the same network; "
          + "or name the device: --at HOST:PORT")
    }
    return Failure(
      .noPeerReached, "no_peer", "the notebook has no other device yet",
      hint: "'notes invite' lets one join")
  }
}

extension SyncReport.Peer {
  init(_ failure: SyncFailure) {
    self.init(
      name: failure.peer?.name, device: failure.peer?.deviceID ?? failure.device,
      address: failure.address, failure: Failure(describing: failure.error))
  }
}
