internal import Git
internal import Notebook
internal import Sync
internal import Synchronization

/// Tells what happens while devices exchange versions: to people, or to programs.
final class SyncReport: Sendable {
  private struct State {
    var results: [SessionResult] = []
    var failures: [Peer] = []
    /// Whether anything was written for people yet.
    var isEmpty = true
  }

  /// A device that a session failed with.
  struct Peer: Sendable {
    let name: String?
    let device: String?
    let address: String
    let failure: Failure
  }

  let writesJSON: Bool
  private let terminal: Terminal
  private let output: Output
  private let progress: ProgressLine
  private let state = Mutex(State())

  init(json: Bool, terminal: Terminal = Console.output, output: Output = .standard) {
    writesJSON = json
    self.terminal = terminal
    self.output = output
    progress = ProgressLine()
  }

  /// The sessions that ran to their end.
  var results: [SessionResult] { state.withLock { $0.results } }
  /// The sessions that did not.
  var failures: [Peer] { state.withLock { $0.failures } }

  /// Tells one event. From any thread.
  func tell(_ event: SyncEvent) {
    switch event {
    case .finished(let result): state.withLock { $0.results.append(result) }
    case .failed(let peer, let device, let address, let error):
      let failed = Peer(
        name: peer?.name, device: peer?.deviceID ?? device, address: address,
        failure: Failure(describing: error))
      state.withLock { $0.failures.append(failed) }
    default: break
    }
    if writesJSON {
      for line in SyncEventJSON.lines(for: event) { output.event(line) }
    } else {
      tellPeople(event)
    }
  }

  private func tellPeople(_ event: SyncEvent) {
    switch event {
    case .progress(let transfer): progress.show(Self.words(for: transfer))
    case .finished(let result):
      progress.clear()
      write(SessionText(result: result).text(on: terminal))
    case .failed(let peer, _, let address, let error):
      progress.clear()
      let name = peer.map { Visible.name($0.name) } ?? Visible.name(address)
      let failure = Failure(describing: error)
      write(terminal.paint(name, .bold) + ": " + terminal.paint(failure.message, .red) + "\n")
    case .refused(let peer, let error):
      progress.clear()
      let failure = Failure(describing: error)
      write(
        terminal.paint(Visible.name(peer.name), .bold) + ": "
          + terminal.paint(failure.message, .red) + "\n")
    case .replaced(let plain):
      progress.clear()
      Output.errors.write(plain.warning)
      Output.errors.flush()
    case .discoveryFailed(let error):
      progress.clear()
      // The others are still tried, so this is a remark and not the end.
      let failure = Failure(describing: error)
      Output.errors.write("notes: warning: \(failure.message)\n")
      if let hint = failure.hint { Output.errors.write("notes: hint: \(hint)\n") }
      Output.errors.flush()
    case .listening, .peer, .received, .differs: break
    }
  }

  private func write(_ text: String) {
    output.write(text)
    output.flush()
  }

  /// Takes the progress line away.
  func finish() { progress.clear() }

  static func words(for transfer: TransferProgress) -> String {
    let name = Visible.name(transfer.peer.name)
    switch transfer.stage {
    case .moving: break
    case .joining where transfer.objectsToReceive > 0:
      return "\(name): checking \(Counted.things(transfer.objectsToReceive, "object"))"
    case .joining: return "\(name): joining"
    case .waiting: return "\(name) is working"
    }
    var parts: [String] = []
    if transfer.objectsToReceive > 0 {
      parts.append(
        "receiving \(Counted.bytes(transfer.receivedBytes)) in "
          + Counted.things(transfer.objectsToReceive, "object"))
    }
    if transfer.objectsToSend > 0 {
      parts.append(
        "sending \(Counted.grouped(transfer.sentObjects)) of "
          + Counted.things(transfer.objectsToSend, "object"))
    }
    return name + ": " + parts.joined(separator: ", ")
  }
}

/// What a session did, for people: who, how much, and which notes.
struct SessionText {
  let result: SessionResult

  func text(on terminal: Terminal) -> String {
    let name = terminal.paint(Visible.name(result.peer.name), .bold)
    return "\(name): \(summary)\n" + JoinText(joins: result.joins).text(on: terminal)
  }

  /// `received 3 versions, sent 1 version; in sync`.
  private var summary: String {
    var parts: [String] = []
    if result.receivedVersions > 0 {
      parts.append("received " + Counted.things(result.receivedVersions, "version"))
    }
    if result.sentVersions > 0 {
      parts.append("sent " + Counted.things(result.sentVersions, "version"))
    }
    let moved = parts.isEmpty ? "nothing new" : parts.joined(separator: ", ")
    if result.tipDifference != nil { return moved + "; merged differently, see 'notes doctor'" }
    return moved + (result.isInSync ? "; in sync" : "")
  }
}

/// What joining a peer's versions changed in the folder.
struct JoinText {
  let joins: [JoinResult]

  func text(on terminal: Terminal, indent: String = "  ") -> String {
    let changes = joins.flatMap(\.changes)
    var table = Table(flexible: 1, indent: indent)
    for change in changes.prefix(20) {
      table.add([ChangeWord.cell(change.kind), Table.Cell(Visible.name(change.path))])
    }
    for report in joins.flatMap(\.reports) {
      if let row = Self.row(for: report) { table.add(row) }
    }
    for path in joins.flatMap(\.conflicts) {
      table.add([
        Table.Cell("conflict", .boldYellow), Table.Cell(Visible.name(path)),
        Table.Cell("to resolve", .dim),
      ])
    }
    var lines = table.lines(for: terminal)
    if changes.count > 20 {
      lines.insert(
        indent + "and \(Counted.things(changes.count - 20, "file")) more", at: 20)
    }
    return lines.map { $0 + "\n" }.joined()
  }

  /// Conflicts have rows of their own.
  private static func row(for report: MergeReport) -> [Table.Cell]? {
    let remark: String
    switch report.kind {
    case .conflict: return nil
    case .merged(let rules): remark = rules.phrase
    case .keptEdit: remark = "edited by one, deleted by another: kept"
    case .renamed(let former): remark = "renamed from \(Visible.name(former))"
    case .renamedDifferently(let former):
      remark = "renamed differently from \(Visible.name(former)): both names kept"
    case .copied(let original): remark = "kept beside \(Visible.name(original))"
    }
    return [
      Table.Cell("merged", .cyan), Table.Cell(Visible.name(report.path)),
      Table.Cell(remark, .dim),
    ]
  }
}
