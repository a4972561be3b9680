public import Git
internal import Glibc
public import History
internal import Merge
public import State
internal import System
internal import WorkTree

/// Names and signs the versions that a device makes: notes-security(7), SIGNATURES. The
/// caller that opens the notebook supplies the key's place, how it signs, and which others have its name.
public struct VersionSigner: Sendable {
  /// Makes the signature over a commit's content.
  public typealias Sign = @Sendable (_ content: [UInt8]) throws -> [UInt8]
  /// The names of who made versions of a notebook, with what is lacking to prove them.
  public typealias Makers = @Sendable (_ versions: [Commit], Notebook) throws -> [String]

  /// Whether a version by which something was forgotten counts, of those below these heads.
  public typealias Counts =
    @Sendable (_ version: ForgettingVersion, _ heads: [ObjectID], Notebook) throws -> Bool

  private let load: @Sendable (_ deviceID: String) throws -> Sign?
  private let counts: Counts?
  private let makers: Makers?
  private let authorName: @Sendable (_ device: DeviceIdentity, _ stateFolder: StateFolder) -> String

  /// A signer that asks for a device's key, nil where it is not here, for the name by which versions
  /// call it when the first version is made, for who made others, and whether what somebody had forgotten is
  /// to be.
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

  /// Whether a version by which something was forgotten counts; none does where nobody can tell.
  func counts(
    _ version: ForgettingVersion, below heads: [ObjectID], in notebook: Notebook
  ) throws -> Bool {
    try counts?(version, heads, notebook) ?? false
  }

  func sign(for device: DeviceIdentity) throws -> Sign? { try load(device.deviceID) }

  /// The device as versions of a notebook name it.
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

  /// Lets git verify what devices signed: names the file in the repository's own configuration, unless
  /// it has another one. Called under the writer lock.
  ///
  /// The file is replaced as a whole, without git's lock beside it: one that a killed save left would keep
  /// git and every later save from their settings. While git has it, this is left to the next save.
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
    // A text that is no UTF-8 would not come out as it went in.
    guard Array(text.utf8) == bytes else { return }
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
    // git-config(1): in quotes any character stands for itself but these two.
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
