public import Git
public import System

/// The errors between two devices.
public enum SyncError: FileFailure, Sendable {
  /// The peer ended the session: the reason, and its message.
  case peerEnded(ByeReason, String)
  /// The peer violated notes-protocol(7) in this way.
  case protocolBroken(String)
  /// The peer exceeded this limit.
  case overLimit(String)
  /// There is no common protocol version: the peer has only these.
  case noCommonVersion([Int])
  case wrongNotebook
  /// The peer's device is not a member, or was removed.
  case notAMember(device: String)
  /// The peer sent a pack that was refused.
  case packRefused(PackError)
  /// The connection ended in the middle of a session.
  case interrupted(String)
  /// The peer stopped answering.
  case timedOut(String)
  /// This side ended the session.
  case ended(ByeReason)
  /// Another connection to the same device is in use.
  case duplicate(device: String)
  /// This device refused the peer's versions and changed nothing: the reason, and its text.
  case notMerged(MergeRefusal, String)
  /// The peer refuses to merge this device's versions.
  case notMergedAtPeer(MergeRefusal)
  case invitationExpired
  case declined
  case wrongCode
  /// The folder already has another notebook.
  case alreadyANotebook(String)
  case inviterNotFound
  /// No member of the notebook has this ID.
  case unknownPeer(String)
  case ownAddress
  /// Another machine with this device's key answers at the address.
  case keyShared
  case stopped
  /// No admin's device let in another device of this member's person. Either this device reached none, or those
  /// that it reached do not let devices in by themselves.
  case notLetIn(isReached: Bool)
  /// This operation on this side failed.
  case failed(String)

  /// A failed system call on a file: `path` names the file, `errno` is the error number.
  public static func system(call: String, path: String, errno: Int32) -> SyncError {
    .failed("\(call) \(path): \(String(errorNumber: errno))")
  }
}

/// System calls on files that throw this module's error.
typealias Disk = FileSystem<SyncError>

extension SyncError: CustomStringConvertible {
  /// The message for people: lower case, no full stop.
  public var description: String { meaning.words }

  var byeReason: ByeReason { meaning.reason }

  private var meaning: (reason: ByeReason, words: String) {
    switch self {
    case .peerEnded(let reason, let words): (.failed, reason.words(followedBy: words))
    case .protocolBroken(let what):
      (.protocolBroken, "the other device broke the protocol: \(what)")
    case .overLimit(let what): (.overLimit, "the other device exceeded a limit: \(what)")
    case .noCommonVersion(let theirs):
      (
        .version,
        "the devices have no protocol version in common: here \(ProtocolLimits.version), "
          + "there \(theirs)"
      )
    case .wrongNotebook: (.wrongNotebook, "the other device named another notebook")
    case .notAMember: (.notAMember, "the other device is not a member of the notebook")
    case .packRefused(let error):
      (.refusedPack, "this device refused the other device's versions: \(error)")
    case .interrupted(let what): (.failed, "the connection was interrupted: \(what)")
    case .timedOut(let what): (.failed, "the other device stopped answering: \(what)")
    case .ended(let reason): (reason, "the session was ended (\(reason.rawValue))")
    case .duplicate: (.duplicate, "another session with this device is in progress")
    case .notMerged(_, let words): (.failed, words)
    case .notMergedAtPeer(let refusal): (.failed, refusal.wordsAtPeer)
    case .invitationExpired: (.expired, "the invitation has expired")
    case .declined: (.done, "the invitation was declined")
    case .wrongCode: (.failed, "the code is wrong")
    case .alreadyANotebook(let folder): (.failed, "\(folder) holds another notebook")
    case .inviterNotFound: (.failed, "no device with this invitation was found")
    case .unknownPeer(let name): (.failed, "no member is called '\(name)'")
    case .ownAddress: (.failed, "the address is this device's own")
    case .keyShared: (.duplicate, "another machine uses this device's key")
    case .stopped: (.stopped, "interrupted")
    case .notLetIn(isReached: false):
      (
        .failed,
        "no admin's device was reached, and no other can let in the new device; on the inviting "
          + "device, 'notes invite --mine --hub NAME' makes a link that waits for an admin's"
      )
    case .notLetIn(isReached: true):
      (
        .failed,
        "an admin must let in the new device: 'notes invitations' on an admin's device lists the request, and "
          + "'notes config own-devices true' there lets in such devices without a question"
      )
    case .failed(let what): (.failed, what)
    }
  }
}

extension MergeRefusal {
  fileprivate var wordsAtPeer: String {
    switch self {
    case .massDeletion: "the other device refused to delete most of its notes; it changed nothing"
    case .largeVersion:
      "the other device accepts a version of this size only with --allow-large; it changed nothing"
    case .tooLarge:
      "the other device refused: the merged version would exceed a limit; it changed nothing"
    case .pruned: "the other device removed a version that is still here; it changed nothing"
    case .forgotten: "the other device refused versions from before something was forgotten"
    case .unsigned: "the other device refused: no member vouches for a version; it changed nothing"
    }
  }
}

extension ByeReason {
  /// The meaning of the other device's error code, and the device's own message if that says more.
  fileprivate func words(followedBy own: String) -> String {
    let rest = own.isEmpty ? "" : ": \(own)"
    return switch self {
    case .notAMember: "this device is no longer a member of the notebook"
    case .version: "the other device has another version of notes"
    case .wrongNotebook: "the other device has another notebook"
    case .expired: "the invitation has expired"
    case .duplicate, .busy: "the other device is already in a session with this one"
    case .overLimit, .protocolBroken, .refusedPack: "the other device refused the versions\(rest)"
    case .done, .stopped: "the other device stopped"
    case .failed: "the other device could not continue\(rest)"
    }
  }
}
