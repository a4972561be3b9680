internal import Exchange
internal import History
internal import Membership
internal import Notebook
internal import WorkTree

/// Tells what happens, to programs or to people. All calls may come from any thread.
final class EventReport: Sendable {
  enum Occasion {
    case exchange
    /// It waits for a device that joins: the one of this name, or whoever has the code.
    case invitation(guest: String?)
    /// It serves until it is stopped. Its log tells people.
    case service
  }

  private let json: EventJSON?
  private let text: EventText
  private let isQuiet: Bool
  /// What strangers do must neither push the code off the screen nor fill a file.
  private let strangers: RefusalQuota
  private let progress = ProgressLine()

  init(json: Bool, _ occasion: Occasion = .exchange) {
    text = EventText(occasion: occasion)
    if case .service = occasion { isQuiet = true } else { isQuiet = false }
    self.json = json ? EventJSON(showsCode: !isQuiet) : nil
    strangers = isQuiet ? RefusalQuota() : RefusalQuota(burst: 3, perSecond: 0.1)
    progress.start()
  }

  func write(_ event: Event) {
    if case .failed(let failure) = event, text.isByStranger(failure), strangers.take() == nil {
      return
    }
    if let json {
      for line in json.lines(for: event) { Output.standard.event(line) }
    } else if !isQuiet {
      show(event)
    }
  }

  private func show(_ event: Event) {
    if let line = text.progress(of: event) { return progress.show(line) }
    let warning = text.warning(of: event)
    guard let words = warning ?? text.words(for: event) else { return }
    let output = warning == nil ? Output.standard : Output.errors
    progress.clear()
    output.write(words)
    output.flush()
  }

  func finish() { progress.clear() }

  /// Tells how a sync ended as a whole, and with which exit code.
  ///
  /// - Throws: why no device was reached, or why one refused, when that is all there is to say.
  func conclude(_ outcome: SyncOutcome, in notebook: Notebook) throws -> Exit {
    let conflicts = try notebook.history.conflicts()
    if json != nil {
      Output.standard.event(outcome.json(conflicts: conflicts))
    } else {
      let absent = Phrase.list(outcome.absent.map { Visible.name($0.name) })
      // Who is away is news only beside those who are there; alone it is the error below.
      if !outcome.sessions.isEmpty, !absent.isEmpty {
        Output.standard.line(Console.output.paint("not there: " + absent, .dim))
      }
      let sparse = try notebook.workTree.sparseFiles().count
      Output.standard.write(SaveReport.pointer(to: sparse, "note", "not in this folder"))
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
