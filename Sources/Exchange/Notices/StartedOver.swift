public import State
internal import System

/// The fact that an admin has started the notebook's membership over, proved by the list of members at a hub or
/// in a bundle: `.git/notes/started-over`. It applies until this device has joined again.
public struct StartedOver: Sendable {
  /// The admin's name.
  public let admin: String
  /// The notebook's new ID.
  public let notebookID: String

  init(by admin: String, _ list: MemberList) throws {
    self.admin = admin
    notebookID = try list.notebookID
  }

  /// The recorded fact; nil if there is none, or if the notebook already has that ID.
  public init?(in stateFolder: StateFolder, of notebookID: String) {
    let lines = Disk.memory(at: stateFolder[.startedOver]) { $0 }
    guard let admin = lines?["admin"], let id = lines?["notebook"], id != notebookID
    else { return nil }
    (self.admin, self.notebookID) = (admin, id)
  }

  func keep(in stateFolder: StateFolder) {
    let lines = StateLines(["admin": admin, "notebook": notebookID])
    Disk.keep(lines.bytes, at: stateFolder[.startedOver])
  }
}
