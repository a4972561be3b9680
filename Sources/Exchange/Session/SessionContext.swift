public import Channel
public import Membership
internal import Notebook

/// This device in one notebook: all that a session needs besides the connection.
public struct SessionContext: Sendable {
  /// The notebook's folder.
  public let folder: String
  /// This device's key.
  public let key: DeviceKey
  /// The known members of the notebook.
  public let membership: MembershipStore
  /// The request to an admin to certify this device's new key, while the notebook goes by the former one.
  public let request: CertificateRequest?
  /// How long to wait for what.
  public let timeouts: ProtocolTimeouts

  package init(
    folder: String, key: DeviceKey, membership: MembershipStore,
    request: CertificateRequest? = nil, timeouts: ProtocolTimeouts = .standard
  ) {
    self.folder = folder
    self.request = request
    self.key = key
    self.membership = membership
    self.timeouts = timeouts
  }

  /// The certificate that this device shows in a handshake, and how it judges a peer's: by the membership
  /// as it is known at that moment, and as a stranger's where only `device` is wanted. Throws
  /// `MembershipError.removed` or `.notAMember` when this device has no valid certificate.
  public func credentials(for device: String? = nil) throws -> MemberCredentials {
    let membership = membership
    return MemberCredentials(
      notebookID: membership.notebookID, root: membership.root,
      chain: try membership.chain(for: key), privateKey: key.privateKey
    ) { chain in
      do {
        let member = try membership.verify(chain: chain)
        return device == nil || device == member.deviceID ? .accepted : .refused(.stranger)
      } catch MembershipError.removed {
        return .refused(.removed)
      } catch MembershipError.blocked {
        return .refused(.blocked)
      } catch let error as MembershipError where error.isAboutThePeer {
        return .refused(.stranger)
      } catch {
        return .undecided("\(error)")
      }
    }
  }

  /// Keeps whether a member that this device connected to let it in, or said that it is removed.
  package func record(refusal error: (any Error)?) {
    let isRefused =
      switch error {
      case nil: false
      case ChannelError.refusedByPeer(.removed)?, SyncError.peerEnded(.notAMember, _)?: true
      default: membership.members().contains { $0.deviceID == key.deviceID && $0.isRemoved }
      }
    // If it cannot be kept, the next refusal says it again.
    do { try membership.setRefused(isRefused, device: key.deviceID) } catch {}
  }

  /// The member at the other end of a connection.
  package func peer(at connection: Connection) throws -> PeerIdentity {
    guard case .member(_, let chain) = connection.purpose else {
      throw SyncError.protocolBroken("not a member's connection")
    }
    let member = try membership.verify(chain: chain)
    return PeerIdentity(
      name: member.name, deviceID: member.deviceID, role: member.role,
      address: connection.peer.description)
  }
}

/// Which way versions go.
public enum SyncMode: String, Sendable, Codable {
  case both
  case pull
  case push

  var gives: Bool { self != .pull }
  var receives: Bool { self != .push }
}

/// The options of one session.
public struct SessionOptions: Sendable {
  /// Which way versions go.
  public var mode = SyncMode.both
  /// Let a join delete more than half of the notes.
  public var allowsMassDeletion = false
  /// Let a pack cost much, and much come into the folder: notes-protocol(7), "Large versions".
  public var allowsLarge = false
  /// Take what no member answers for: notes-security(7), VERSIONS.
  public var allowsUnsigned = false
  /// How many bytes may come into the folder where that is not allowed.
  package var unaskedBytes = MergeOptions().unaskedBytes
  /// The port this device listens on, told to the peer for later connections; nil when it does not.
  public var port: UInt16?
  /// Saves and merges; nil: the session does so itself.
  public var keeper: (any SessionKeeper)?
  /// Whether the session is to end when both sides are done.
  public var endsWhenDone = true
  /// Whether this device opened the connection.
  public var isOpenedHere = false
  /// An invitation to another notebook that the peer is told.
  public var invitation: CarriedInvitation?

  /// Versions both ways, and no more than that.
  public init() {}
}

extension MembershipError {
  /// Whether a refusal says something about who was judged. The others are failures on this side,
  /// such as a disk that cannot be read, of which nobody should conclude that it is a stranger.
  var isAboutThePeer: Bool {
    switch self {
    case .certificateRefused, .requestRefused, .notAMember, .removed, .notAnAdmin, .nameRefused,
      .limitExceeded, .founderIsPermanent, .anotherAdminNeeded, .ownCertifier, .blocked:
      true
    case .libraryMissing, .library, .system, .deviceKeyUnusable, .membershipMissing,
      .membershipExists, .begunAnew, .formatUnsupported, .fileDamaged, .passphraseRefused:
      false
    }
  }
}
