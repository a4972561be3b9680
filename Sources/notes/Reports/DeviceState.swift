internal import Exchange
internal import Watch

extension DeviceState {
  var json: JSON {
    [
      "last_seen": lastSeen.map { TimeText.rfc3339($0) }, "in_sync": isInSync, "ahead": ahead,
      "behind": behind, "editing": editing, "held": held.first?.refusal.name,
    ]
  }

  /// When a device that never connected wrote its newest version here; nil if none is known.
  func wordsOfNewest(now: Int64) -> String? {
    newestVersion.map { "wrote " + TimeText.relative($0, now: now) }
  }
}

extension DeviceState.Agreement {
  /// The end of a line in a table; empty if the device was never connected.
  var words: String {
    switch self {
    case .notMerged(isThere: true): "does not merge this device's versions"
    case .notMerged(isThere: false): "not merged here"
    case .neverMet: ""
    case .inSync: "in sync"
    case .apart(0, 0): "up to date"
    case .apart(0, let more): "has \(Phrase.count(more, "version")) more"
    case .apart(let lacks, let more):
      "lacks \(Phrase.count(lacks, "version"))" + (more > 0 ? ", has \(more) more" : "")
    }
  }
}
