public import Git
public import System

/// What can go wrong between two devices.
public enum SyncError: FileFailure, Sendable {
  /// The peer ended the session: why, and its own words.
  case peerEnded(ByeReason, String)
  /// The peer sent what notes-protocol(7) does not allow: what.
  case protocolBroken(String)
  /// The peer went over a limit: which.
  case overLimit(String)
  /// No common protocol version: those of the peer.
  case noCommonVersion([Int])
  /// The peer speaks of another notebook than its certificate.
  case wrongNotebook
  /// The peer's device is no member, or one that was removed.
  case notAMember(device: String)
  /// The peer sent a pack that was refused.
  case packRefused(PackError)
  /// The connection ended in the middle of a session.
  case interrupted(String)
  /// The peer stopped answering.
  case timedOut(String)
  /// The session was ended from here.
  case ended(ByeReason)
  /// Another connection to the same device is in use.
  case duplicate(device: String)
  /// The sync would delete most of the notebook, so nothing was changed.
  case massDeletion(deleted: Int, of: Int)
  /// The peer's guard against mass deletion stopped it there.
  case massDeletionAtPeer
  /// The invitation has ended.
  case invitationExpired
  /// The joiner declined.
  case declined
  /// The code is not the inviter's.
  case wrongCode
  /// The folder holds another notebook already.
  case alreadyANotebook(String)
  /// Nobody with that invitation was found.
  case inviterNotFound
  /// No member of the notebook is called this.
  case unknownPeer(String)
  /// The address is this device's own.
  case ownAddress
  /// The user stopped it.
  case stopped
  /// Something failed on this side: what.
  case failed(String)
}

extension SyncError {
  /// The reason to give the peer.
  var byeReason: ByeReason {
    switch self {
    case .peerEnded, .interrupted, .timedOut, .failed, .massDeletion, .massDeletionAtPeer,
      .wrongCode, .alreadyANotebook, .inviterNotFound, .unknownPeer, .ownAddress:
      .failed
    case .ended(let reason): reason
    case .protocolBroken: .protocolBroken
    case .overLimit: .overLimit
    case .noCommonVersion: .version
    case .wrongNotebook: .wrongNotebook
    case .notAMember: .notAMember
    case .packRefused: .refusedPack
    case .duplicate: .duplicate
    case .invitationExpired: .expired
    case .declined: .done
    case .stopped: .stopped
    }
  }
}

extension SyncError {
  /// A call on a file that failed: `path` names the file, `errno` is the error number it left.
  public static func system(call: String, path: String, errno: Int32) -> SyncError {
    .failed("\(path): error \(errno)")
  }
}

/// Calls on files that throw this module's error.
typealias Disk = FileSystem<SyncError>

extension SyncError: CustomStringConvertible {
  /// What happened, as people are told: lower case, no full stop.
  public var description: String {
    switch self {
    case .peerEnded(let reason, let words):
      reason.words + (reason.hasWords && !words.isEmpty ? ": \(words)" : "")
    case .protocolBroken(let what): "the peer broke the protocol: \(what)"
    case .overLimit(let what): "the peer went over a limit: \(what)"
    case .noCommonVersion(let theirs):
      "no common protocol version: here \(ProtocolLimits.version), there \(theirs)"
    case .wrongNotebook: "the peer speaks of another notebook"
    case .notAMember: "the other device is not a member of the notebook"
    case .packRefused(let error): "the peer's versions were refused: \(error)"
    case .interrupted(let what): "the connection was interrupted: \(what)"
    case .timedOut(let what): "the peer stopped answering: \(what)"
    case .ended(let reason): "the session was ended (\(reason.rawValue))"
    case .duplicate: "another session with this device is under way"
    case .massDeletion(let deleted, let total): "this would delete \(deleted) of \(total) notes"
    case .massDeletionAtPeer: "the peer refused to delete most of its notes; it changed nothing"
    case .invitationExpired: "the invitation has ended"
    case .declined: "the invitation was declined"
    case .wrongCode: "the code is wrong"
    case .alreadyANotebook(let folder): "\(folder) holds another notebook"
    case .inviterNotFound: "nobody with this invitation was found"
    case .unknownPeer(let name): "no member is called '\(name)'"
    case .ownAddress: "the address is this device's own"
    case .stopped: "interrupted"
    case .failed(let what): what
    }
  }
}

extension ByeReason {
  /// What the other device said by it.
  fileprivate var words: String {
    switch self {
    case .notAMember: "this device is no longer a member of the notebook"
    case .version: "the other device has another version of notes"
    case .wrongNotebook: "the other device has another notebook"
    case .expired: "the invitation has ended"
    case .duplicate, .busy: "the other device is busy with this one already"
    case .overLimit, .protocolBroken, .refusedPack: "the other device refused what was sent"
    case .done, .stopped: "the other device stopped"
    case .failed: "the other device failed"
    }
  }

  /// Whether its own words tell more.
  fileprivate var hasWords: Bool {
    [.overLimit, .protocolBroken, .refusedPack, .failed].contains(self)
  }
}
