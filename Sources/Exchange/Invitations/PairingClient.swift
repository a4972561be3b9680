public import Channel
public import Discovery
internal import History
public import Membership
internal import Notebook
internal import State
internal import System
internal import WorkTree

/// The joining side of notes-protocol(7), PAIRING: finds the inviter, shows the offer, and makes a
/// folder the notebook. The first session is a `SyncRun` at the inviter's address.
public struct PairingClient: Sendable {
  /// The code that the user received.
  public let code: InvitationCode
  /// The folder that becomes the notebook, depending on the offer. Files in it are merged with the
  /// notebook's.
  public let folder: @Sendable (PairingOffer) -> String
  /// The name that this device requests.
  public private(set) var name: String
  /// Called with an accepted offer and that name; returns this device's name in the notebook.
  public var naming: @Sendable (PairingOffer, String) throws -> String = { $1 }
  package let key: DeviceKey
  /// The ID of this device.
  public var deviceID: String { key.deviceID }
  /// The inviter's addresses, if the user gave them; then discovery is not used.
  public var addresses: [Address] = []
  /// Finds the inviter; stopped at the end of the run. If this is nil, `addresses` must not be empty.
  public var discovery: (any Discovery)?
  /// How many seconds to look for the inviter.
  public var window = 10.0
  /// The time-outs of the protocol.
  public var timeouts = ProtocolTimeouts.standard

  package init(
    code: InvitationCode, name: String, key: DeviceKey,
    folder: @escaping @Sendable (PairingOffer) -> String
  ) {
    self.code = code
    self.folder = folder
    self.name = name
    self.key = key
  }

  /// Joins. `decide` is called with the offer, on this thread; the call may take until the offer ends, and at most 5
  /// minutes. Nothing on the disk changes before it has returned true.
  public func run(
    cancellation: CancellationToken? = nil, decide: (PairingOffer) throws -> Bool
  ) throws -> Joined {
    let connection = try connect(to: inviters(cancellation), cancellation)
    let stream = MessageStream(connection: connection, timeouts: timeouts)
    do {
      let joined = try hold(stream, decide)
      stream.close(.done)
      return joined
    } catch SyncError.peerEnded(.expired, _) {
      stream.close(.done)
      throw SyncError.invitationExpired
    } catch {
      stream.close(after: error)
      throw error
    }
  }

  private func hold(
    _ stream: MessageStream, _ decide: (PairingOffer) throws -> Bool
  ) throws -> Joined {
    var offer = try stream.receive(PairingOffer.self)
    guard offer.versions.contains(where: ProtocolLimits.versions(obeying: []).contains) else {
      throw SyncError.noCommonVersion(offer.versions)
    }
    let folder = folder(offer)
    let present = try Self.notebook(in: folder)
    var named = self
    do {
      if let present, present.identity.id != offer.notebookID {
        offer.renewal = try renewal(of: present, by: offer)
        if offer.renewal == nil { throw SyncError.alreadyANotebook(folder) }
      }
      guard try decide(offer) else { throw SyncError.declined }
      named.name = try naming(offer, name)
    } catch {
      stream.sendIfHeard(DeclineMessage())
      throw error
    }
    return try named.accept(offer, stream, in: folder, present)
  }

  private func accept(
    _ offer: PairingOffer, _ stream: MessageStream, in folder: String, _ present: Notebook?
  ) throws -> Joined {
    let request = try CertificateRequest(name: name, key: key)
    try stream.send(AcceptMessage(name: name, request: Base64(request.der)))
    let certificate = try stream.receive(CertificateMessage.self)
    // On a slow device, installing a full list of members can take longer than the peer waits for a message.
    let context = try stream.working { try install(certificate, offer, in: folder, present) }
    context.recordKnownRole()
    try stream.send(InstalledMessage())
    return Joined(offer: offer, address: stream.connection.peer, context: context)
  }

  /// The proof that the notebook in the folder is the offered one from before its membership was started over;
  /// nil if there is no proof. When the root arrives, it is compared with the offered root.
  private func renewal(
    of present: Notebook, by offer: PairingOffer
  ) throws -> PairingOffer.Renewal? {
    guard offer.formerly?.contains(present.identity.id) == true else { return nil }
    let membership = try MembershipStore.open(
      in: MembershipStore.folder(ofNotebookAt: present.stateFolder))
    guard let root = offer.root?.bytes,
      try MembershipStore.notebookID(ofRoot: root) == offer.notebookID,
      let founder = try membership.founder(ofRenewal: root)
    else { return .claimed }
    return .proved(by: founder.name)
  }

  /// Makes the folder the notebook, or gives the existing notebook the new membership.
  private func install(
    _ message: CertificateMessage, _ offer: PairingOffer, in folder: String, _ present: Notebook?
  ) throws -> SessionContext {
    func identity(in membership: MembershipStore) -> NotebookIdentity {
      NotebookIdentity(
        id: membership.notebookID, name: membership.notebookName,
        device: DeviceIdentity(name: name, deviceID: key.deviceID))
    }
    let notebook: Notebook
    if let present {
      let membership = try store(
        message, offer, in: MembershipStore.folder(ofNotebookAt: present.stateFolder), isNew: false)
      // This device no longer needs an answer to an earlier request by a link or a file.
      AskedAdmission.forget(in: present.stateFolder)
      if offer.renewal != nil {
        notebook = try Notebook.adopt(at: folder, as: identity(in: membership))
      } else {
        try present.become(DeviceIdentity(name: name, deviceID: key.deviceID))
        notebook = present
      }
    } else {
      let branch = Notebook.branch(offered: offer.branch)
      notebook = try Notebook.make(at: folder, branch: branch) { state in
        // An empty notebook has no rules to wait for.
        if offer.notes > 0 || offer.files != 0 { try Disk.replace(state[.awaiting], with: []) }
        return identity(
          in: try store(
            message, offer, in: MembershipStore.folder(ofNotebookAt: state), isNew: true))
      }
    }
    return SessionContext(
      folder: notebook.folder, key: key,
      membership: try .open(in: MembershipStore.folder(ofNotebookAt: notebook.stateFolder)),
      timeouts: timeouts)
  }

  /// Stores the membership, which must include a chain from this device's key to the root.
  private func store(
    _ message: CertificateMessage, _ offer: PairingOffer, in place: String, isNew: Bool
  ) throws -> MembershipStore {
    let certificates = [message.certificate.bytes] + message.certificates.map(\.bytes)
    let revocations = message.revocations.map(\.bytes)
    guard try MembershipStore.notebookID(ofRoot: message.root.bytes) == offer.notebookID,
      message.root == offer.root ?? message.root
    else {
      throw SyncError.protocolBroken("a root that is not the offered notebook's")
    }
    if isNew {
      do {
        // An interrupted join left this, in a repository that did not become a notebook.
        let left = try MembershipStore.open(in: place)
        if left.root != message.root.bytes { try left.putAside() }
      } catch MembershipError.membershipMissing {}
    }
    // The message lists former IDs latest first.
    let (root, formerly) = (message.root.bytes, Array((offer.formerly ?? []).reversed()))
    let membership =
      try offer.renewal != nil
      ? MembershipStore.replace(
        in: place, root: root, certificates: certificates, revocations: revocations,
        formerly: formerly)
      : MembershipStore.install(
        in: place, root: root, certificates: certificates, revocations: revocations)
    try membership.recordFormerIDs(formerly)
    guard try membership.follow(acceptedClaims: (message.claims ?? []).map(\.bytes)) else {
      throw SyncError.protocolBroken("an accepted claim that is not among the certificates")
    }
    _ = try membership.chain(for: key)
    try membership.setRefused(false, device: key.deviceID)
    return membership
  }

  /// The notebook that is already in the folder, for example after an interrupted attempt.
  private static func notebook(in folder: String) throws -> Notebook? {
    do {
      let notebook = try Notebook.open(at: folder)
      do {
        try notebook.finishBeginningAnew(
          .open(in: MembershipStore.folder(ofNotebookAt: notebook.stateFolder)))
      } catch MembershipError.membershipMissing {
        // The notebook's membership is missing; joining restores it.
      }
      return notebook
    } catch NotebookError.notANotebook {
      return nil
    }
  }

  /// Connects to the inviter with this code: of the devices that announce its locator, the first that accepts
  /// the code.
  private func connect(
    to inviters: [[Address]], _ cancellation: CancellationToken?
  ) throws -> Connection {
    var failure: any Error = SyncError.inviterNotFound
    for inviter in inviters {
      let identity = try PairingIdentity(locator: code.locator)
      let credentials = PairingCredentials(
        identity: identity.bytes, preSharedKey: try code.preSharedKey(for: identity))
      do {
        return try Connection.connect(
          to: inviter, pairing: credentials,
          deadline: .after(seconds: timeouts.connect + timeouts.handshake),
          cancellation: cancellation)
      } catch ChannelError.cancelled {
        throw SyncError.stopped
      } catch ChannelError.wrongCode {
        failure = SyncError.wrongCode
      } catch ChannelError.connectionRefused {
        // A device listens while its invitation is open, so this invitation has ended; the first error says so.
        continue
      } catch {
        if case SyncError.wrongCode = failure { continue }
        failure = error
      }
    }
    throw failure
  }

  private func inviters(_ cancellation: CancellationToken?) throws -> [[Address]] {
    if !addresses.isEmpty { return [addresses] }
    guard let discovery else { throw SyncError.inviterNotFound }
    return try NearbyInvitation.all(
      by: discovery, within: window, locator: code.locator, cancellation: cancellation
    ).map(\.addresses)
  }
}

/// The result of joining.
public struct Joined: Sendable {
  package let offer: PairingOffer
  /// The address at which the inviter was reached.
  public let address: Address
  /// The notebook with this device as its member, for the first session.
  public let context: SessionContext
}

/// An invitation announced nearby. The announcement is only a hint: it contains no name, and only
/// the code proves who made it.
public struct NearbyInvitation: Sendable, Hashable {
  /// The first two digits of the invitation's code.
  public let locator: String
  package let notebookID: String
  /// The inviting device's ID.
  public let deviceID: String
  package let addresses: [Address]

  /// The announced invitations, or only those with a locator, found within `window` seconds. Throws
  /// `SyncError.stopped`, `DiscoveryError`.
  public static func all(
    by discovery: any Discovery, within window: Double, locator wanted: String? = nil,
    cancellation: CancellationToken? = nil
  ) throws -> [NearbyInvitation] {
    defer { discovery.stop() }
    let sightings = BlockingQueue<DiscoveryEvent>()
    try discovery.browse(.invitation) { sightings.put($0) }
    var found: [String: NearbyInvitation] = [:]
    var end = Instant.now + window
    while Instant.now < end {
      if cancellation?.isCancelled == true { throw SyncError.stopped }
      switch sightings.take(until: min(end, .now + 0.1)) {
      case .found(let peer):
        guard let locator = peer.locator, locator == wanted ?? locator else { continue }
        // Another device may announce the same locator.
        if wanted != nil { end = min(end, .now + 0.3) }
        found[peer.deviceID + locator] = NearbyInvitation(
          locator: locator, notebookID: peer.notebookID, deviceID: peer.deviceID,
          addresses: peer.addresses)
      case .lost(let peer): found[peer.deviceID + (peer.locator ?? "")] = nil
      case .interrupted(let error): if found.isEmpty { throw error }
      default: continue
      }
    }
    return found.values.sorted { ($0.locator, $0.deviceID) < ($1.locator, $1.deviceID) }
  }
}
