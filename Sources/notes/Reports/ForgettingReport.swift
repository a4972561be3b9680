internal import Exchange
internal import Git
internal import History
internal import Membership
internal import Notebook

/// Everything that was forgotten in a notebook, and the devices that have followed: `notes forget --status`.
struct ForgettingReport {
  private let status: ForgettingStatus?
  private let author: VersionAuthor?
  private let others: [Member]
  /// Whether other devices have followed, by their IDs; a device is missing if that is not known.
  private var moved: [String: Bool] = [:]
  private let hubs: [String]

  init(of notebook: Notebook) throws {
    hubs = try notebook.hubs().map(\.name)
    status = try notebook.forgettingStatus()
    author = try status.map { try VersionProofs(in: notebook).author(of: $0.commit) }
    others = try Self.others(in: notebook)
    guard let status else { return }
    for other in others { moved[other.deviceID] = status.hasMovedOver(other.deviceID) }
    // A device that meets this one only at hubs has followed if it has written a version since.
    let unmet = Set(others.map(\.deviceID)).subtracting(moved.keys)
    for (device, version) in try notebook.newestVersions(of: unmet)
    where try notebook.repository.isAncestor(status.version.id, of: version.id) {
      moved[device] = true
    }
  }

  private static func others(in notebook: Notebook) throws -> [Member] {
    try notebook.membership().members().others(besides: notebook.identity.device.deviceID)
  }

  func show(_ options: CommonOptions) throws {
    guard let status, let author else {
      return options.tell(
        [
          "type": "forget_status", "forgettings": [JSON](), "devices": [JSON](), "hubs": [JSON](),
        ],
        "Nothing was forgotten in this notebook.")
    }
    options.tell(json(status, author), text(status, author))
  }

  private func text(_ status: ForgettingStatus, _ author: VersionAuthor) -> String {
    var text =
      "Forgotten: \(Self.list(status.version.lines)); the last by \(Visible.name(author.markedName)), "
    text += "\(TimeText.local(status.commit.committer.time))."
    for (moved, one, several) in [
      (true, "has followed", "have followed"), (false, "has not followed", "have not followed"),
      (nil, "has not connected or written since", "have not connected or written since"),
    ] as [(Bool?, String, String)] {
      let names = others.filter { self.moved[$0.deviceID] == moved }.map {
        Visible.name($0.name)
      }
      if names.isEmpty { continue }
      text += "\n\(Phrase.list(names)) \(names.count == 1 ? one : several)."
    }
    for (moved, one, several) in [
      (true, "has followed", "have followed"),
      (false, "is not known to have followed", "are not known to have followed"),
    ] {
      let names = hubs.filter { hasFollowed($0, status) == moved }.map { Visible.name($0) }
      if names.isEmpty { continue }
      text +=
        names.count == 1 ? "\nHub \(names[0]) \(one)" : "\nHubs \(Phrase.list(names)) \(several)"
      text +=
        moved ? "; its disk keeps the former versions until 'git gc --prune=now' runs there." : "."
    }
    return text
  }

  /// Whether a hub is known to have the rewritten history.
  private func hasFollowed(_ hub: String, _ status: ForgettingStatus) -> Bool {
    status.hasMovedOver(hub) == true
  }

  /// The amount that was forgotten, never its content: `a text in 2 versions`.
  static func list(_ lines: [ForgettingVersion.Line]) -> String {
    Phrase.list(lines.map { "\(words(for: $0.kind)) in \(Phrase.count($0.versions, "version"))" })
  }

  static func json(_ lines: [ForgettingVersion.Line]) -> [JSON] {
    lines.map { ["id": $0.id, "kind": $0.kind, "versions": $0.versions] }
  }

  private static func words(for kind: String) -> String {
    switch kind {
    case "text": "a text"
    case "note": "a note"
    default: kind
    }
  }

  private func json(_ status: ForgettingStatus, _ author: VersionAuthor) -> JSON {
    [
      "type": "forget_status", "version": status.commit.id,
      "author": author.name, "time": TimeText.rfc3339(status.commit.committer.time),
      "forgettings": Self.json(status.version.lines),
      "devices": others.map {
        [
          "name": $0.name, "device": $0.deviceID,
          "has_followed": moved[$0.deviceID],
        ] as JSON
      },
      "hubs": hubs.map { ["name": $0, "has_followed": hasFollowed($0, status)] as JSON },
    ]
  }

  /// The sentence about other devices after a forgetting here; empty if there are none.
  static func following(in notebook: Notebook) throws -> String {
    let names = try others(in: notebook).map { Visible.name($0.name) }
    if names.isEmpty { return "" }
    return "\n\(Phrase.list(names)) \(names.count == 1 ? "follows" : "follow") "
      + "at the next sync; 'notes forget --status' shows it."
  }
}
