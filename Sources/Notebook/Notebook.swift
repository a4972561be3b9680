public import Git
internal import Glibc
public import History
public import State
internal import System
public import WorkTree

/// A folder of notes with its history: an ordinary git repository with this device's state in
/// `.git/notes/`.
///
/// Opening it reads one small file. An instance belongs to one thread at a time; other threads and
/// processes open their own, and the writer lock serializes their changes.
public final class Notebook {
  /// The notebook's folder.
  public let folder: String
  /// The notebook's repository.
  public let repository: Repository
  /// The notebook's identity on this device.
  public private(set) var identity: NotebookIdentity

  /// The folder and the index.
  public let workTree: WorkTree
  /// The notes and versions.
  public let history: History
  /// The clock for the dates of new versions.
  public var clock: Clock {
    get { history.clock }
    set { history.clock = newValue }
  }
  /// The signer of the versions made here; if nil, they are unsigned.
  public var signer: VersionSigner?
  /// The guest of this device whom new versions name. Edits found in the folder are still the device's own:
  /// notes-security(7), GUESTS.
  public var guest: String?
  /// Called with a version of this device as soon as its objects are in the repository, before the
  /// branch moves: notes-protocol(7), "Sessions that go on".
  public var earlyNotice: ((ObjectID) -> Void)?

  /// Called with notices about saves that were based on an older text, or that remove other
  /// devices' edits.
  public var saveNotice: (SaveNews) -> Void = { _ in }
  /// Called with a version that git removed while it was being saved, and with the version made in its place.
  public var pruneNotice: (_ lost: ObjectID, _ version: ObjectID) -> Void = { _, _ in }

  /// Whether saves report text that looks like a secret: notes-save(1).
  public var namesSecrets = true

  /// The folder with this device's state of the notebook.
  public var stateFolder: StateFolder { repository.stateFolder }

  /// git's lock files that have existed for at least so many seconds, by their paths in `.git`. Most likely a
  /// killed program left them; they block writes.
  public func lockFiles(olderThan seconds: Int64, now: Int64) throws -> [String] {
    try StaleLocks(repository: repository).standing(until: now - seconds)
  }

  private init(folder: String, repository: Repository, identity: NotebookIdentity) {
    self.folder = folder
    self.repository = repository
    self.identity = identity
    workTree = WorkTree(folder: folder, repository: repository)
    history = History(of: workTree)
  }

  /// The notebook whose folder is exactly `folder`.
  public static func open(at folder: String) throws -> Notebook {
    let path = identityPath(in: folder)
    guard let content = try Disk.readIfThere(path) else {
      throw NotebookError.notANotebook(folder: folder)
    }
    return Notebook(
      folder: folder, repository: try Repository.open(at: folder),
      identity: try NotebookIdentity(parsing: content, path: path))
  }

  /// The folder of the notebook around `folder`: itself or the nearest one above.
  public static func find(from folder: String) throws -> String {
    guard var current = realPath(of: folder) else {
      throw WorkTreeError.file(call: "open", path: folder, errno: errno)
    }
    while true {
      if Counted.access(StateFolder(ofNotebookIn: current)[.notebook], F_OK) == 0 { return current }
      // If the notebook's folder may not be entered, it is still a notebook.
      if errno == EACCES, Counted.access(current + "/.git", F_OK) == 0 {
        throw WorkTreeError.file(call: "open", path: current + "/.git", errno: EACCES)
      }
      if current == "/" { throw NotebookError.notANotebook(folder: folder) }
      current = Disk.parent(of: current)
    }
  }

  /// Makes `folder` a notebook. `fill` writes the state into a folder, its argument, and returns the identity.
  ///
  /// If there is no repository yet, everything appears in one step: a run that fails or is killed before leaves
  /// the folder as it was. An existing repository becomes a notebook when its identity is written, as the last
  /// step.
  ///
  /// - Parameter branch: the branch of a new repository.
  /// - Throws: `alreadyANotebook`, and the errors of `fill`.
  public static func make(
    at folder: String, branch: String = "main",
    fill: (_ stateFolder: StateFolder) throws -> NotebookIdentity
  ) throws -> Notebook {
    if Counted.access(folder + "/.git", F_OK) == 0 {
      if Counted.access(folder + "/.git/HEAD", F_OK) == 0 {
        try Repository.open(at: folder).checkForm()
      }
      return try adopt(at: folder, as: fill(prepare(at: folder)))
    }
    let isNew = Counted.access(folder, F_OK) != 0
    try Disk.makeFolders(folder, mode: Self.newFolderMode)
    do {
      _ = try Repository.create(at: folder, branch: branch) { gitFolder in
        let state = StateFolder(ofRepository: gitFolder)
        try Disk.makeFolders(state.path)
        try Disk.replace(state[.notebook], with: fill(state).serialized)
      }
    } catch {
      if isNew { rmdir(folder) }
      throw error
    }
    let notebook = try open(at: folder)
    notebook.closeRepositoryToOthers()
    return notebook
  }

  /// The branch of a notebook that will receive another device's history: that device's branch, unless git
  /// would refuse the name.
  package static func branch(offered name: String?) -> String {
    name.flatMap { Repository.isBranch($0) ? $0 : nil } ?? "main"
  }

  /// A new folder is only for its user; an existing one keeps its permissions.
  private static let newFolderMode: mode_t = 0o700

  /// Makes `folder`, its repository and the state folder if they are missing, and returns the state folder. The
  /// folder becomes a notebook only by `adopt`. If a run is interrupted, a later run completes it.
  ///
  /// - Throws: `alreadyANotebook` if there is nothing to prepare.
  public static func prepare(at folder: String) throws -> StateFolder {
    if Counted.access(StateFolder(ofNotebookIn: folder)[.notebook], F_OK) == 0 {
      throw NotebookError.alreadyANotebook(folder: folder)
    }
    var status = stat()
    if Counted.lstat(folder + "/.git", &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
      throw NotebookError.linkedWorkTree(folder: folder)
    }
    try Disk.makeFolders(folder, mode: Self.newFolderMode)
    let state = try Repository.create(at: folder).stateFolder
    try Disk.makeFolders(state.path)
    return state
  }

  /// Makes the prepared `folder` a notebook, by writing its identity.
  public static func adopt(at folder: String, as identity: NotebookIdentity) throws -> Notebook {
    try Disk.replace(StateFolder(ofNotebookIn: folder)[.notebook], with: identity.serialized)
    let notebook = try open(at: folder)
    notebook.closeRepositoryToOthers()
    return notebook
  }

  /// Sets the limit for versioned files, from the next save on; nil removes the setting.
  public func setSizeLimit(_ text: String?) throws {
    try withWriterLock { _ in try workTree.set(sizeLimit: text) }
  }

  /// Sets whether hidden files are versioned, from the next save on; nil removes the setting.
  public func setHiddenFiles(_ text: String?) throws {
    try withWriterLock { _ in try workTree.set(hiddenFiles: text) }
  }

  /// Sets whether executable files of versions become executable here; nil removes the setting.
  public func setExecutableFiles(_ text: String?) throws {
    try withWriterLock { _ in try workTree.set(executableFiles: text) }
  }

  /// The version in this device's folder now. Unsaved changes are not part of it.
  public func state() throws -> NotebookState { try history.state() }

  /// Runs `body` while no other process or instance can change the notebook, after finishing an
  /// interrupted run.
  package func withWriterLock<Result>(
    _ body: (WriteTransaction) throws -> Result
  ) throws -> Result {
    let lock = try WriterLock(stateFolder: stateFolder, folder: folder)
    workTree.forgetSettings()
    var transaction = transaction()
    // A git lock file that could not be removed is left to the next run.
    defer { if !transaction.leavesLockFile() { lock.end() } }
    closeRepositoryToOthers()
    func carryOut() throws -> Result {
      try transaction.recover(lock)
      // Only `git log --show-signature` needs it: if the configuration cannot be written, saves
      // still work.
      if signer != nil { try? nameAllowedSigners() }
      return try body(transaction)
    }
    return try recordingMissing {
      do {
        return try carryOut()
      } catch GitError.missing(let id) {
        guard let (lost, version) = try transaction.makePrunedSaveAnew() else {
          throw GitError.missing(id)
        }
        pruneNotice(lost, version)
        repository.close()
        transaction = self.transaction()
        return try carryOut()
      }
    }
  }

  private func transaction() -> WriteTransaction {
    WriteTransaction(
      history, device: identity.device, guest: guest, signer: signer, earlyNotice: earlyNotice,
      saveNotice: saveNotice, makers: makers,
      counts: { [self] version, heads in
        try signer?.counts(version, below: heads, in: self) ?? false
      }, namesSecrets: namesSecrets)
  }

  /// The names of the versions' makers, with a remark if a name is not proved. Without a way to check, the
  /// names that the versions have.
  func makers(of versions: [Commit]) throws -> [String] {
    try signer?.makers(of: versions, in: self) ?? versions.map(\.author.name)
  }

  /// Denies access to the repository to users who may not read the folder: it contains all versions of all
  /// notes, in files that git makes readable. Repeated at each change, as the folder's mode may change.
  private func closeRepositoryToOthers() {
    var (outer, inner) = (stat(), stat())
    guard Counted.stat(folder, &outer) == 0, Counted.lstat(repository.gitFolder, &inner) == 0,
      inner.st_mode & S_IFMT == S_IFDIR
    else { return }
    var closed: mode_t = 0
    for (reading, all) in [(mode_t(0o040), mode_t(0o070)), (0o004, 0o007)]
    where outer.st_mode & reading == 0 { closed |= all }
    if inner.st_mode & closed == 0 { return }
    // If the folder belongs to another user, that user's next change sets the mode.
    chmod(repository.gitFolder, inner.st_mode & 0o7777 & ~closed)
  }

  /// Sets a reference that only this device writes, other than the branch, to a commit.
  package func setDeviceReference(_ name: String, to id: ObjectID, message: String) throws {
    try withWriterLock { try $0.writer.setDeviceReference(name, to: id, message: message) }
  }

  /// Removes a reference that only this device writes, other than the branch.
  package func forgetDeviceReference(_ name: String) throws {
    try withWriterLock { _ in try repository.delete(reference: name) }
  }

  /// Gives this device the identity of its new key.
  public func become(_ device: DeviceIdentity) throws { try changeIdentity { $0.device = device } }

  /// Gives the notebook another ID and name: its membership was started over.
  public func become(_ id: String, named name: String) throws {
    try changeIdentity { ($0.id, $0.name) = (id, name) }
  }

  /// Changes the name of the notebook or of this device here.
  public func rename(notebook name: String? = nil, device: String? = nil) throws {
    try changeIdentity { identity in
      if let name { identity.name = name }
      if let device { identity.device.name = device }
    }
  }

  /// A separate lock lets a watcher and a command do this at once without undoing each other's change; the
  /// caller may already have the writer lock.
  private func changeIdentity(_ change: (inout NotebookIdentity) -> Void) throws {
    let path = Self.identityPath(in: folder)
    let lock = try Disk.lock(
      stateFolder.path, O_RDONLY | O_DIRECTORY, until: .after(seconds: WriterLock.patience))
    guard let lock else { throw NotebookError.busy(folder: folder) }
    defer { withExtendedLifetime(lock) {} }
    var present =
      try Disk.readIfThere(path).map { try NotebookIdentity(parsing: $0, path: path) }
      ?? identity
    change(&present)
    try Disk.replace(path, with: present.serialized, isShared: true)
    identity = present
  }

  private static func identityPath(in folder: String) -> String {
    StateFolder(ofNotebookIn: folder)[.notebook]
  }
}

/// The notebook's identity on this device, stored in `.git/notes/notebook`. This file makes a repository a
/// notebook.
///
/// It has lines of `KEY VALUE`; unknown keys are ignored. `format` comes first.
public struct NotebookIdentity: Hashable, Sendable {
  /// The notebook ID: the name of its root certificate.
  public var id: String
  /// The notebook's name for people.
  public var name: String
  /// This device.
  public var device: DeviceIdentity

  /// The content of the file, without a check.
  public init(id: String, name: String, device: DeviceIdentity) {
    self.id = id
    self.name = name
    self.device = device
  }

  static let format = "1"

  var serialized: [UInt8] {
    StateLines([
      "format": Self.format, "id": id, "name": name, "device-id": device.deviceID,
      "device-name": device.name,
    ]).bytes
  }

  init(parsing content: [UInt8], path: String) throws {
    let lines = try StateLines(of: content, at: path)
    guard let format = lines["format"] else {
      throw StateDamage(path, "no format line")
    }
    guard format == Self.format else { throw WorkTreeError.newerFormat(format) }
    guard let id = lines["id"], let name = lines["name"], let deviceID = lines["device-id"],
      let deviceName = lines["device-name"], !id.isEmpty, !deviceID.isEmpty,
      !(id + deviceID).contains(where: \.isNewline)
    else { throw StateDamage(path, "a line is missing") }
    self.init(id: id, name: name, device: DeviceIdentity(name: deviceName, deviceID: deviceID))
  }
}
