package import Git

/// A hub as it stood when it was last met.
package struct HubState {
  /// Which hub.
  package let hub: Hub
  /// The branch that is exchanged with it; nil where HEAD is detached.
  package let branch: String?
  /// The commit of its branch; nil when it was never met.
  package let tip: ObjectID?
  /// How many versions that somebody made are here and were not there; nil when it was never met.
  package let ahead: Int?

  /// The state that the last visit left behind.
  package init(of hub: Hub, in notebook: Notebook) throws {
    self.hub = hub
    let head = try notebook.repository.head()
    branch = head.branch
    let reference = "refs/remotes/\(hub.name)/\(head.branch ?? "HEAD")"
    tip = try notebook.repository.reference(reference)
    ahead = try tip.map { try notebook.versionCount(from: head.commit, lacking: $0) }
  }
}
