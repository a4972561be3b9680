public import Git
public import History
public import Membership
public import Notebook
public import WorkTree

/// Events during exchanges of versions and in a watched notebook. Sessions, the service, the watcher's
/// socket, the log, `--json` and the output for people all use this list.
///
/// `notebook` is a notebook's ID; `locator` is the first two digits of an invitation's code, which
/// identify an open invitation of a device and are not secret.
public enum Event: Codable, Sendable {
  /// This device listens at the address. The host is the requested one (`::` or `*` for all interfaces).
  case listening(address: String, port: UInt16)
  /// At present, this device cannot find others, or cannot announce itself.
  case discoveryFailed(cause: Cause)

  /// The search for devices has taken more than a second: these members are not found yet, or
  /// nobody has answered at these addresses.
  case looking(for: [String])
  /// Unsaved edits are being saved before the exchange.
  case saving(WorkAmount, of: WorkAmount)

  // MARK: Sessions

  /// A member has connected, or answered.
  case peer(PeerIdentity)
  case progress(TransferProgress)
  /// Versions of a peer were merged.
  case received(from: PeerIdentity, MergeOutcome, notebook: String? = nil)
  /// A foreign commit had content that all devices refuse: another version has replaced it.
  case replaced(PortableVersion, notebook: String? = nil)
  /// A session ran to its end.
  case finished(SessionResult)
  /// A connection or session failed, a device was refused, or the guard against mass deletion
  /// stopped a merge.
  case failed(SyncFailure)
  /// The peer shows the same heads, but another merge of them as its tip; reported once for each such tip.
  case differs(PeerIdentity, TipDifference)
  /// Another machine uses this device's key. The device `witness` has connected to both machines; if it is nil,
  /// this machine has connected to the other one. Reported once an hour.
  case keyShared(notebook: String, witness: String?)
  /// A device asks this one, an admin's, to certify a new key.
  case keyRequested(notebook: String, by: PeerIdentity)
  /// The received versions include altered merges: derived merges below signed versions that differ from this
  /// device's computation.
  case alteredMerges(from: PeerIdentity, [ObjectID], notebook: String)
  /// A hub's branch does not continue from its former commit: it was set back or rewritten, or (without a new
  /// commit) the repository was made again. This device still has the former versions and pushes them again.
  case hubWentBack(PeerIdentity, from: ObjectID, to: ObjectID?)
  /// A hub's list of members has fewer entries than at this device's last visit: the hub was set back, or hides
  /// a removal or a new member. This device knows the missing entries.
  case hubMembersWentBack(PeerIdentity)
  /// A forgetting replaced a hub's branch; other references there may still lead to the old
  /// versions.
  case hubOthers(PeerIdentity, references: [String])
  /// This device has followed an admin's forgettings. The values are the admin's name, nil if not proved, and
  /// the forgettings.
  case followed(
    by: String?, forgettings: [ForgettingVersion.Line], from: PeerIdentity, notebook: String)
  /// A hub had two branches of this notebook, because two devices had begun with different names. One
  /// was kept, and the other was merged into it.
  case hubSplit(PeerIdentity, kept: String, joined: String)
  /// A device requested to join at a hub, and became a member. The device is this one, or one that this admin's
  /// device certified.
  case admitted(PeerIdentity, device: PeerIdentity, notebook: String)
  /// A member asked at a hub for another device of its own person, and this admin's device does not let that
  /// device in by itself. `by` is the member's name.
  case deviceAsked(
    PeerIdentity, device: PeerIdentity, by: String, invitation: String, notebook: String)
  /// Several devices responded to one invitation by a link, so another person has the link. The values are
  /// the invitation's ID, the devices' names, and whether one of them joined with it.
  case linkShared(
    PeerIdentity, invitation: String, devices: [String], isUsed: Bool, notebook: String)
  /// The first news of a claim of the founder's place, or that it was stopped, accepted or contested.
  case claim(ClaimNews, notebook: String)
  /// Missing objects have arrived.
  case completed(from: PeerIdentity, notebook: String)

  // MARK: Invitations

  /// An invitation is open.
  case invitation(open: OpenInvitation)
  /// A person with the code sees the offer.
  case offered(locator: String, address: String)
  /// A device with the code ended the dialogue: a person declined, or it cannot join there. The invitation stays open.
  case declined(locator: String, address: String)
  /// A device tried a wrong code.
  case wrongCode(locator: String, address: String, attemptsLeft: Int)
  case joined(locator: String, device: PeerIdentity)
  /// An invitation is no longer open.
  case ended(locator: String, how: InvitationEnd)

  // MARK: A notebook that is watched

  /// A save made a version.
  case version(notebook: String, saved: SaveResult)
  /// A save was based on an older text, or removes another device's edits.
  case saveNews(notebook: String, news: SaveNews)
  /// A live session with a device began, or ended.
  case connected(notebook: String, peer: PeerIdentity)
  case disconnected(notebook: String, peer: PeerIdentity)
  /// A device shows another version.
  case shows(notebook: String, peer: PeerIdentity, tip: ObjectID?)
  /// People edit these notes on a device.
  case editing(notebook: String, peer: PeerIdentity, paths: [TreePath])
  /// The known members, the devices with which this one exchanges, or the prospects of its request to join have
  /// changed.
  case membersChanged(notebook: String)
  /// Another address of a device was recorded, by this process or another command.
  case addressesChanged(notebook: String)
  /// A save was stopped, because it would delete most of the notebook.
  case held(notebook: String, deleted: Int, of: Int)
  /// A save or a scan of the folder failed; it is tried again.
  case notebookFailed(notebook: String, cause: Cause)
  /// Notes damaged by a power cut were restored to their last text.
  case broughtBack(notebook: String, files: [SkippedFile], version: ObjectID)
  /// The user's inotify watches are used up: the folder is scanned at this interval, in seconds,
  /// instead.
  case watchLimit(notebook: String, interval: Double)
  /// The folder became unavailable, or available again.
  case folder(notebook: String, isThere: Bool)
  /// There are enough loose objects to pack.
  case gcDue(notebook: String, folder: String)

  // The names of unlabelled values, for the watcher's socket.
  private enum PeerCodingKeys: String, CodingKey { case _0 = "peer" }
  private enum ProgressCodingKeys: String, CodingKey { case _0 = "transfer" }
  private enum SavingCodingKeys: String, CodingKey { case _0 = "done", of }
  private enum ReceivedCodingKeys: String, CodingKey { case from, _1 = "joined", notebook }
  private enum ReplacedCodingKeys: String, CodingKey { case _0 = "replacement", notebook }
  private enum FinishedCodingKeys: String, CodingKey { case _0 = "session" }
  private enum FailedCodingKeys: String, CodingKey { case _0 = "failure" }
  private enum AlteredMergesCodingKeys: String, CodingKey { case from, _1 = "merges", notebook }
  private enum HubWentBackCodingKeys: String, CodingKey { case _0 = "peer", from, to }
  private enum HubMembersWentBackCodingKeys: String, CodingKey { case _0 = "peer" }
  private enum HubOthersCodingKeys: String, CodingKey { case _0 = "peer", references }
  private enum HubSplitCodingKeys: String, CodingKey { case _0 = "peer", kept, joined }
  private enum AdmittedCodingKeys: String, CodingKey { case _0 = "peer", device, notebook }
  private enum DeviceAskedCodingKeys: String, CodingKey {
    case _0 = "peer", device, by, invitation, notebook
  }
  private enum ClaimCodingKeys: String, CodingKey { case _0 = "claim", notebook }
  private enum LinkSharedCodingKeys: String, CodingKey {
    case _0 = "peer", invitation, devices, isUsed, notebook
  }
  private enum DiffersCodingKeys: String, CodingKey { case _0 = "peer", _1 = "difference" }
}

/// The cause of a failure: the error itself in the process where it happened, its text in others.
public struct Cause: Codable, Sendable {
  /// The error; `SyncError.failed` with the text if it is from another process.
  public let error: any Error

  /// The cause for an error.
  public init(_ error: any Error) { self.error = error }

  /// Decodes the text.
  public init(from decoder: any Decoder) throws {
    error = SyncError.failed(try decoder.singleValueContainer().decode(String.self))
  }

  /// Encodes the text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode("\(error)")
  }
}

extension Event {
  /// The locator of the event's invitation; nil for an event that is not about an invitation.
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

/// A device of the notebook on the other side of a connection, or a hub.
public struct PeerIdentity: Hashable, Codable, Sendable {
  /// The device's name in its certificate; for a hub, this device's name for it.
  public let name: String
  /// The peer's device ID; for a hub, its name, which cannot be a device's ID.
  public let deviceID: String
  /// The peer's present role. Hubs count as writers, because they pass on writers' versions.
  public let role: Role
  /// The address as `HOST:PORT`; for a hub, in git's form.
  public let address: String
  /// Whether the peer is a hub or a bundle, which do not authenticate.
  public let isHub: Bool

  private enum CodingKeys: String, CodingKey {
    case name, role, address
    case deviceID = "device"
    case isHub = "hub"
  }

  /// A device with that ID at that address.
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

  /// A bundle, which does not authenticate, like a hub. The address is the file's name.
  init(bundle name: String) { self.init(hub: Self.bundle, at: name) }

  /// The ID and name for a bundle.
  public static let bundle = "bundle"
}

/// The progress of a transfer.
public struct TransferProgress: Hashable, Codable, Sendable {
  /// The stage of the transfer.
  public enum Stage: String, Codable, Sendable {
    /// Packs are being transferred.
    case moving
    /// The received pack is being checked and merged here.
    case joining
    /// The peer is busy: it prepares a pack, or checks and merges a received one.
    case waiting
  }

  /// The device on the other side.
  public let peer: PeerIdentity
  /// The present stage.
  public var stage = Stage.moving
  /// Objects written to the peer.
  public var sentObjects = 0
  /// How many objects will be written to the peer.
  public var objectsToSend = 0
  /// Bytes of objects written to the peer, before compression; 0 for a hub.
  public var sentContent = 0
  /// How many bytes of objects will be written to the peer, before compression; 0 for a hub.
  public var contentToSend = 0
  /// Bytes received of the peer's pack.
  public var receivedBytes = 0
  /// Objects received of a hub's pack.
  public var receivedObjects = 0
  /// How many objects the peer's pack has.
  public var objectsToReceive = 0
  /// Bytes received of the peer's objects, before compression.
  public var receivedContent = 0
  /// The size of the peer's objects, before compression; 0 if unknown.
  public var contentToReceive = 0
  /// The amount written into the folder so far, after the pack was checked.
  public var written = WorkAmount()
  /// How many files will be written into the folder; 0 while unknown.
  public var filesToWrite = 0
}

/// An open invitation, for the user who invites.
public struct OpenInvitation: Codable, Sendable {
  /// The code for the joining device's user. Secret except for its locator.
  public let code: InvitationCode
  /// The role the device gets.
  public let role: Role
  /// When the invitation ends, in seconds since 1970.
  public let expires: Int64
  /// The port at which this device listens for the joining one.
  public let port: UInt16
  /// The name that the person of the new device gets; nil if none is given.
  public let person: String?

  package init(_ invitation: Invitation, port: UInt16) {
    code = invitation.code
    role = invitation.role
    expires = invitation.expires
    self.port = port
    person = invitation.person.name
  }
}
