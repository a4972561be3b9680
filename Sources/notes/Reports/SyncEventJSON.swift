internal import Git
internal import Membership
internal import Notebook
internal import Sync

/// The events of a sync as programs get them: notes-sync(1), JSON OUTPUT.
enum SyncEventJSON {
  /// The lines for an event; none for those that only people are told at the end.
  static func lines(for event: SyncEvent) -> [JSON] {
    switch event {
    case .listening(let address, let port): [listening(address: address, port: port)]
    case .peer(let peer): [["type": .string("peer")] + peer.fields]
    case .progress(let transfer): [progress(transfer)]
    case .received(let peer, let joined): received(from: peer, joined)
    case .differs(let peer, let difference):
      [["type": .string("differs")] + peer.fields + self.difference(difference)]
    case .refused(let peer, let error):
      [failed(name: peer.name, device: peer.deviceID, address: peer.address, error)]
    case .finished(let result): [finished(result)]
    case .failed(let peer, let device, let address, let error):
      [failed(name: peer?.name, device: peer?.deviceID ?? device, address: address, error)]
    case .replaced(let plain): [["type": .string("replaced")] + plain.fields]
    case .discoveryFailed(let error): [discoveryFailed(error)]
    }
  }

  static func listening(address: String, port: UInt16) -> JSON {
    ["type": .string("listening"), "address": .string(address), "port": .int(Int(port))]
  }

  private static func progress(_ transfer: TransferProgress) -> JSON {
    ["type": .string("progress")] + transfer.peer.fields + [
      "stage": .string(transfer.stage.rawValue),
      "sent_objects": .int(transfer.sentObjects),
      "objects_to_send": .int(transfer.objectsToSend),
      "received_bytes": .int(transfer.receivedBytes),
      "objects_to_receive": .int(transfer.objectsToReceive),
    ]
  }

  private static func received(from peer: PeerIdentity, _ joined: JoinResult) -> [JSON] {
    let received: JSON =
      ["type": .string("received")] + peer.fields + [
        "tip": joined.tip.map(JSON.id) ?? .null, "changes": .array(joined.changes.map(\.json)),
        "merged": .array(joined.reports.compactMap(merged)),
      ]
    return [received]
      + joined.conflicts.map { ["type": .string("conflict"), "path": .path($0)] }
  }

  private static func merged(_ report: MergeReport) -> JSON? {
    switch report.kind {
    case .conflict: nil
    case .merged(let rules):
      ["path": .path(report.path), "rules": .array(rules.ruleNames.map(JSON.string))]
    case .keptEdit: ["path": .path(report.path), "rules": .array([.string("kept_edit")])]
    case .renamed(let former):
      [
        "path": .path(report.path), "rules": .array([.string("renamed")]),
        "former_path": .path(former),
      ]
    case .renamedDifferently(let former):
      [
        "path": .path(report.path), "rules": .array([.string("renamed_differently")]),
        "former_path": .path(former),
      ]
    case .copied(let original):
      [
        "path": .path(report.path), "rules": .array([.string("copied")]),
        "former_path": .path(original),
      ]
    }
  }

  private static func finished(_ result: SessionResult) -> JSON {
    ["type": .string("finished")] + peer(result)
  }

  private static func failed(
    name: String?, device: String?, address: String, _ error: any Error
  ) -> JSON {
    let failure = Failure(describing: error)
    return [
      "type": .string("failed"), "name": .optional(name), "device": .optional(device),
      "address": .string(address), "kind": .string(failure.kind),
      "message": .string(failure.message),
    ]
  }

  private static func discoveryFailed(_ error: any Error) -> JSON {
    let failure = Failure(describing: error)
    return [
      "type": .string("discovery_failed"), "kind": .string(failure.kind),
      "message": .string(failure.message), "hint": .optional(failure.hint),
    ]
  }

  /// What a session did with a peer, as the last line lists it.
  static func peer(_ result: SessionResult) -> JSON {
    [
      "name": .string(result.peer.name), "device": .string(result.peer.deviceID),
      "address": .string(result.peer.address),
      "result": .string(result.isInSync ? "in_sync" : "done"),
      "tip": result.peerTip.map(JSON.id) ?? .null,
      "sent_versions": .int(result.sentVersions),
      "received_versions": .int(result.receivedVersions), "sent_bytes": .int(result.sentBytes),
      "received_bytes": .int(result.receivedBytes),
      "tip_difference": result.tipDifference.map(difference) ?? .null,
    ]
  }

  private static func difference(_ difference: TipDifference) -> JSON {
    [
      "tip": .id(difference.tip), "rules": .int(difference.rules),
      "peer_tip": .id(difference.peerTip),
      "peer_rules": difference.peerRules.map(JSON.int) ?? .null,
    ]
  }

  /// A peer with whom it failed, as the last line lists it.
  static func peer(_ peer: SyncReport.Peer) -> JSON {
    [
      "name": .optional(peer.name), "device": .optional(peer.device),
      "address": .string(peer.address), "result": .string(peer.failure.kind), "tip": .null,
      "sent_versions": .int(0), "received_versions": .int(0), "sent_bytes": .int(0),
      "received_bytes": .int(0), "tip_difference": .null,
    ]
  }

  /// The last line of a sync.
  static func result(
    tip: ObjectID?, results: [SessionResult], failures: [SyncReport.Peer], conflicts: [Conflict]
  ) -> JSON {
    [
      "type": .string("result"), "tip": tip.map(JSON.id) ?? .null,
      "peers": .array(results.map(peer) + failures.map(peer)),
      "conflicts": .array(conflicts.map(\.json)),
    ]
  }
}

extension PeerIdentity {
  /// A peer's fields in an event.
  var fields: JSON {
    [
      "name": .string(name), "device": .string(deviceID), "role": .string(role.rawValue),
      "address": .string(address),
    ]
  }
}
