internal import Sync

extension Failure {
  /// What an error of a session means to the user.
  init(_ error: SyncError) {
    switch error {
    case .peerEnded(let reason, let words): self.init(ended: reason, words)
    case .protocolBroken, .overLimit:
      self.init(
        .failed, "protocol_broken", Visible.name(error.description),
        hint: "check the version of notes there")
    case .noCommonVersion:
      self.init(
        .refusedByPeer, "no_common_version", Visible.name(error.description),
        hint: "install the same version of notes on both devices")
    case .wrongNotebook:
      self.init(
        .refusedByPeer, "wrong_notebook", Visible.name(error.description),
        hint: Self.otherAddress)
    case .notAMember:
      self.init(
        .refusedByPeer, "not_a_member", "the other device is not a member of the notebook",
        hint: "'notes members' shows who is; 'notes invite' lets it join")
    case .packRefused:
      self.init(
        .failed, "pack_refused", Visible.name(error.description),
        hint: "nothing of it was kept; 'git fsck' on the other device tells more")
    case .interrupted:
      self.init(
        .failed, "connection_lost", Visible.name(error.description),
        hint: "run the command again; nothing is lost")
    case .timedOut:
      self.init(
        .noPeerReached, "timed_out", Visible.name(error.description),
        hint: "is the other device awake, and the network working?")
    case .ended:
      self.init(.failed, "ended", Visible.name(error.description), hint: "try again")
    case .duplicate:
      self.init(
        .failed, "duplicate", Visible.name(error.description), hint: "try again when it has ended")
    case .massDeletion(let deleted, let total): self = .massDeletion(deleted: deleted, of: total)
    case .massDeletionAtPeer:
      self.init(
        .refusedByPeer, "mass_deletion_at_peer", Visible.name(error.description),
        hint: "if it is meant: 'notes sync --allow-deletes' there")
    case .invitationExpired:
      self.init(
        .refusedByPeer, "expired", "the invitation has ended",
        hint: "ask for a new one: 'notes invite'")
    case .declined:
      self.init(
        .failed, "declined", "the invitation was declined",
        hint: "'notes invite' opens a new one")
    case .wrongCode: self = .wrongCode
    case .alreadyANotebook(let folder):
      self.init(
        .failed, "already_a_notebook", "\(Visible.name(folder)) holds another notebook",
        hint: "choose another folder")
    case .inviterNotFound:
      self.init(
        .noPeerReached, "inviter_not_found", "nobody with this invitation was found",
        hint: "is 'notes invite' still waiting there, on the same network? "
          + "or name the device: --at HOST:PORT")
    case .unknownPeer(let name):
      self.init(
        .failed, "no_such_member", "no member is called '\(Visible.name(name))'",
        hint: "'notes members' lists them")
    case .ownAddress:
      self.init(
        .failed, "own_address", "the address is this device's own",
        hint: "give the other device's address")
    case .stopped: self = .interrupted
    case .failed(let what): self.init(.failed, "failed", Visible.name(what), hint: Self.examine)
    }
  }

  private static let otherAddress = "check the address: each notebook listens at one of its own"

  /// The peer ended the session and said why.
  private init(ended reason: ByeReason, _ words: String) {
    let said = words.isEmpty ? "" : ": \(Visible.name(words))"
    switch reason {
    case .notAMember:
      self.init(
        .refusedByPeer, "refused_by_peer", "this device is not a member of the notebook any more",
        hint: "ask an admin for an invitation")
    case .version:
      self.init(
        .refusedByPeer, "no_common_version", "the other device has another version of notes",
        hint: "install the same version on both")
    case .wrongNotebook:
      self.init(
        .refusedByPeer, "wrong_notebook", "the other device has another notebook",
        hint: Self.otherAddress)
    case .expired:
      self.init(
        .refusedByPeer, "expired", "the invitation has ended",
        hint: "ask for a new one: 'notes invite'")
    case .duplicate, .busy:
      self.init(
        .failed, "busy", "the other device is busy with this one already", hint: "try again")
    case .overLimit, .protocolBroken, .refusedPack:
      self.init(
        .refusedByPeer, "refused_by_peer", "the other device refused what was sent\(said)",
        hint: "install the same version of notes on both; 'notes doctor' looks for what is wrong")
    case .done, .stopped:
      self.init(.failed, "closed_by_peer", "the other device stopped", hint: "try again")
    case .failed:
      self.init(.failed, "peer_failed", "the other device failed\(said)", hint: "try again")
    }
  }
}
