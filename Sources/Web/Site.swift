internal import Exchange
internal import Membership
internal import Notebook

/// A notebook that is served, to whom the gate lets in.
final class Site: Sendable {
  let folder: String
  let notebookID: String
  /// Where the keys of the user's devices are.
  private let dataFolder: String
  /// Where the sockets of watchers are; nil where the user has no such folder.
  let controlFolder: String?
  private let signer: VersionSigner
  let guests: GuestBook
  /// The invitations that were opened on the page.
  let invitations: Invitations
  let limits: WebLimits
  /// The path of the list of notebooks, which their owner sees; nil where this is the only one.
  let shelfRoot: String?

  /// What a browser that follows what happens is told first: how soon to come back.
  static let firstEvent = "retry: 1000\nevent: ready\ndata:\n\n"

  init(
    of notebook: Notebook, dataFolder: String, controlFolder: String?, guests: GuestBook,
    shelfRoot: String?, limits: WebLimits
  ) {
    (folder, notebookID) = (notebook.folder, notebook.identity.id)
    (self.dataFolder, self.controlFolder) = (dataFolder, controlFolder)
    signer = VersionSigner(keysIn: dataFolder)
    invitations = Invitations()
    (self.guests, self.shelfRoot, self.limits) = (guests, shelfRoot, limits)
  }

  /// The part of the path that the notebook's pages are below, where several are served.
  static func pathName(of notebookID: String) -> String { notebookID.prefix(16).lowercased() }

  /// The notebook, whose versions are signed as those of every command, and name a guest who makes them.
  func notebook(for guest: Guest?) throws -> Notebook {
    let notebook = try Notebook.open(at: folder)
    notebook.signer = signer
    notebook.guest = guest?.name
    return notebook
  }

  /// What changes the notebook's members: this device's key, and what is known of them.
  func sessionContext(of notebook: Notebook) throws -> SessionContext {
    guard let context = try SessionContext(of: notebook, keysIn: dataFolder) else {
      throw Refusal.otherDevice
    }
    return context
  }
}
