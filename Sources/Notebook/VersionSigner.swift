public import Git
internal import Glibc
public import History
internal import Merge
public import State
internal import System
internal import WorkTree

/// Names and signs the versions that a device makes: notes-security(7), SIGNATURES. The caller that opens
/// the notebook supplies the key's place, the way to sign, and the other devices with the same name.
public struct VersionSigner: Sendable {
  /// Makes the signature over a commit's content.
  public typealias Sign = @Sendable (_ content: [UInt8]) throws -> [UInt8]
  /// The names of versions' makers, with a remark if a name is not proved.
  public typealias Makers = @Sendable (_ versions: [Commit], Notebook) throws -> [String]

  /// Whether a forgetting's version, which is below these heads, counts.
  public typealias Counts =
    @Sendable (_ version: ForgettingVersion, _ heads: [ObjectID], Notebook) throws -> Bool

  private let load: @Sendable (_ deviceID: String) throws -> Sign?
  private let counts: Counts?
  private let makers: Makers?
  private let authorName: @Sendable (_ device: DeviceIdentity, _ stateFolder: StateFolder) -> String

  /// A signer with these functions. `load` returns a device's signing function, nil if its key is missing.
  /// `authorName` returns the device's name in versions, and is called for the first version. The other two
  /// return the makers of versions, and whether a forgetting counts.
  public init(
    load: @escaping @Sendable (_ deviceID: String) throws -> Sign?,
    authorName:
      @escaping @Sendable (_ device: DeviceIdentity, _ stateFolder: StateFolder) -> String = {
        device, _ in device.name
      },
    makers: Makers? = nil, counts: Counts? = nil
  ) {
    (self.makers, self.counts) = (makers, counts)
    self.load = load
    self.authorName = authorName
  }

  func makers(of versions: [Commit], in notebook: Notebook) throws -> [String]? {
    try makers?(versions, notebook)
  }

  /// Whether a forgetting's version counts; false if there is no way to check.
  func counts(
    _ version: ForgettingVersion, below heads: [ObjectID], in notebook: Notebook
  ) throws -> Bool {
    try counts?(version, heads, notebook) ?? false
  }

  func sign(for device: DeviceIdentity) throws -> Sign? { try load(device.deviceID) }

  /// The device, as versions of a notebook name it.
  func author(_ device: DeviceIdentity, stateFolder: StateFolder) -> DeviceIdentity {
    DeviceIdentity(name: authorName(device, stateFolder), deviceID: device.deviceID)
  }
}

extension Notebook {
  /// The version that leads a hub's branch from `former` to `tip`, signed: notes-merge(7), "Hubs".
  package func hubMerge(of tip: ObjectID, over former: ObjectID) throws -> ObjectID {
    try HubMerge.make(
      tip: tip, over: former, in: repository, signedBy: signer?.sign(for: identity.device))
  }

  /// Lets git verify devices' signatures: adds the file of allowed signers to the repository's own
  /// configuration, unless that already names another file. Call it under the writer lock.
  ///
  /// The configuration is replaced as a whole, without git's lock file: a lock left by a killed save would
  /// block git and every later save from the settings. If git has the lock, the next save does this.
  func nameAllowedSigners() throws {
    let end = StateFolder(ofNotebookIn: "")[.allowedSigners]
    let path = (realPath(of: folder) ?? folder) + end
    let config = repository.gitFolder + "/config"
    var status = stat()
    guard Counted.lstat(config, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      !path.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f })
    else { return }
    let bytes = try Disk.readIfThere(config) ?? []
    let text = String(decoding: bytes, as: UTF8.self)
    // Text that is not UTF-8 would change when written back.
    guard Array(text.utf8) == bytes else { return }
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
    // git-config(1): inside quotes, only these two characters must be escaped.
    let quoted = path.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    let line = "\tallowedSignersFile = \"\(quoted)\""
    if let place = lines.lastIndex(where: { $0.lowercased().contains("allowedsignersfile") }) {
      let isOurs = lines[place].hasSuffix(end) || lines[place].hasSuffix(end + "\"")
      if !isOurs || lines[place] == line { return }
      lines[place] = line
    } else {
      if lines.last == "" { lines.removeLast() }
      lines += ["[gpg \"ssh\"]", line, ""]
    }
    if Counted.access(config + ".lock", F_OK) == 0 { return }
    try Disk.replace(
      config, with: Array(lines.joined(separator: "\n").utf8), mode: status.st_mode & 0o777)
  }
}
