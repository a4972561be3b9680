internal import Notebook
internal import Sync
internal import Watch

/// The events of a watched notebook as programs get them: notes-watch(1), JSON OUTPUT.
enum WatchEventJSON {
  static func lines(for event: WatchEvent) -> [JSON] {
    switch event {
    case .version(let notebook, let saved):
      [
        head("version", notebook) + [
          "version": saved.version.map(JSON.id) ?? .null,
          "changes": .array(saved.changes.map(\.json)),
        ]
      ]
    case .connected(let notebook, let peer):
      [head("peer", notebook) + peer.fields + ["state": .string("here")]]
    case .disconnected(let notebook, let peer):
      [head("peer", notebook) + peer.fields + ["state": .string("away")]]
    case .shows(let notebook, let peer, let tip):
      [
        head("peer", notebook) + peer.fields + [
          "state": .string("here"), "tip": tip.map(JSON.id) ?? .null,
        ]
      ]
    case .editing(let notebook, let peer, let paths):
      [head("editing", notebook) + peer.fields + ["paths": .array(paths.map(JSON.path))]]
    case .held(let notebook, let deleted, let total):
      [head("held", notebook) + ["deleted": .int(deleted), "of": .int(total)]]
    case .replaced(let notebook, let plain): [head("replaced", notebook) + plain.fields]
    case .failed(let notebook, let error):
      [
        head("failed", notebook) + [
          "kind": .string(Failure(describing: error).kind),
          "message": .string(Failure(describing: error).message),
        ]
      ]
    case .watchLimit(let notebook, let interval):
      [head("watch_limit", notebook) + ["interval": .int(Int(interval))]]
    case .folder(let notebook, let isThere):
      [head("folder", notebook) + ["state": .string(isThere ? "here" : "away")]]
    // The events of a sync tell of what was joined.
    case .joined, .members, .addresses, .housekeepingDue: []
    }
  }

  private static func head(_ type: String, _ notebook: String) -> JSON {
    ["type": .string(type), "notebook": .string(notebook)]
  }
}
