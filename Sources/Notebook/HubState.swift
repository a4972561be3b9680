package import Git

/// The state of a hub at its last visit.
package struct HubState {
  /// The hub.
  package let hub: Hub
  /// The branch that is exchanged with the hub; nil if HEAD is detached.
  package let branch: String?
  /// The commit of the hub's branch; nil if this device never visited the hub.
  package let tip: ObjectID?
  /// How many versions by people this device had and the hub did not; nil if it was never visited.
  package let ahead: Int?

  /// The state recorded by the last visit.
  package init(of hub: Hub, in notebook: Notebook) throws {
    self.hub = hub
    let head = try notebook.repository.head()
    branch = head.branch
    let reference = "refs/remotes/\(hub.name)/\(head.branch ?? "HEAD")"
    tip = try notebook.repository.reference(reference)
    ahead = try tip.map { try notebook.versionCount(from: head.commit, lacking: $0) }
  }
}
