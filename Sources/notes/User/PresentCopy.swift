internal import History
internal import Membership
internal import Notebook
internal import System

/// A command that would put a notebook into a second folder of this device. The hint of the refusal depends on it.
enum WayIn {
  case cloneOfHub
  case cloneOfBundle
  /// The command that joins, without a folder: `notes join LINK`.
  case join(String)
  case cloneFromMember
}

extension KnownNotebooks {
  /// The notebook with this ID that this device has in a folder; nil if it has none. A folder that is unavailable or
  /// cannot be opened has none.
  ///
  /// - Parameter own: a folder that does not count.
  func present(_ id: String, besides own: String? = nil) -> Notebook? {
    let own = own.map { realPath(of: $0) ?? $0 }
    for folder in folders() where (realPath(of: folder) ?? folder) != own {
      // A folder that cannot be opened has no copy that this device could use.
      if let notebook = try? Notebook.open(at: folder), notebook.identity.id == id {
        return notebook
      }
    }
    return nil
  }

  /// Throws if this device already has the notebook in another folder: two folders with one device's key would
  /// both write as that device.
  func refuseSecond(_ id: String, beside own: String, by way: WayIn) throws(Failure) {
    // A folder that cannot be opened is not a copy. In a copy, the device may join again.
    if let copy = try? Notebook.open(at: own), copy.identity.id == id { return }
    if let present = present(id, besides: own) { throw Self.isHere(present, by: way) }
  }

  /// Adds the notebook in a folder, if it has this ID.
  func addIfThere(_ id: String, in folder: String) {
    // If the notebook cannot be opened, the command itself reports that.
    if let notebook = try? Notebook.open(at: folder), notebook.identity.id == id { add(notebook) }
  }

  /// The error for a notebook that this device already has, with what to do there.
  static func isHere(_ notebook: Notebook, by way: WayIn) -> Failure {
    let folder = Visible.word(notebook.folder)
    let hint =
      switch way {
      case .cloneOfBundle: "'notes -C \(folder) bundle apply FILE' adds the bundle's versions"
      case .cloneOfHub:
        "'notes -C \(folder) remote add NAME URL' makes the repository a hub of it"
      case .join(let command) where !isMember(notebook):
        "to join there, give that folder: '\(command) \(folder)'"
      case .join, .cloneFromMember:
        "'notes -C \(folder) sync' receives what is new; to have the notebook elsewhere, move that folder"
      }
    return Failure(
      .failed, "already_a_notebook",
      "this notebook is already on this device, in \(Visible.name(notebook.folder))", hint: hint)
  }

  private static func isMember(_ notebook: Notebook) -> Bool {
    let word = OwnMembership(of: notebook).word
    return word != nil && word != "guest" && word != "removed"
  }
}
