public import Git
public import History
public import Membership
public import Notebook
public import WorkTree

/// Events while devices exchange versions, and in a notebook that is watched. One list for the sessions,
/// the service, the watcher's socket, the log, `--json` and what people are told.
///
/// `notebook` is a notebook's ID; `locator` the first two digits of an invitation's code, which tell
/// the open invitations of a device apart and are no secret.
public enum Event: Codable, Sendable {
  /// The device listens there; the host is what was asked for (`::` or `*` for all interfaces).
  case listening(address: String, port: UInt16)
  /// Devices cannot be looked for, or this one cannot be found, for now.
  case discoveryFailed(cause: Cause)

  /// Devices are looked for, for more than a second now: these members are not found yet, or nobody
  /// has answered at these addresses.
  case looking(for: [String])
  /// Unsaved edits are saved before anything is exchanged.
  case saving(WorkAmount, of: WorkAmount)

  // MARK: Sessions

  /// A member has connected, or answered.
  case peer(PeerIdentity)
  case progress(TransferProgress)
  /// Versions of a peer were merged.
  case received(from: PeerIdentity, MergeOutcome, notebook: String? = nil)
  /// A version made with git held what no device takes: another stands in its place now.
  case replaced(PortableVersion, notebook: String? = nil)
  /// A session ran to its end.
  case finished(SessionResult)
  /// A connection or session failed, somebody was refused, or a guard against mass deletion held.
  case failed(SyncFailure)
  /// The peer has the same heads and shows another tip; told once for each such tip.
  case differs(PeerIdentity, TipDifference)
  /// Another machine uses this device's key: a device of that name met both, or this one met the other.
  /// Told once an hour.
  case keyShared(notebook: String, witness: String?)
  /// A device asks this one, which is an admin's, to certify a new key.
  case keyRequested(notebook: String, by: PeerIdentity)
  /// Among what came are derived merges that hold something else than their versions merge to, below signed
  /// versions.
  case alteredMerges(from: PeerIdentity, [ObjectID], notebook: String)
  /// A hub's branch does not lead on from where it stood: it was set back, rewritten or, where there is
  /// no version there now, made anew. What was there is here, and goes there again.
  case hubWentBack(PeerIdentity, from: ObjectID, to: ObjectID?)
  /// Something was forgotten and a hub's branch replaced; other references there may lead to what it was before.
  case hubOthers(PeerIdentity, references: [String])
  /// This device has followed what an admin forgot: who, nil if nothing proves it, and how much.
  case followed(
    by: String?, forgettings: [ForgettingVersion.Line], from: PeerIdentity, notebook: String)
  /// A hub had two branches of this notebook, as two devices had begun on them: the one is kept, the other
  /// joined with it.
  case hubSplit(PeerIdentity, kept: String, joined: String)
  /// A device became a member by an invitation whose request lay at a hub: this one, or one that this admin's
  /// device certified.
  case admitted(PeerIdentity, device: PeerIdentity, notebook: String)
  /// Several devices answered one invitation by a link, so that somebody else has it: their names, and whether one
  /// of them is a member by it.
  case linkShared(PeerIdentity, devices: [String], isUsed: Bool, notebook: String)
  /// Objects that were missing here have come.
  case completed(from: PeerIdentity, notebook: String)

  // MARK: Invitations

  /// An invitation is open.
  case invitation(open: OpenInvitation)
  /// A person with the code is shown the offer.
  case offered(locator: String, address: String)
  /// A person was shown the offer and declined. The invitation stays open.
  case declined(locator: String, address: String)
  /// A device tried a wrong code.
  case wrongCode(locator: String, address: String, attemptsLeft: Int)
  case joined(locator: String, device: PeerIdentity)
  /// An invitation is no longer open.
  case ended(locator: String, how: InvitationEnd)

  // MARK: A notebook that is watched

  /// Edits became a version.
  case version(notebook: String, saved: SaveResult)
  /// A save was made on an older text, or takes away what another device brought.
  case saveNews(notebook: String, news: SaveNews)
  /// A live session with a device has begun, or is over.
  case connected(notebook: String, peer: PeerIdentity)
  case disconnected(notebook: String, peer: PeerIdentity)
  /// A device shows another version.
  case shows(notebook: String, peer: PeerIdentity, tip: ObjectID?)
  /// These notes are edited at a device.
  case editing(notebook: String, peer: PeerIdentity, paths: [TreePath])
  /// The known members have changed, or the devices that this one exchanges with.
  case membersChanged(notebook: String)
  /// Another address of a device was recorded, by this process or another command.
  case addressesChanged(notebook: String)
  /// A save was held back, because it would delete most of the notebook.
  case held(notebook: String, deleted: Int, of: Int)
  /// A save or a look at the folder failed; it is tried again.
  case notebookFailed(notebook: String, cause: Cause)
  /// Notes that a power cut had damaged have their last text again.
  case broughtBack(notebook: String, files: [SkippedFile], version: ObjectID)
  /// The user has no more watches: the folder is looked through every so many seconds instead.
  case watchLimit(notebook: String, interval: Double)
  /// The folder is not there; or is there again.
  case folder(notebook: String, isThere: Bool)
  /// There is so much to pack that it pays.
  case gcDue(notebook: String, folder: String)

  // The names of values that have none above, for the watcher's socket.
  private enum PeerCodingKeys: String, CodingKey { case _0 = "peer" }
  private enum ProgressCodingKeys: String, CodingKey { case _0 = "transfer" }
  private enum SavingCodingKeys: String, CodingKey { case _0 = "done", of }
  private enum ReceivedCodingKeys: String, CodingKey { case from, _1 = "joined", notebook }
  private enum ReplacedCodingKeys: String, CodingKey { case _0 = "replacement", notebook }
  private enum FinishedCodingKeys: String, CodingKey { case _0 = "session" }
  private enum FailedCodingKeys: String, CodingKey { case _0 = "failure" }
  private enum AlteredMergesCodingKeys: String, CodingKey { case from, _1 = "merges", notebook }
  private enum HubWentBackCodingKeys: String, CodingKey { case _0 = "peer", from, to }
  private enum HubSplitCodingKeys: String, CodingKey { case _0 = "peer", kept, joined }
  private enum AdmittedCodingKeys: String, CodingKey { case _0 = "peer", device, notebook }
  private enum LinkSharedCodingKeys: String, CodingKey {
    case _0 = "peer", devices, isUsed, notebook
  }
  private enum DiffersCodingKeys: String, CodingKey { case _0 = "peer", _1 = "difference" }
}

/// The cause of a failure: the error itself in the process where it happened, its text in others.
public struct Cause: Codable, Sendable {
  /// `SyncError.failed` with the text, where it came from another process.
  public let error: any Error

  /// An error as a cause.
  public init(_ error: any Error) { self.error = error }

  /// From its text.
  public init(from decoder: any Decoder) throws {
    error = SyncError.failed(try decoder.singleValueContainer().decode(String.self))
  }

  /// As its text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode("\(error)")
  }
}

extension Event {
  /// The invitation that it is about, by its locator; nil for an event of another kind.
  package var locator: String? {
    switch self {
    case .invitation(let open): open.code.locator
    case .offered(let locator, _), .declined(let locator, _), .wrongCode(let locator, _, _),
      .joined(let locator, _), .ended(let locator, _):
      locator
    default: nil
    }
  }
}

/// A device of the notebook at the other end of a connection, or a hub.
public struct PeerIdentity: Hashable, Codable, Sendable {
  /// Its name, by its certificate; what this device calls a hub.
  public let name: String
  /// Its device ID; a hub's name, which is no device's ID.
  public let deviceID: String
  /// Its present role; a hub passes on what writers left there.
  public let role: Role
  /// The address, as `HOST:PORT`; a hub's as git takes it.
  public let address: String
  /// Whether it is a hub, or a bundle, which prove nothing.
  public let isHub: Bool

  private enum CodingKeys: String, CodingKey {
    case name, role, address
    case deviceID = "device"
    case isHub = "hub"
  }

  /// The device of that ID at that address.
  public init(name: String, deviceID: String, role: Role, address: String) {
    self.name = name
    self.deviceID = deviceID
    self.role = role
    self.address = address
    isHub = false
  }

  /// A hub.
  init(hub name: String, at url: String) {
    self.name = name
    deviceID = name
    role = .writer
    address = AddressText.withoutSecrets(url)
    isHub = true
  }

  /// A bundle, which is no device either: where it is read from.
  init(bundle name: String) { self.init(hub: Self.bundle, at: name) }

  /// The name that stands for a bundle.
  public static let bundle = "bundle"
}

/// How far a transfer is.
public struct TransferProgress: Hashable, Codable, Sendable {
  /// The step that takes the time.
  public enum Stage: String, Codable, Sendable {
    /// Packs are on their way.
    case moving
    /// The pack that came is checked and joined here.
    case joining
    /// The peer is busy: it makes a pack ready, or checks and joins what it got.
    case waiting
  }

  /// The device at the other end.
  public let peer: PeerIdentity
  /// The step that takes the time now.
  public var stage = Stage.moving
  /// Objects written to the peer.
  public var sentObjects = 0
  /// How many objects go to the peer.
  public var objectsToSend = 0
  /// Bytes of objects written to the peer, before compression; 0 for a hub.
  public var sentContent = 0
  /// How many bytes of objects go to the peer, before compression; 0 for a hub.
  public var contentToSend = 0
  /// Bytes of the peer's pack so far.
  public var receivedBytes = 0
  /// Objects of a hub's pack so far.
  public var receivedObjects = 0
  /// How many objects the peer's pack holds.
  public var objectsToReceive = 0
  /// Bytes of the peer's objects so far, before compression.
  public var receivedContent = 0
  /// How many bytes the peer's objects hold, before compression; 0 where it has not said so.
  public var contentToReceive = 0
  /// The amount that is written into the folder so far, when the pack is checked.
  public var written = WorkAmount()
  /// How many files are to be written into the folder; 0 before that is known.
  public var filesToWrite = 0
}

/// An invitation as the user who invites is told of it.
public struct OpenInvitation: Codable, Sendable {
  /// The code that the joining device's user is told. Secret but for its locator.
  public let code: InvitationCode
  /// The role the device gets.
  public let role: Role
  /// When it ends, in seconds since 1970.
  public let expires: Int64
  /// The port at which this device listens for the joining one.
  public let port: UInt16

  package init(_ invitation: Invitation, port: UInt16) {
    code = invitation.code
    role = invitation.role
    expires = invitation.expires
    self.port = port
  }
}
