internal import Channel
internal import Discovery
internal import Exchange
internal import Git
internal import Watch

extension ChannelError: ExplainedError {
  var meaning: ErrorMeaning {
    switch self {
    case .libraryMissing: .failed("library_missing", Failure.openSSL)
    case .invalidAddress: .misused("usage", "write HOST:PORT, or [IPV6]:PORT")
    case .hostUnknown: .unreached("host_unknown", "check its name, or give its address")
    case .unreachable:
      .unreached("unreachable", "check that the other device is awake and on this network")
    case .connectionRefused:
      .unreached("connection_refused", "run 'notes serve' or 'notes sync' on the other device")
    case .portInUse:
      .failed("port_in_use", "choose another port with --listen, or leave --listen out")
    case .addressUnavailable:
      .failed("address_unavailable", "use an address of this machine, or leave --listen out")
    case .notTLS: .unreached("not_tls", "check the port: the other device shows where it listens")
    case .tlsVersionUnsupported: .refused("tls_version", Self.checkAddress)
    case .protocolUnsupported: .refused("protocol_unsupported", Self.checkAddress)
    case .notebookUnknown:
      .refused(
        "notebook_unknown",
        "run 'notes watch' in this notebook on the other device; if an admin started the membership "
          + "over, join again: 'notes join CODE'")
    case .invitationUnknown:
      .refused("invitation_unknown", "check the code, or ask the inviter for a new one")
    case .wrongCode: Failure.wrongCode
    case .certificateRefused(.blocked):
      .refused("certificate_refused", "'notes members unblock NAME' lets it in again")
    case .certificateRefused:
      .refused(
        "certificate_refused",
        "'notes members' lists the members; an admin can invite the device with 'notes invite'")
    case .refusedByPeer(.removed):
      .refused(
        "refused_by_peer", "the notes here stay as they are; an admin can invite this device again")
    case .refusedByPeer:
      .refused("refused_by_peer", "ask an admin of the notebook for an invitation")
    case .verificationFailed:
      .failed("verification_failed", "run 'notes doctor' here")
    case .peerFailed: .failed("peer_failed", "run 'notes doctor' on the other device")
    case .tls: .failed("tls_failed", Failure.examine)
    case .timedOut: .unreached("timed_out", "check that the device is awake and on this network")
    case .cancelled: .interrupted
    case .closedByPeer: .failed("closed_by_peer", Failure.runAgain)
    case .connectionLost: .failed("connection_lost", Failure.runAgain)
    case .frameTooLarge, .frameEmpty: .failed("protocol_broken", Failure.checkVersion)
    case .system(_, let code): .failed("system_failed", Failure.remedyOrExamine(code))
    }
  }

  private static let checkAddress =
    "check the address, and the version of notes on the other device"
}

extension SyncError: ExplainedError {
  var meaning: ErrorMeaning {
    switch self {
    case .peerEnded(.failed, let words) where !words.isEmpty:
      .failed("peer_failed", "when that is solved, run the command again")
    case .peerEnded(let reason, _): reason.meaning
    case .protocolBroken, .overLimit: .failed("protocol_broken", Failure.checkVersion)
    case .noCommonVersion:
      .refused("no_common_version", "install the same version of notes on both devices")
    case .wrongNotebook: ByeReason.wrongNotebook.meaning
    case .notAMember:
      .refused(
        "not_a_member",
        "'notes members' lists the members; an admin can invite the device with 'notes invite'")
    case .packRefused(.costly):
      .failed(
        "pack_refused", "nothing was kept; to accept the versions, run 'notes sync --allow-large'")
    case .packRefused(.diskNearlyFull(let room)): PackError.diskNearlyFull(room: room).meaning
    case .packRefused:
      .failed("pack_refused", "run 'git fsck' on the other device; nothing was kept here")
    case .interrupted: .failed("connection_lost", Failure.runAgain)
    case .timedOut:
      .unreached("timed_out", "check that the other device is awake and on this network")
    case .ended: .failed("ended", "try again")
    case .duplicate: .failed("duplicate", "try again when that session has ended")
    case .notMerged(let refusal, _): refusal.meaning
    case .notMergedAtPeer(let refusal): refusal.meaningAtPeer
    case .invitationExpired: ByeReason.expired.meaning
    case .declined:
      .failed(
        "declined",
        "to join later, use the code again while 'notes invite' waits on the other device")
    case .wrongCode: Failure.wrongCode
    case .alreadyANotebook: .failed("already_a_notebook", "choose another folder")
    case .inviterNotFound:
      .unreached(
        "inviter_not_found",
        "if 'notes invite' still waits on the other device, run 'notes join CODE --at HOST:PORT' with the "
          + "address that it shows; if not, ask for a new code")
    case .unknownPeer: .failed("no_such_member", "'notes members' lists the members")
    case .ownAddress: .failed("own_address", "give the other device's address")
    case .keyShared: .refused("key_shared", OwnMembership.keyRemedy)
    case .stopped: .interrupted
    case .notLetIn(isReached: false):
      .failed("not_let_in", "or bring an admin's device in reach, then try the code again")
    case .notLetIn(isReached: true):
      .failed(
        "not_let_in",
        "run 'notes invitations' on an admin's device, answer the request, then try the code again")
    case .failed: .failed("failed", Failure.examine)
    }
  }
}

extension MergeRefusal {
  fileprivate var meaning: ErrorMeaning {
    switch self {
    case .massDeletion: Failure.massDeletion
    case .largeVersion: Failure.largeVersion
    case .tooLarge: Failure.mergeTooLarge
    case .pruned: Failure.versionPruned
    case .forgotten: Failure.wasForgotten
    case .unsigned: Failure.unsignedVersion
    }
  }

  fileprivate var meaningAtPeer: ErrorMeaning {
    switch self {
    case .massDeletion:
      .refused(
        "mass_deletion_at_peer",
        "to delete them there, run 'notes sync --allow-deletes' on the other device")
    case .largeVersion:
      .refused(
        "large_version_at_peer", "to accept it, run 'notes sync --allow-large' on the other device")
    case .tooLarge:
      .refused(
        "merge_too_large_at_peer", "delete files that you do not need, then sync again")
    case .pruned:
      .refused("version_cut_off_at_peer", "to also remove it here, run 'notes doctor --repair'")
    case .forgotten: .refused("was_forgotten_at_peer", "sync with an admin's device")
    case .unsigned:
      .refused("unsigned_version_at_peer", "save a change here, then sync again")
    }
  }
}

extension ByeReason {
  fileprivate var meaning: ErrorMeaning {
    switch self {
    case .notAMember: .refused("refused_by_peer", "ask an admin for an invitation")
    case .version:
      .refused("no_common_version", "install the same version of notes on both devices")
    case .wrongNotebook:
      .refused("wrong_notebook", "check the address: each notebook has its own")
    case .expired: .refused("expired", "ask the inviter to run 'notes invite' again")
    case .duplicate, .busy: .failed("busy", "try again")
    case .overLimit, .protocolBroken, .refusedPack:
      .refused(
        "refused_by_peer",
        "install the same version of notes on both devices, then run 'notes doctor'")
    case .done, .stopped: .failed("closed_by_peer", "try again")
    case .failed: .failed("peer_failed", "try again")
    }
  }
}

extension DiscoveryError: ExplainedError {
  var meaning: ErrorMeaning {
    let remedy =
      switch self {
      case .libraryMissing: "install it: apt install libavahi-client3; "
      case .noSystemBus: "start D-Bus; "
      case .daemonNotRunning, .daemonSilent:
        "start it: systemctl start avahi-daemon; "
      case .invalidRecord, .avahi, .stopped: ""
      }
    return .failed("discovery_failed", remedy + "or name the device with '--at HOST:PORT'")
  }
}

extension WatchError: ExplainedError {
  var meaning: ErrorMeaning {
    switch self {
    case .system(_, _, let code): .failed("system_failed", Failure.remedyOrExamine(code))
    case .folderAway: .failed("folder_away", "mount it, or move the folder back")
    case .watchedAlready:
      .failed(
        "watched_already",
        "to end it, press Ctrl-C in its terminal, or run 'systemctl --user stop notes-watch'")
    case .watcherGone:
      .failed("watcher_gone", "run the command again; it also works without a watcher")
    case .watcherRefused:
      .failed(
        "watcher_refused",
        "read the watcher's log; 'notes watch --resume' ends a pause")
    case .notAnswering: .failed("not_answering", "try again")
    }
  }
}

extension Failure {
  static let wrongCode = ErrorMeaning.refused(
    "wrong_code", "check the code on the other device; after three wrong codes it no longer works")

  static let runAgain = "run the command again; nothing is lost"
  static let checkVersion = "install the same version of notes on both devices"
}
