internal import Discovery
internal import Exchange
internal import Git
internal import Glibc
internal import History
internal import Membership
internal import Notebook
internal import System

/// `notes clone --from-member`: fetches notebooks of which this device is a member and has no copy. It fetches
/// them from members or hubs, without a code.
struct CloneFromMember {
  /// The notebook's name or the beginning of its ID; nil for all.
  let name: String?
  let folder: String?
  let addresses: [Address]
  let wait: Double
  let discovery: DiscoveryOption
  let options: CommonOptions

  func run() throws {
    let data = try UserFolders().data
    guard let key = try DeviceKey.load(in: data) else { throw DeviceCommand.noKey }
    let absent = try Self.absent(for: key, in: data)
    let wanted = try name.map { [try Self.choice($0, among: absent, in: data)] } ?? absent
    guard !wanted.isEmpty else {
      throw Failure(
        .failed, "nothing_to_fetch",
        "this device knows of no other notebook of which it is a member",
        hint: "'notes notebooks' lists them; 'notes join CODE' joins another notebook")
    }
    var firstFailure: (any Error)?
    for kept in wanted {
      do {
        try fetch(kept, for: key, data)
      } catch {
        // The other notebooks are still tried.
        guard wanted.count > 1, !Interruption.hasCome else { throw error }
        Output.errors.line(
          "notes: warning: \(Visible.name(kept.name)): \(Failure(describing: error).message)")
        firstFailure = firstFailure ?? error
      }
    }
    if let firstFailure { throw firstFailure }
  }

  /// The memberships of this key in notebooks that have no folder here.
  static func absent(for key: DeviceKey, in data: String) throws -> [KeptMembership] {
    let here = Set(
      KnownNotebooks(dataFolder: data).folders().compactMap { folder in
        // A folder that cannot be opened does not count as a copy of the notebook.
        (try? Notebook.open(at: folder))?.identity.id
      })
    return try KeptMembership.all(in: data).filter {
      $0.device == key.deviceID && !here.contains($0.id)
    }
  }

  private static func choice(
    _ name: String, among all: [KeptMembership], in data: String
  ) throws(Failure) -> KeptMembership {
    func isMeant(_ notebook: String, _ id: String) -> Bool {
      notebook.lowercased() == name.lowercased()
        || name.utf8.count >= 4 && id.hasPrefix(name.lowercased())
    }
    let found = all.filter { isMeant($0.name, $0.id) }
    guard let one = found.first else {
      for folder in KnownNotebooks(dataFolder: data).folders() {
        // A folder that cannot be opened does not count as a copy of the notebook.
        guard let here = try? Notebook.open(at: folder) else { continue }
        if isMeant(here.identity.name, here.identity.id) {
          throw KnownNotebooks.isHere(here, by: .cloneFromMember)
        }
      }
      throw Failure(
        .failed, "no_such_membership",
        "no notebook that can be fetched is called '\(Visible.name(name))'",
        hint: Failure.guess(name, among: all.map(\.name)) ?? "'notes device' lists them")
    }
    guard found.count == 1 else {
      throw Failure(
        .failed, "ambiguous_membership", "several notebooks are called \(Visible.name(name))",
        hint: "give the beginning of an ID: \(Phrase.list(found.map { String($0.id.prefix(8)) }))")
    }
    return one
  }

  private func fetch(_ kept: KeptMembership, for key: DeviceKey, _ data: String) throws {
    let place = try NotebookLocator.folder(folder ?? CloneCommand.name(for: kept.name))
    try NotebookPlace(folder: place).check()
    guard Cloning.isFree(place) else { throw CloneCommand.isTaken(place) }
    let isNew = Counted.access(place, F_OK) != 0
    let notebook = try kept.make(at: place, for: key)
    do {
      try fill(notebook)
    } catch {
      // Nothing was received, so nothing is lost.
      if try notebook.state().tip == nil, Disk.namesIfAny(in: place) == [".git"] {
        Disk.removeTree(place + "/.git")
        if isNew { rmdir(place) }
      }
      throw error
    }
    KnownNotebooks(dataFolder: data).add(notebook)
    try CloneCommand.tell(notebook, options)
  }

  /// Fetches from members that are nearby or at the addresses, and then from the hubs.
  private func fill(_ notebook: Notebook) throws {
    let context = try notebook.sessionContext()
    let token = try Interruption.token()
    var run = SyncRun(context: context)
    (run.addresses, run.window) = (addresses, max(wait, 5))
    if addresses.isEmpty { run.discovery = discovery.discovery(for: context.key.deviceID) }
    run.options.allowsLarge = true
    let report = EventReport(json: options.json)
    defer { report.finish() }
    func show(_ event: Event) {
      switch event {
      case .progress, .looking: report.write(event)
      default: break
      }
    }
    var outcome = try run.run(cancellation: token, onEvent: show)
    var visit = HubRun(context: context, hubs: addresses.isEmpty ? try notebook.hubs() : [])
    visit.options.allowsLarge = true
    visit.program.mayAsk = Console.canAsk
    try visit.run(addingTo: &outcome, cancellation: token, onEvent: show)
    guard try notebook.state().tip == nil else { return }
    if let failure = outcome.failures.first { throw failure.error }
    throw Failure(
      .noPeerReached, "no_member_reached",
      "no device of \(Visible.name(notebook.identity.name)) could be reached",
      hint: "run 'notes watch' or 'notes sync' on one of them; --at HOST:PORT names its address")
  }
}
