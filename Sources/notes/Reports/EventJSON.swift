internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Merge
internal import Notebook
internal import WorkTree

/// Events for programs: notes-json(5), EVENTS.
struct EventJSON {
  /// Whether to show an invitation's code. It is for the person who invites, and not for a
  /// service's log.
  let showsCode: Bool

  func lines(for event: Event) -> [JSON] {
    guard let line = line(for: event) else { return [] }
    guard case .received(_, let merge, _) = event else { return [line] }
    return [line] + merge.conflicts.map { object("conflict", ["path": $0]) }
  }

  private func line(for event: Event) -> JSON? {
    switch event {
    case .listening(let address, let port):
      object("listening", ["address": address, "port": Int(port)])
    case .discoveryFailed(let cause):
      object("discovery_failed", cause.error.fields + ["hint": cause.error.failure.hint])
    case .looking(let names): object("looking", ["names": names])
    case .peer(let peer): object("peer", peer.fields)
    case .progress(let transfer): object("progress", transfer.peer.fields + transfer.fields)
    case .received(let peer, let merge, _): object("received", peer.fields + merge.fields)
    case .replaced(let plain, let notebook): object("replaced", notebook, plain.fields)
    case .finished(let result): object("finished", result.json)
    case .failed(let failure): object("failed", failure.fields + failure.error.fields)
    case .differs(let peer, let tips): object("differs", peer.fields + tips.json)
    case .keyShared(let notebook, let witness):
      object("key_shared", notebook, ["witness": witness])
    case .keyRequested(let notebook, let peer): object("key_requested", notebook, peer.fields)
    case .hubWentBack(let peer, let former, let tip):
      object("hub_went_back", peer.fields + ["former_tip": former, "tip": tip])
    case .hubMembersWentBack(let peer): object("hub_members_went_back", peer.fields)
    case .alteredMerges(let peer, let merges, let notebook):
      object("altered_merges", notebook, peer.fields + ["merges": merges])
    case .hubOthers(let peer, let references):
      object("hub_others", peer.fields + ["references": references])
    case .followed(let author, let forgettings, let peer, let notebook):
      object(
        "followed", notebook,
        peer.fields + ["author": author, "forgettings": ForgettingReport.json(forgettings)])
    case .hubSplit(let peer, let kept, let joined):
      object("hub_split", peer.fields + ["kept": kept, "joined": joined])
    case .admitted(let hub, let device, let notebook):
      object("admitted", notebook, fields(of: device, at: hub))
    case .linkShared(let hub, let id, let names, let isUsed, let notebook):
      object(
        "link_shared", notebook,
        ["invitation": id, "names": names, "used": isUsed, "hub": hub.name])
    case .deviceAsked(let hub, let device, let member, let id, let notebook):
      object("device_asked", notebook, fields(of: device, at: hub) + asked(by: member, id))
    case .claim(let news, let notebook): object("claim", notebook, news.json)
    case .completed(let peer, let notebook): object("completed", notebook, peer.fields)
    case .invitation(let open): object("invitation", fields(of: open))
    case .offered(_, let address): object("offered", ["address": address])
    case .declined(_, let address): object("declined", ["address": address])
    case .wrongCode(_, let address, let left):
      object("wrong_code", ["address": address, "attempts_left": left])
    case .joined(_, let device): object("joined", device.fields)
    case .ended(_, .used), .membersChanged, .addressesChanged, .gcDue, .saving: nil
    case .ended(_, let end): object("expired", ["reason": "\(end)"])
    case .version(let notebook, let saved):
      object("version", notebook, ["version": saved.version, "changes": saved.changes])
    case .saveNews(let notebook, let news): object("save", notebook, news.json)
    case .connected(let notebook, let peer):
      object("peer", notebook, peer.fields + ["state": "here"])
    case .disconnected(let notebook, let peer):
      object("peer", notebook, peer.fields + ["state": "away"])
    case .shows(let notebook, let peer, let tip):
      object("peer", notebook, peer.fields + ["state": "here", "tip": tip])
    case .editing(let notebook, let peer, let paths):
      object("editing", notebook, peer.fields + ["paths": paths])
    case .held(let notebook, let deleted, let total):
      object("held", notebook, ["deleted": deleted, "of": total])
    case .broughtBack(let notebook, let files, let version):
      object("brought_back", notebook, ["files": files, "version": version])
    case .notebookFailed(let notebook, let cause): object("failed", notebook, cause.error.fields)
    case .watchLimit(let notebook, let interval):
      object("watch_limit", notebook, ["interval": Int(interval)])
    case .folder(let notebook, let isThere):
      object("folder", notebook, ["state": isThere ? "here" : "away"])
    }
  }

  private func asked(by member: String, _ invitation: String) -> JSON {
    ["member": member, "invitation": invitation]
  }

  private func fields(of device: PeerIdentity, at hub: PeerIdentity) -> JSON {
    [
      "name": device.name, "device": device.deviceID, "role": device.role.rawValue,
      "hub": hub.name,
    ]
  }

  private func fields(of open: OpenInvitation) -> JSON {
    [
      showsCode ? "code" : "locator": showsCode ? open.code.description : open.code.locator,
      "address": "*", "port": Int(open.port), "role": open.role.rawValue, "person": open.person,
      "expires": TimeText.rfc3339(open.expires),
    ]
  }

  private func object(_ type: String, _ fields: JSON) -> JSON { ["type": type] as JSON + fields }

  private func object(_ type: String, _ notebook: String?, _ fields: JSON) -> JSON {
    ["type": type, "notebook": notebook] as JSON + fields
  }
}

extension SyncOutcome {
  func json(conflicts: [ConflictReport]) -> JSON {
    [
      "type": "result", "tip": tip, "peers": sessions.map(\.json) + failures.map(\.json),
      "conflicts": conflicts,
    ]
  }
}

extension SessionResult {
  fileprivate var json: JSON {
    [
      "name": peer.name, "device": peer.isHub ? nil : peer.deviceID, "hub": peer.isHub,
      "address": peer.address, "result": isInSync ? "in_sync" : "done", "tip": peerTip,
      "sent_versions": sentVersions,
      "received_versions": receivedVersions, "sent_bytes": sentBytes,
      "received_bytes": receivedBytes, "tip_difference": tipDifference?.json,
    ]
  }
}

extension SyncFailure {
  fileprivate var fields: JSON {
    let isHub = peer?.isHub == true
    return [
      "name": peer?.name, "device": isHub ? nil : device, "hub": isHub, "address": address,
    ]
  }

  /// A peer with a failure, for the last line's list of peers.
  fileprivate var json: JSON {
    fields + [
      "result": error.failure.kind, "tip": JSON.null, "sent_versions": 0, "received_versions": 0,
      "sent_bytes": 0, "received_bytes": 0, "tip_difference": JSON.null,
    ]
  }
}

extension PeerIdentity {
  fileprivate var fields: JSON {
    [
      "name": name, "device": isHub ? nil : deviceID, "hub": isHub,
      "role": isHub ? nil : role.rawValue, "address": address,
    ]
  }
}

extension TransferProgress {
  fileprivate var fields: JSON {
    [
      "stage": stage.rawValue, "sent_objects": sentObjects, "objects_to_send": objectsToSend,
      "sent_content": sentContent, "content_to_send": contentToSend,
      "received_bytes": receivedBytes, "objects_to_receive": objectsToReceive,
      "received_content": receivedContent, "content_to_receive": contentToReceive,
      "written_files": written.files, "files_to_write": filesToWrite,
    ]
  }
}

extension TipDifference {
  fileprivate var json: JSON {
    ["tip": tip, "rules": rules, "peer_tip": peerTip, "peer_rules": peerRules]
  }
}

extension MergeOutcome {
  fileprivate var fields: JSON {
    ["tip": tip, "changes": changes, "merged": reports.compactMap(\.json)]
  }
}

extension MergeReport {
  /// Nil for a conflict, which has a separate line.
  fileprivate var json: JSON? {
    let (rules, former): ([String], TreePath?)
    switch kind {
    case .conflict: return nil
    case .merged(let used): (rules, former) = (used.ruleNames, nil)
    case .keptEdit: (rules, former) = (["kept_edit"], nil)
    case .renamed(let path): (rules, former) = (["renamed"], path)
    case .renamedDifferently(let path): (rules, former) = (["renamed_differently"], path)
    case .folderRenamed(let path): (rules, former) = (["folder_renamed"], path)
    case .copied(let path): (rules, former) = (["copied"], path)
    }
    let fields: JSON = ["path": path, "rules": rules]
    return former.map { fields + ["former_path": $0] } ?? fields
  }
}

extension Error {
  fileprivate var failure: Failure { Failure(describing: self) }

  fileprivate var fields: JSON { ["kind": failure.kind, "message": failure.message] }
}
