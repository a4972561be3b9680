internal import ArgumentParser
internal import Git
internal import Glibc
internal import History
internal import Membership
internal import Notebook
internal import State
internal import System
internal import WorkTree

struct InitCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Turn a folder into a notebook.",
    discussion: """
      Saves the folder as it is: the first version contains all its files except hidden ones. \
      Without DIR, init uses the current folder; it makes a folder that does not exist. A folder \
      that is a git repository keeps its history.

      Asks before it adds more than 1,000 files or 100 MB, uncommitted git changes, or files that \
      look like keys or credentials.

      This device becomes the notebook's first admin. Nothing leaves it: other devices get the \
      notebook only by an invitation.

      Examples:
        notes init
        notes init ~/notes --name Home --device-name laptop
      """)

  @Argument(help: .named("dir", "The folder; the current one by default."), completion: .directory)
  var folder: String?

  @Option(help: "The notebook's name; the folder's name by default.") var name: String?

  @Option(help: .named("name", "A name for this device; by default the host's name."))
  var deviceName: String?

  @Flag(name: .shortAndLong, help: "Do not ask.") var yes = false

  @Flag(help: "Also add files that look like keys or credentials.") var include = false

  @OptionGroup var options: CommonOptions

  func run() throws {
    let folder = try NotebookLocator.folder(folder)
    let place = NotebookPlace(folder: folder)
    try place.check()
    // An existing notebook is reported below; for an unfinished one, the user has already been
    // asked.
    if Counted.access(StateFolder(ofNotebookIn: folder)[.notebook], F_OK) != 0 {
      try place.demandConsent(yes: yes, includesSecrets: include)
    }
    // A folder without a repository has no former version.
    let former = try? Repository.open(at: folder).head().commit
    let device = try DeviceName.choose(given: deviceName)
    let notebookName = try name.map { try DisplayName.check($0) } ?? Self.name(of: folder)
    let data = try UserFolders().data
    let key = try DeviceKey.loadOrCreate(in: data)
    _ = try Interruption.token()
    let made = [folder, folder + "/.git"].filter { (path: String) in Counted.access(path, F_OK) != 0
    }
    let notebook =
      try Self.unfinished(at: folder, of: key)
      ?? Notebook.make(at: folder) { state in
        let membership = try Self.membership(
          in: MembershipStore.folder(ofNotebookAt: state), notebookName: notebookName,
          deviceName: device, key: key)
        return NotebookIdentity(
          id: membership.notebookID, name: membership.notebookName,
          device: DeviceIdentity(name: device, deviceID: key.deviceID))
      }
    notebook.signer = .ofUser
    let saved = try Self.firstVersion(of: notebook, removing: made)
    // The notebook is listed only now: 'notes watch --all' starts at once with a listed notebook.
    KnownNotebooks(dataFolder: data).add(notebook)
    try notebook.keepMembership()
    let tip = try notebook.state().tip
    let files = try tip.map {
      try notebook.repository.files(in: notebook.repository.commit($0).tree)
    }
    var report = InitReport(
      identity: notebook.identity, folder: folder, files: files ?? [],
      bytes: try files?.reduce(0) { try $0 + notebook.repository.header(of: $1.entry.id).size }
        ?? 0,
      saved: saved, tip: tip, isRepository: former != nil)
    report.remotes = try notebook.remotesBesideHubs()
    options.write([report.json]) { [report] in report.text(on: $0) }
  }

  /// Makes the first version. Ctrl-C leaves the folder as it was: `made` are the folders that did
  /// not exist before.
  private static func firstVersion(
    of notebook: Notebook, removing made: [String]
  ) throws -> SaveResult {
    // Show that the command works: with a large file, the first progress can take long.
    let waiting = WaitingLine("saving ...")
    let line = ProgressLine()
    defer {
      waiting.end()
      line.clear()
    }
    do {
      return try notebook.save(message: "Start notebook \(notebook.identity.name)") {
        if Interruption.hasCome { throw Failure.interrupted }
        line.show("saving", $0, of: $1)
      }
    } catch let failure as Failure where failure == .interrupted {
      if made.contains(notebook.folder + "/.git") { Disk.removeTree(notebook.folder + "/.git") }
      if made.contains(notebook.folder) { rmdir(notebook.folder) }
      throw failure
    }
  }

  /// The notebook that an earlier `init` made in the folder. That run did not finish the first version, or a
  /// cache, for example because the disk was full; this run completes it.
  private static func unfinished(at folder: String, of key: DeviceKey) throws -> Notebook? {
    // A folder that cannot be opened is not an unfinished notebook.
    guard let notebook = try? Notebook.open(at: folder),
      notebook.identity.device.deviceID == key.deviceID,
      try notebook.repository.head().commit == nil
        || Counted.access(folder + "/.git/index", F_OK) != 0,
      try !notebook.status().changes.isEmpty
    else { return nil }
    return notebook
  }

  /// The notebook's new certificate authority, or the one that an interrupted `init` left in the repository. A
  /// membership that an interrupted join left is put aside.
  private static func membership(
    in folder: String, notebookName: String, deviceName: String, key: DeviceKey
  ) throws -> MembershipStore {
    func found() throws -> MembershipStore {
      try .found(in: folder, notebookName: notebookName, deviceName: deviceName, key: key)
    }
    do {
      return try found()
    } catch MembershipError.membershipExists {
      let left = try MembershipStore.open(in: folder)
      if left.members().contains(where: { $0.isFounder && $0.deviceID == key.deviceID }) {
        return left
      }
      try left.putAside()
      return try found()
    }
  }

  private static func name(of folder: String) -> String {
    let last = folder.split(separator: "/").last.map(String.init) ?? ""
    return DisplayName.made(from: last) ?? "notes"
  }
}
