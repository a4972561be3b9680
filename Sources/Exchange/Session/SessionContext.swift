public import Channel
package import Git
public import Membership
internal import Notebook

/// This device in one notebook: everything that a session needs besides the connection.
public struct SessionContext: Sendable {
  /// The notebook's folder.
  public let folder: String
  /// This device's key.
  public let key: DeviceKey
  /// The known members of the notebook.
  public let membership: MembershipStore
  /// The request to an admin to certify this device's new key, while the notebook uses the former
  /// one.
  public let request: CertificateRequest?
  /// The time-outs of the protocol.
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

  /// The certificate that this device presents in a handshake, and the check of the peer's certificate by the
  /// present membership. If `device` is given, any other device counts as a stranger. Throws
  /// `MembershipError.removed` or `.notAMember` if this device has no valid certificate.
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

  /// Records the result of a connection to a member: that it accepted this device, or said that this device is
  /// removed.
  package func record(refusal error: (any Error)?) {
    let isRefused =
      switch error {
      case nil: false
      case ChannelError.refusedByPeer(.removed)?, SyncError.peerEnded(.notAMember, _)?: true
      default: membership.members().contains { $0.deviceID == key.deviceID && $0.isRemoved }
      }
    // If it cannot be recorded, the next refusal is recorded.
    do { try membership.setRefused(isRefused, device: key.deviceID) } catch {}
  }

  /// The member on the other side of a connection.
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

/// The directions in which versions go.
public enum SyncMode: String, Sendable, Codable {
  case both
  case pull
  case push

  var gives: Bool { self != .pull }
  var receives: Bool { self != .push }
}

/// The options of one session.
public struct SessionOptions: Sendable {
  /// The directions in which versions go.
  public var mode = SyncMode.both
  /// Whether a merge may delete more than half of the notes.
  public var allowsMassDeletion = false
  /// Whether a pack may be costly, and much may be written into the folder: notes-protocol(7),
  /// "Large versions".
  public var allowsLarge = false
  /// The limits of a pack if costly ones are not allowed; tests change them.
  package var usualPackLimits = PackLimits.standard
  /// Whether to accept versions for which no member vouches: notes-security(7), VERSIONS.
  public var allowsUnsigned = false
  /// How many bytes may be written into the folder if large versions are not allowed.
  package var unaskedBytes = MergeOptions().unaskedBytes
  /// The port at which this device listens, for later connections by the peer; nil if it does not
  /// listen.
  public var port: UInt16?
  /// Saves and merges; if nil, the session does this.
  public var keeper: (any SessionKeeper)?
  /// Whether the session ends when both sides are done.
  public var endsWhenDone = true
  /// Whether this device opened the connection.
  public var isOpenedHere = false
  /// An invitation to another notebook, for the peer.
  public var invitation: CarriedInvitation?
  /// A request to let in another device of this one's person, for admins' devices.
  var admission: AdmissionFile?

  /// The defaults: versions in both directions, and no special permission.
  public init() {}

  /// The limits of a pack.
  var packLimits: PackLimits { allowsLarge ? .large : usualPackLimits }
}

extension MembershipError {
  /// Whether a refusal is about the peer. Other errors are failures on this side, such as an
  /// unreadable disk, and do not mean that the peer is a stranger.
  var isAboutThePeer: Bool {
    switch self {
    case .certificateRefused, .requestRefused, .notAMember, .removed, .notAnAdmin, .nameRefused,
      .limitExceeded, .founderIsPermanent, .notTheFounder, .heirRefused, .claimRefused,
      .anotherAdminNeeded,
      .ownCertifier, .blocked:
      true
    case .libraryMissing, .library, .system, .deviceKeyUnusable, .membershipMissing,
      .membershipExists, .begunAnew, .formatUnsupported, .fileDamaged, .passphraseRefused:
      false
    }
  }
}
