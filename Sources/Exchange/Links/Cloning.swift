public import Git
internal import Glibc
internal import History
public import Membership
public import Notebook
public import System

/// Takes a notebook from a hub or a bundle into a folder of its own: `notes clone`. The device is no
/// member by that.
public struct Cloning: Sendable {
  /// Where it comes from.
  public enum Source: Sendable {
    /// A hub, by its address.
    case hub(Hub)
    /// A bundle, by its file's path.
    case bundle(String)
  }

  private let source: Source
  private let key: DeviceKey
  private let deviceName: String
  /// What reaches a hub.
  public var program = GitProgram()
  /// What is allowed.
  public var options = SessionOptions()

  /// A clone for the device of that key and name.
  public init(of source: Source, key: DeviceKey, deviceName: String) {
    (self.source, self.key, self.deviceName) = (source, key, deviceName)
  }

  /// Clones into a folder that is missing or empty. Where it throws, what it made is gone; but once the
  /// notebook has a version and files stand in the folder, all stays, and the next sync completes it:
  /// what somebody put there meanwhile may be among them.
  ///
  /// - Parameter check: told the notebook's ID before anything else comes; what it throws ends it.
  /// - Throws: `HubError`, `BundleError`, and what a visit throws; `SyncError.stopped` when cancelled.
  public func run(
    into folder: String, cancellation: CancellationToken? = nil,
    check: (_ notebookID: String) throws -> Void, onEvent: (Event) -> Void = { _ in }
  ) throws -> Notebook {
    let isNew = access(folder, F_OK) != 0
    try Disk.makeFolders(folder, mode: 0o700)
    guard try Disk.names(in: folder).isEmpty else {
      throw SyncError.system(call: "mkdir", path: folder, errno: ENOTEMPTY)
    }
    do {
      let repository = try Repository.create(at: folder)
      let members = try look(repository, cancellation)
      let id = try members.notebookID
      try check(id)
      let notebook = try make(members, id, in: folder)
      try fill(notebook, cancellation, onEvent)
      return notebook
    } catch {
      let isBegun = ((try? Notebook.open(at: folder).state().tip) ?? nil) != nil
      if !isBegun || Disk.namesIfAny(in: folder) == [".git"] {
        Disk.removeTree(folder + "/.git")
      }
      if isNew { rmdir(folder) }
      throw error
    }
  }

  /// The members of the notebook there. The repository's branch is called as the one there.
  private func look(
    _ repository: Repository, _ cancellation: CancellationToken?
  ) throws -> MemberList {
    switch source {
    case .bundle(let path):
      let bundle = try ReceivedBundle(
        BundleReader(path: path, cancellation: cancellation), for: repository, limits: limits)
      if let branch = bundle.branch { try repository.setUnborn(branch: branch) }
      return bundle.members
    case .hub(let hub):
      return try HubLink.talking {
        var program = program
        program.cancellation = cancellation
        let transfer = try Transfer(repository, by: program)
        guard let branch = try transfer.mainBranch(of: hub.url) else {
          throw HubError.withoutMembers
        }
        try repository.setUnborn(branch: branch)
        _ = try transfer.fetch(
          nil, from: hub.url, known: [], beside: MemberList.folder, limits: limits)
        guard let version = transfer.reference(named: MemberList.reference),
          let quarantine = try transfer.received(limits: limits)?.quarantine,
          let members = try MemberList(of: version, in: quarantine)
        else { throw HubError.withoutMembers }
        return members
      }
    }
  }

  private var limits: PackLimits { options.allowsLarge ? .large : .standard }

  private func make(_ members: MemberList, _ id: String, in folder: String) throws -> Notebook {
    let state = try Notebook.prepare(at: folder)
    let membership = try MembershipStore.install(
      in: state + "/membership", root: members.root, certificates: members.certificates,
      revocations: members.revocations)
    let device = DeviceIdentity(name: deviceName, deviceID: key.deviceID)
    return try Notebook.adopt(
      at: folder, as: NotebookIdentity(id: id, name: membership.notebookName, device: device))
  }

  private func fill(
    _ notebook: Notebook, _ cancellation: CancellationToken?, _ onEvent: (Event) -> Void
  ) throws {
    let context = SessionContext(
      folder: notebook.folder, key: key,
      membership: try .open(in: notebook.stateFolder + "/membership"))
    switch source {
    case .bundle(let path):
      var run = BundleRun(context: context)
      run.options = options
      _ = try run.apply(path, named: path, cancellation: cancellation, onEvent: onEvent)
    case .hub(let hub):
      try notebook.add(hub)
      var run = HubRun(context: context, hubs: [hub])
      (run.program, run.options) = (program, options)
      var outcome = SyncOutcome()
      try run.run(addingTo: &outcome, cancellation: cancellation, onEvent: onEvent)
      if let failure = outcome.failures.first { throw failure.error }
    }
  }
}
