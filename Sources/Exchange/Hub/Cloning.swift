public import Git
internal import Glibc
internal import History
public import Membership
public import Notebook
public import System

/// Takes a notebook from a hub or a bundle into a folder of its own: `notes clone`. The device is no
/// member by that.
public struct Cloning: Sendable {
  /// The place that a notebook is cloned from.
  public enum Source: Sendable {
    /// A hub, by its address.
    case hub(Hub)
    /// A bundle, by its file's path.
    case bundle(String)
  }

  private let source: Source
  private let key: DeviceKey
  private let deviceName: String
  /// The program that reaches a hub.
  public var program = GitProgram()
  /// The secret of an invitation by a link, which the device answers at the hub before it fetches the versions.
  public var secret: InvitationSecret?
  /// The limits and permissions.
  public var options = SessionOptions()

  /// A clone for the device of that key and name.
  public init(of source: Source, key: DeviceKey, deviceName: String) {
    (self.source, self.key, self.deviceName) = (source, key, deviceName)
  }

  /// Whether a notebook can be cloned into a folder: it is missing or empty, or a clone that was killed
  /// left a notebook there that has no version yet.
  public static func isFree(_ folder: String) -> Bool {
    if Counted.access(folder, F_OK) != 0 || begun(in: folder) != nil { return true }
    // A folder that cannot be listed is not free.
    return (try? Disk.names(in: folder).allSatisfy { $0 == halfMade }) ?? false
  }

  /// The notebook in a folder, where it has no version yet.
  private static func begun(in folder: String) -> Notebook? {
    // A folder that cannot be opened is none that a clone left.
    guard let notebook = try? Notebook.open(at: folder), let state = try? notebook.state(),
      state.tip == nil
    else { return nil }
    return notebook
  }

  /// The name of a repository until it is whole; `Repository.create` starts there again.
  private static let halfMade = ".git.new"

  /// Clones into a folder that `isFree`. The notebook comes into being in one step, and then its
  /// versions come: killed, it leaves a notebook that the next sync or clone completes. Where it throws,
  /// what it made is gone; but once files stand in the folder, all stays: what somebody put there
  /// meanwhile may be among them.
  ///
  /// - Parameter check: told what lies there before anything else comes; what it throws ends it.
  /// - Throws: `HubError`, `BundleError`, and what a visit throws; `SyncError.stopped` when cancelled.
  public func run(
    into folder: String, cancellation: CancellationToken? = nil,
    check: (_ found: ClonedNotebook) throws -> Void, onEvent: @escaping (Event) -> Void = { _ in }
  ) throws -> Notebook {
    guard Self.isFree(folder) else { throw Self.isTaken(folder) }
    let isNew = Counted.access(folder, F_OK) != 0
    try Disk.makeFolders(folder, mode: 0o700)
    let begun = Self.begun(in: folder)
    do {
      let found = try look(from: folder, cancellation)
      try check(found)
      if let begun, begun.identity.id != found.id { throw Self.isTaken(folder) }
      let notebook = try begun ?? make(found, in: folder)
      try fill(notebook, cancellation, onEvent)
      return notebook
    } catch {
      if begun == nil, Disk.namesIfAny(in: folder) == [".git"] {
        Disk.removeTree(folder + "/.git")
      }
      if isNew { rmdir(folder) }
      throw error
    }
  }

  private static func isTaken(_ folder: String) -> SyncError {
    .system(call: "mkdir", path: folder, errno: ENOTEMPTY)
  }

  /// The notebook there. The versions that come with its members are let go: there is no notebook yet for which
  /// they could be checked.
  private func look(
    from folder: String, _ cancellation: CancellationToken?
  ) throws -> ClonedNotebook {
    let place = folder + "/" + Self.halfMade
    Disk.removeTree(place)
    defer { Disk.removeTree(place) }
    try Disk.makeFolders(place + "/look")
    let repository = try Repository.create(at: place + "/look")
    switch source {
    case .bundle(let path):
      let bundle = try ReceivedBundle(
        BundleReader(path: path, cancellation: cancellation), for: repository, limits: limits)
      return try ClonedNotebook(
        bundle.members, branch: bundle.branch, invitation: bundle.invitation,
        verifiedIn: place + "/members")
    case .hub(let hub):
      return try HubVisit.talking {
        var program = program
        program.cancellation = cancellation
        if options.allowsLarge { program.memoryBytes *= 8 }
        let transfer = try Transfer(repository, by: program)
        guard let branch = try transfer.mainBranch(of: hub.url) else {
          throw HubError.withoutMembers
        }
        _ = try transfer.fetch(
          nil, from: hub.url, known: [], beside: [MemberList.folder], limits: limits)
        guard let version = transfer.reference(named: MemberList.reference),
          let quarantine = try transfer.received(limits: limits)?.quarantine,
          let members = try MemberList(
            of: version, in: repository, arriving: quarantine)
        else { throw HubError.withoutMembers }
        return try ClonedNotebook(
          members, branch: branch, invitation: nil, verifiedIn: place + "/members")
      }
    }
  }

  private var limits: PackLimits { options.allowsLarge ? .large : .standard }

  private func make(_ found: ClonedNotebook, in folder: String) throws -> Notebook {
    try Notebook.make(at: folder, branch: found.branch ?? "main") { state in
      let members = found.members
      let membership = try MembershipStore.install(
        in: MembershipStore.folder(ofNotebookAt: state), root: members.root,
        certificates: members.certificates,
        revocations: members.revocations)
      let device = DeviceIdentity(name: deviceName, deviceID: key.deviceID)
      return NotebookIdentity(id: found.id, name: membership.notebookName, device: device)
    }
  }

  private func fill(
    _ notebook: Notebook, _ cancellation: CancellationToken?, _ onEvent: @escaping (Event) -> Void
  ) throws {
    let context = SessionContext(
      folder: notebook.folder, key: key,
      membership: try .open(in: MembershipStore.folder(ofNotebookAt: notebook.stateFolder)))
    switch source {
    case .bundle(let path):
      var run = BundleRun(context: context)
      run.options = options
      _ = try run.apply(path, named: path, cancellation: cancellation, onEvent: onEvent)
    case .hub(let hub):
      try notebook.add(hub)
      if let secret {
        var invitation = LinkInvitation(context, at: hub)
        invitation.program = program
        _ = try invitation.answer(secret, name: deviceName)
      }
      var run = HubRun(context: context, hubs: [hub])
      (run.program, run.options) = (program, options)
      var outcome = SyncOutcome()
      try run.run(addingTo: &outcome, cancellation: cancellation, onEvent: onEvent)
      if let failure = outcome.failures.first { throw failure.error }
    }
  }
}

/// A notebook that is about to be cloned.
public struct ClonedNotebook: Sendable {
  /// The notebook's ID and its name.
  public let id, name: String
  /// The name of the device whose invitation the bundle carries.
  public let inviter: String?

  private let invitation: Result<FileInvitation, any Error>
  let members: MemberList
  let branch: String?

  init(
    _ members: MemberList, branch: String?, invitation: FileInvitation?, verifiedIn place: String
  ) throws {
    (self.members, self.branch) = (members, branch)
    let membership = try MembershipStore.install(
      in: place, root: members.root, certificates: members.certificates,
      revocations: members.revocations)
    (id, name) = (membership.notebookID, membership.notebookName)
    inviter = invitation.flatMap { membership.member(ofDevice: $0.offer.inviterID)?.name }
    self.invitation = Result {
      guard let invitation else { throw LinkError.noInvitation }
      try membership.demandOpen(invitation.offer)
      return invitation
    }
  }

  /// The invitation that the bundle carries.
  ///
  /// - Throws: `LinkError` where it carries none, or the bundle's own list of members says that it is not open.
  public func openInvitation() throws -> FileInvitation { try invitation.get() }
}
