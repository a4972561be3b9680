public import Git
public import History

/// The forgettings that a notebook's history obeys, and the devices that are known to have moved
/// over to it.
public struct ForgettingStatus: Sendable {
  /// The version that lists them.
  public let version: ForgettingVersion
  /// The commit of that version.
  public let commit: Commit
  private let seen: [String: Bool]

  fileprivate init(_ version: ForgettingVersion, in repository: Repository) throws {
    self.version = version
    commit = try repository.commit(version.id)
    var seen: [String: Bool] = [:]
    for (name, id) in try repository.references(under: "refs/remotes/") {
      let device = String(name.split(separator: "/").dropFirst(2).first ?? "")
      seen[device] =
        try repository.contains(id) && repository.isAncestor(version.id, of: id)
        || seen[device] == true
    }
    self.seen = seen
  }

  /// Whether a device had moved over when it was last connected; nil if it was not connected since
  /// this device moved over.
  public func hasMovedOver(_ device: String) -> Bool? { seen[device] }
}

extension Notebook {
  /// The forgettings that this notebook obeys; nil if nothing was forgotten.
  public func forgettingStatus() throws -> ForgettingStatus? {
    try history.obeyed().map { try ForgettingStatus($0, in: repository) }
  }
}
