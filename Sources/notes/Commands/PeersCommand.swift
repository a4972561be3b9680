internal import ArgumentParser
internal import Discovery
internal import History
internal import Membership
internal import Notebook
internal import System
internal import Watch

struct PeersCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "peers",
    abstract: "List the other devices: which are in reach, and how many versions each lacked.",
    discussion: """
      A device that is connected to 'notes watch' here is "here", a device that announces the notebook \
      now is "near", any other is "away". The list shows the last address of each. An announcement is a \
      hint, not a proof: only a session proves which device it is.

      Examples:
        notes peers
        notes peers --watch
        notes peers --wait 10 --json
      """)

  @Flag(name: .customLong("watch"), help: "Keep running, and show every change.")
  var follows = false
  @OptionGroup var wait: WaitOption
  @OptionGroup var discovery: DiscoveryOption
  @OptionGroup var options: CommonOptions

  func run() throws {
    let notebook = try NotebookLocator.notebook()
    let membership = try notebook.membership()
    if follows { return try follow(notebook, membership) }
    if let live = RunningWatcher.status(of: notebook) {
      return try show(PeersReport(notebook: notebook, members: membership.members(), live: live))
    }
    var near: [String: DiscoveredPeer] = [:]
    var problem: Failure?
    if let discovery = discovery.discovery(for: notebook.identity.device.deviceID) {
      do {
        near = try WaitingLine.show("Looking for the other devices ...") {
          try NearbyDevices.look(
            for: membership.notebookID, with: discovery, seconds: wait.seconds)
        }
      } catch {
        problem = Failure(describing: error)
      }
    }
    try show(PeersReport(notebook: notebook, members: membership.members(), near: near))
    if let problem { throw problem }
  }

  private func show(_ report: PeersReport) throws {
    options.write(report.json) { report.text(on: $0) + report.ownMembership.text }
    Output.standard.flush()
  }

  private func follow(_ notebook: Notebook, _ membership: MembershipStore) throws {
    guard let watcher = RunningWatcher.of(notebook), watcher.ask(.follow)
    else { throw RunningWatcher.missing(notebook) }
    let token = try Interruption.token()
    while watcher.next(within: 86_400, orUntil: token) != nil {
      // Events that have already arrived are shown together.
      while watcher.next(within: 0) != nil {}
      try membership.refresh()
      guard let live = RunningWatcher.status(of: notebook) else { break }
      let report = try PeersReport(notebook: notebook, members: membership.members(), live: live)
      // Move to the top left and erase everything after the cursor: no flicker.
      if !options.json && Console.output.isInteractive { Output.standard.write("\u{1B}[H\u{1B}[J") }
      try show(report)
    }
    if Interruption.hasCome { return try Interruption.exit.end() }
    throw RunningWatcher.missing(notebook)
  }
}

enum NearbyDevices {
  /// The discovered devices by ID: all that discovery already knows, or everything found within so
  /// many seconds.
  static func look(
    for notebookID: String, with discovery: any Discovery, seconds: Double
  ) throws -> [String: DiscoveredPeer] {
    let found = try look(with: discovery, seconds: seconds).filter { $0.notebookID == notebookID }
    return Dictionary(found.map { ($0.deviceID, $0) }) { _, last in last }
  }

  /// The discovered devices of all notebooks.
  static func look(with discovery: any Discovery, seconds: Double) throws -> [DiscoveredPeer] {
    defer { discovery.stop() }
    let events = BlockingQueue<DiscoveryEvent>()
    try discovery.browse(.notebook) { events.put($0) }
    let end = Instant.now + seconds
    var found: [[String]: DiscoveredPeer] = [:]
    search: while let event = events.take(until: end) {
      switch event {
      case .found(let peer): found[[peer.notebookID, peer.deviceID]] = peer
      case .lost(let peer): found[[peer.notebookID, peer.deviceID]] = nil
      case .settled: break search
      case .interrupted, .resumed: break
      }
    }
    return Array(found.values)
  }
}
