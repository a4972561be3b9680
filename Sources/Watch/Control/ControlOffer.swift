internal import Membership
package import Sync

/// An invitation to another notebook as a command has the watcher tell of it.
public struct ControlOffer: Codable, Sendable {
  let code: String
  let notebook: String
  let notebookName: String
  let role: String
  let expires: Int64
  let port: UInt16
  let device: String

  package init(_ invitation: CarriedInvitation) {
    code = invitation.code.description
    notebook = invitation.notebookID
    notebookName = invitation.notebookName
    role = invitation.role.rawValue
    expires = invitation.expires
    port = invitation.port
    device = invitation.guest
  }

  private enum CodingKeys: String, CodingKey {
    case code, notebook, role, expires, port, device
    case notebookName = "notebook_name"
  }
}

extension CarriedInvitation {
  init?(_ offer: ControlOffer) {
    guard let code = InvitationCode(parsing: offer.code), let role = Role(rawValue: offer.role)
    else { return nil }
    self.init(
      code: code, notebookID: offer.notebook, notebookName: offer.notebookName, role: role,
      expires: offer.expires, port: offer.port, guest: offer.device)
  }
}
