public import Git
internal import Glibc
internal import History
public import Membership
public import Notebook
internal import State
public import System

/// Copies a notebook from a hub or a bundle into a new folder: `notes clone`. This does not make the
/// device a member.
public struct Cloning: Sendable {
  /// The source of a clone.
  public enum Source: Sendable {
    /// A hub, by its address.
    case hub(Hub)
    /// A bundle, by its file's path.
    case bundle(String)
  }

  private let source: Source
  private let key: DeviceKey
  private let deviceName: String
  /// The git program for access to a hub.
  public var program = GitProgram()
  /// The secret of an invitation by a link, to which the device responds at the hub before it
  /// fetches the versions.
  public var secret: InvitationSecret?
  /// The limits and permissions.
  public var options = SessionOptions()
  /// Whether the folder may have files: the first versions are merged with them.
  public var mergesFiles = false

  /// A clone by the device with that key and name.
  public init(of source: Source, key: DeviceKey, deviceName: String) {
    (self.source, self.key, self.deviceName) = (source, key, deviceName)
  }

  /// Whether a notebook can be cloned into a folder: it is missing or empty, or a killed clone left a
  /// notebook without a version there.
  public static func isFree(_ folder: String) -> Bool {
    if Counted.access(folder, F_OK) != 0 || begun(in: folder) != nil { return true }
    // A folder that cannot be listed does not count as free.
    return (try? Disk.names(in: folder).allSatisfy { $0 == halfMade }) ?? false
  }

  /// Whether a folder has files, and is neither a notebook nor another repository of git.
  public static func isPlain(_ folder: String) -> Bool {
    Counted.access(folder + "/.git", F_OK) != 0 && holdsFiles(folder)
  }

  /// Whether a folder has files beside a repository of git.
  public static func holdsFiles(_ folder: String) -> Bool {
    // A folder that cannot be listed has no files that could be merged.
    (try? Disk.names(in: folder).contains { ![".git", halfMade].contains($0) }) ?? false
  }

  /// The notebook in a folder, if it has no version yet.
  private static func begun(in folder: String) -> Notebook? {
    // A folder that cannot be opened was not left by a clone.
    guard let notebook = try? Notebook.open(at: folder), let state = try? notebook.state(),
      state.tip == nil
    else { return nil }
    return notebook
  }

  /// The temporary name of a repository; `Repository.create` starts over there.
  private static let halfMade = ".git.new"

  /// Clones into a folder that `isFree`, or with `mergesFiles` one that `isPlain`. The notebook appears in one step,
  /// and then its versions arrive: if the run is killed, the next sync or clone completes the notebook. If it throws,
  /// everything that it made is removed; but once the notebook has a version, or somebody has added files to an empty
  /// folder, everything stays.
  ///
  /// - Parameter check: called with the found notebook before anything is written; throws to cancel.
  /// - Throws: `HubError`, `BundleError`, and the errors of a visit; `SyncError.stopped` when cancelled.
  public func run(
    into folder: String, cancellation: CancellationToken? = nil,
    check: (_ found: ClonedNotebook) throws -> Void, onEvent: @escaping (Event) -> Void = { _ in }
  ) throws -> Notebook {
    let hadFiles = mergesFiles && Self.isPlain(folder)
    guard hadFiles || Self.isFree(folder) else { throw Self.isTaken(folder) }
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
      let isWithoutVersion = hadFiles && Self.begun(in: folder) != nil
      if begun == nil, isWithoutVersion || Disk.namesIfAny(in: folder) == [".git"] {
        Disk.removeTree(folder + "/.git")
      }
      if isNew { rmdir(folder) }
      throw error
    }
  }

  private static func isTaken(_ folder: String) -> SyncError {
    .system(call: "mkdir", path: folder, errno: ENOTEMPTY)
  }

  /// Reads the notebook's members. Versions that arrive with them are dropped, as there is no notebook yet to
  /// check them.
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
        BundleReader(path: path, cancellation: cancellation), for: repository,
        limits: options.packLimits)
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
          nil, from: hub.url, known: [], beside: [MemberList.folder], limits: options.packLimits)
        guard let version = transfer.reference(named: MemberList.reference),
          let quarantine = try transfer.received(limits: options.packLimits)?.quarantine,
          let members = try MemberList(
            of: version, in: repository, arriving: quarantine)
        else { throw HubError.withoutMembers }
        return try ClonedNotebook(
          members, branch: branch, invitation: nil, verifiedIn: place + "/members")
      }
    }
  }

  private func make(_ found: ClonedNotebook, in folder: String) throws -> Notebook {
    try Notebook.make(at: folder, branch: found.branch ?? "main") { state in
      // The rules in the notebook's versions decide which files in the folder are versioned.
      try Disk.replace(state[.awaiting], with: [])
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

/// A notebook that can be cloned.
public struct ClonedNotebook: Sendable {
  /// The notebook's ID and its name.
  public let id, name: String
  /// The name of the device whose invitation is in the bundle; nil if there is none.
  public let inviter: String?
  /// The name of the person to whom a device that joins by the invitation will belong; nil if the person is new.
  public let owner: String?
  /// The IDs of the devices of the notebook's members.
  public let devices: Set<String>

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
    owner = invitation.flatMap { membership.owner(by: $0.offer) }
    devices = Set(membership.members().filter { !$0.isRemoved }.map(\.deviceID))
    self.invitation = Result {
      guard let invitation else { throw LinkError.noInvitation }
      try membership.demandOpen(invitation.offer)
      return invitation
    }
  }

  /// The bundle's invitation.
  ///
  /// - Throws: `LinkError` if it has none, or if it is not open by the bundle's own list of members.
  public func openInvitation() throws -> FileInvitation { try invitation.get() }
}
