internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Merge
internal import Notebook
internal import Synchronization
internal import Watch
internal import WorkTree

/// Reports events, to programs or to people. All functions may be called from any thread.
final class EventReport: Sendable {
  enum Occasion {
    case exchange
    /// The command waits for a device to join: the one with this name, or anyone with the code.
    /// `hosts` are this device's addresses.
    case invitation(guest: String?, hosts: [String] = [], needsAdmin: Bool = false)
    /// The command serves until it is stopped, and reports on a terminal, or otherwise in its log.
    case service(ServiceText?)
  }

  private let json: EventJSON?
  private let text: EventText
  private let isQuiet: Bool
  /// Connections of strangers must not scroll the code off the screen or fill a file.
  private let strangers: RefusalQuota
  private let progress = ProgressLine()
  /// The devices already reported: a second session without an exchange is not reported.
  private let told = Mutex<Set<String>>([])
  /// The failures not reported yet, if failures are reported at the end. One of them becomes the command's
  /// error, and is reported only as that.
  private let failures = Mutex<[SyncFailure]>([])
  private let concludes: Bool

  /// - Parameter concludes: whether failures are reported at the end, by `conclude` or by `tellFailures`.
  init(json: Bool, _ occasion: Occasion = .exchange, concludes: Bool = false) {
    self.concludes = concludes && !json
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
    } else if case .service(let service) = text.occasion {
      if let service { show(service.words(for: event), warning: service.warning(of: event)) }
    } else {
      show(event)
    }
  }

  /// Reports the invitations that a command opened, when all are open.
  func write(_ invitations: [OpenInvitation]) {
    if json == nil { return show(text.words(for: invitations), warning: nil) }
    for invitation in invitations { write(.invitation(open: invitation)) }
  }

  private func show(_ event: Event) {
    if let line = text.progress(of: event) { return progress.show(line) }
    if case .failed(let failure) = event, concludes {
      return failures.withLock { $0.append(failure) }
    }
    if case .finished(let result) = event {
      let isFirst = told.withLock { $0.insert(result.peer.deviceID).inserted }
      if !isFirst, result.movedNothing { return }
    }
    show(text.words(for: event), warning: text.warning(of: event))
  }

  private func show(_ words: String?, warning: String?) {
    guard let words = warning ?? words else { return }
    let output = warning == nil ? Output.standard : Output.errors
    progress.clear()
    output.write(warning == nil ? Console.output.wrapped(words) : words)
    output.flush()
  }

  func finish() { progress.clear() }

  /// Reports the failures so far, each once, except `error`, which becomes the command's error.
  func tellFailures(besides error: SyncFailure? = nil) {
    var told = error.map { [text.words(for: .failed($0))] } ?? []
    let untold = failures.withLock { failures in
      defer { failures = [] }
      return failures
    }
    for failure in untold {
      let words = text.words(for: .failed(failure))
      if !told.contains(words) { show(words, warning: text.warning(of: .failed(failure))) }
      told.append(words)
    }
  }

  /// - Throws: the reason why no device was reached, or why one refused, if there is nothing else
  ///   to report.
  func conclude(
    _ outcome: SyncOutcome, in notebook: Notebook, mode: SyncMode = .both
  ) throws -> Exit {
    let conflicts = try notebook.conflictReports()
    let ownMembership = OwnMembership(of: notebook)
    if json != nil {
      let absent = try notebook.workTree.absentFiles()
      Output.standard.event(
        outcome.json(conflicts: conflicts) + [
          "skipped": absent, "role": ownMembership.word, "unsent": ownMembership.unsent,
        ])
    } else {
      // A device that only shares a hub with this one never connects to it.
      let seen = PeerSightings(stateFolder: notebook.stateFolder)
      let isHubVisited = outcome.sessions.contains(where: \.peer.isHub)
      let absent = Phrase.list(
        outcome.absent.filter { !isHubVisited || seen.last(of: $0.deviceID) != nil }
          .map { Visible.name($0.name) })
      // An unreachable device is reported here only if others were reached; otherwise it is the
      // error below.
      if !outcome.sessions.isEmpty, !absent.isEmpty {
        Output.standard.line(Console.output.paint("not there: " + absent, .dim))
      }
      Output.standard.tell(SaveReport.text(ofAbsent: try notebook.workTree.absentFiles()))
      if !outcome.sessions.isEmpty {
        Output.standard.tell(RoleNews.take(of: notebook)?.text ?? "")
      }
      if mode == .both, !outcome.sessions.isEmpty || ownMembership.sharing != nil {
        Output.standard.tell(ownMembership.text)
      }
      Output.standard.tell(conflicts.summary)
    }
    let failures = outcome.failures.map { ($0, Failure(describing: $0.error)) }
    // If others were reached, an unreachable device is not an error; all other failures are.
    if let (place, reason) = failures.first(where: {
      outcome.sessions.isEmpty || $1.exit != .noPeerReached
    }) {
      tellFailures(besides: place)
      var failure = reason
      if let hub = place.peer, hub.isHub, failure.kind == Failure.unsignedVersion.kind,
        let notice = RefusalNotice.ofUnsigned(at: hub.name, in: notebook)
      {
        failure.hint = "nothing was kept; \(notice.remedy)"
      }
      let culprit = EventText.culprit(place)
      let isTold = json != nil && outcome.sessions.isEmpty || failure.message.contains(culprit)
      if !isTold { failure.message = "\(culprit): \(failure.message)" }
      throw failure
    }
    if !failures.isEmpty { return .done }
    if outcome.sessions.isEmpty { throw Self.nobody(outcome) }
    if mode == .push, let message = ownMembership.readerMessage {
      throw Failure(.refusedByPeer, "reader", message, hint: ownMembership.readerRemedy)
    }
    return conflicts.isEmpty ? .done : .conflictsToResolve
  }

  private static func nobody(_ outcome: SyncOutcome) -> Failure {
    guard !outcome.absent.isEmpty else {
      return Failure(
        .noPeerReached, "no_peer", "the notebook has no other device yet",
        hint: "'notes invite' lets another device join")
    }
    let names = Phrase.list(outcome.absent.map { Visible.name($0.name) })
    let elsewhere = outcome.elsewhere.map { Visible.name($0.name) }
    return Failure(
      .noPeerReached, "no_peer", "no device of the notebook was found: \(names)",
      hint: elsewhere.isEmpty
        ? "also run 'notes sync' on the other device, on the same network; or give its address: --at "
          + "HOST:PORT"
        : OwnMembership.elsewhereMessage(elsewhere) + "; " + OwnMembership.elsewhereRemedy)
  }
}

extension SessionResult {
  fileprivate var movedNothing: Bool {
    receivedVersions + sentVersions == 0 && joins.isEmpty && isInSync
  }
}
