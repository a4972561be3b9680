internal import Git
internal import History
internal import Membership
internal import Merge
internal import Notebook
internal import Sync

/// Events as programs get them: notes-json(5), EVENTS.
struct EventJSON {
  /// Whether an invitation's code is shown. It is for whoever invites, and not for a service's log.
  let showsCode: Bool

  /// The lines for an event; none for those that programs are told of otherwise.
  func lines(for event: Event) -> [JSON] {
    guard let line = line(for: event) else { return [] }
    guard case .received(_, let join, _) = event else { return [line] }
    return [line] + join.conflicts.map { Self.object("conflict", ["path": .path($0)]) }
  }

  private func line(for event: Event) -> JSON? {
    switch event {
    case .listening(let address, let port):
      Self.object("listening", ["address": .string(address), "port": .int(Int(port))])
    case .discoveryFailed(let error):
      Self.object("discovery_failed", error.fields + ["hint": .optional(error.failure.hint)])
    case .peer(let peer): Self.object("peer", peer.fields)
    case .progress(let transfer): Self.object("progress", transfer.peer.fields + transfer.fields)
    case .received(let peer, let join, _): Self.object("received", peer.fields + join.fields)
    case .replaced(let plain, let notebook): Self.object("replaced", notebook, plain.fields)
    case .finished(let result): Self.object("finished", result.json)
    case .failed(let failure):
      Self.object("failed", failure.fields + failure.error.fields)
    case .differs(let peer, let difference):
      Self.object("differs", peer.fields + difference.json)
    case .invitation(let open):
      Self.object(
        "invitation",
        [
          showsCode ? "code" : "locator":
            .string(showsCode ? open.code.description : open.code.locator),
          "address": .string("*"), "port": .int(Int(open.port)),
          "role": .string(open.role.rawValue),
          "expires": .string(TimeText.rfc3339(open.expires)),
        ])
    case .offered(_, let address): Self.object("offered", ["address": .string(address)])
    case .declined(_, let address): Self.object("declined", ["address": .string(address)])
    case .wrongCode(_, let address, let left):
      Self.object("wrong_code", ["address": .string(address), "attempts_left": .int(left)])
    case .joined(_, let device):
      Self.object(
        "joined",
        [
          "name": .string(device.name), "device": .string(device.deviceID),
          "role": .string(device.role.rawValue), "address": .string(device.address),
        ])
    case .ended(_, .used): nil
    case .ended(_, let end): Self.object("expired", ["reason": .string("\(end)")])
    case .version, .connected, .disconnected, .shows, .editing, .membersChanged,
      .addressesChanged, .held, .notebookFailed, .watchLimit, .folder, .gcDue:
      Self.lineOfNotebook(event)
    }
  }

  private static func lineOfNotebook(_ event: Event) -> JSON? {
    switch event {
    case .version(let notebook, let saved):
      object(
        "version", notebook,
        [
          "version": saved.version.map(JSON.id) ?? .null,
          "changes": .array(saved.changes.map(\.json)),
        ])
    case .connected(let notebook, let peer):
      object("peer", notebook, peer.fields + ["state": .string("here")])
    case .disconnected(let notebook, let peer):
      object("peer", notebook, peer.fields + ["state": .string("away")])
    case .shows(let notebook, let peer, let tip):
      object(
        "peer", notebook,
        peer.fields + ["state": .string("here"), "tip": tip.map(JSON.id) ?? .null])
    case .editing(let notebook, let peer, let paths):
      object("editing", notebook, peer.fields + ["paths": .array(paths.map(JSON.path))])
    case .held(let notebook, let deleted, let total):
      object("held", notebook, ["deleted": .int(deleted), "of": .int(total)])
    case .notebookFailed(let notebook, let error): object("failed", notebook, error.fields)
    case .watchLimit(let notebook, let interval):
      object("watch_limit", notebook, ["interval": .int(Int(interval))])
    case .folder(let notebook, let isThere):
      object("folder", notebook, ["state": .string(isThere ? "here" : "away")])
    default: nil
    }
  }

  private static func object(_ type: String, _ fields: JSON) -> JSON {
    ["type": .string(type)] + fields
  }

  private static func object(_ type: String, _ notebook: String?, _ fields: JSON) -> JSON {
    ["type": .string(type), "notebook": .optional(notebook)] + fields
  }
}

extension SyncOutcome {
  /// The last line of a sync.
  func json(conflicts: [Conflict]) -> JSON {
    [
      "type": .string("result"), "tip": tip.map(JSON.id) ?? .null,
      "peers": .array(sessions.map(\.json) + failures.map(\.json)),
      "conflicts": .array(conflicts.map(\.json)),
    ]
  }
}

extension SessionResult {
  /// What a session did with a peer.
  fileprivate var json: JSON {
    [
      "name": .string(peer.name), "device": .string(peer.deviceID),
      "address": .string(peer.address), "result": .string(isInSync ? "in_sync" : "done"),
      "tip": peerTip.map(JSON.id) ?? .null, "sent_versions": .int(sentVersions),
      "received_versions": .int(receivedVersions), "sent_bytes": .int(sentBytes),
      "received_bytes": .int(receivedBytes), "tip_difference": tipDifference?.json ?? .null,
    ]
  }
}

extension SyncFailure {
  fileprivate var fields: JSON {
    [
      "name": .optional(peer?.name), "device": .optional(device), "address": .string(address),
    ]
  }

  /// A peer with whom it failed, as a peer of the last line.
  fileprivate var json: JSON {
    fields + [
      "result": .string(error.failure.kind), "tip": .null, "sent_versions": .int(0),
      "received_versions": .int(0), "sent_bytes": .int(0), "received_bytes": .int(0),
      "tip_difference": .null,
    ]
  }
}

extension PeerIdentity {
  fileprivate var fields: JSON {
    [
      "name": .string(name), "device": .string(deviceID), "role": .string(role.rawValue),
      "address": .string(address),
    ]
  }
}

extension TransferProgress {
  fileprivate var fields: JSON {
    [
      "stage": .string(stage.rawValue), "sent_objects": .int(sentObjects),
      "objects_to_send": .int(objectsToSend), "received_bytes": .int(receivedBytes),
      "objects_to_receive": .int(objectsToReceive),
    ]
  }
}

extension TipDifference {
  fileprivate var json: JSON {
    [
      "tip": .id(tip), "rules": .int(rules), "peer_tip": .id(peerTip),
      "peer_rules": peerRules.map(JSON.int) ?? .null,
    ]
  }
}

extension MergeOutcome {
  fileprivate var fields: JSON {
    [
      "tip": tip.map(JSON.id) ?? .null, "changes": .array(changes.map(\.json)),
      "merged": .array(reports.compactMap(\.json)),
    ]
  }
}

extension MergeReport {
  /// Nil for a conflict, which has a line of its own.
  fileprivate var json: JSON? {
    let (rules, former): ([String], TreePath?)
    switch kind {
    case .conflict: return nil
    case .merged(let used): (rules, former) = (used.ruleNames, nil)
    case .keptEdit: (rules, former) = (["kept_edit"], nil)
    case .renamed(let path): (rules, former) = (["renamed"], path)
    case .renamedDifferently(let path): (rules, former) = (["renamed_differently"], path)
    case .copied(let path): (rules, former) = (["copied"], path)
    }
    let fields: JSON = ["path": .path(path), "rules": .array(rules.map(JSON.string))]
    return former.map { fields + ["former_path": .path($0)] } ?? fields
  }
}

extension Error {
  fileprivate var failure: Failure { Failure(describing: self) }

  fileprivate var fields: JSON {
    ["kind": .string(failure.kind), "message": .string(failure.message)]
  }
}
