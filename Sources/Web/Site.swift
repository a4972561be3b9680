internal import Exchange
internal import Glibc
internal import Membership
internal import Notebook
internal import State
internal import Synchronization
internal import System

/// A notebook that is served, to whom the gate lets in.
final class Site: Sendable {
  let folder: String
  let notebookID: String
  private let stateFolder: StateFolder
  /// The folder of the keys of the user's devices.
  private let dataFolder: String
  /// The folder of the sockets of watchers; nil if the user has no such folder.
  let controlFolder: String?
  private let signer: VersionSigner
  let guests: GuestBook
  /// The guests when the book was there last.
  private let guestsBefore = Mutex<[Guest]>([])
  /// When each guest asked for something last, by ID, since the page was started.
  private let seen = Mutex<[String: Int64]>([:])
  /// The invitations that were opened on the page.
  let invitations: Invitations
  let unsaved = UnsavedTexts()
  let uploads = Uploads()
  let openNotes = OpenNotes()
  let limits: WebLimits

  /// The first lines for a browser that follows the events: how soon to come back.
  static let firstEvent = "retry: 1000\nevent: ready\ndata:\n\n"

  init(
    of notebook: Notebook, dataFolder: String, controlFolder: String?, limits: WebLimits
  ) {
    (folder, notebookID) = (notebook.folder, notebook.identity.id)
    (self.dataFolder, self.controlFolder) = (dataFolder, controlFolder)
    signer = VersionSigner(keysIn: dataFolder)
    invitations = Invitations()
    guests = GuestBook(stateFolder: notebook.stateFolder)
    stateFolder = notebook.stateFolder
    self.limits = limits
  }

  /// The part of the path that the notebook's pages are below, where several are served.
  var pathName: String { notebookID.prefix(16).lowercased() }

  /// Whether the notebook's folder is there: it may be on a medium that was taken out.
  var isThere: Bool { access(stateFolder.path, F_OK) == 0 }

  /// Whose browser has one of these cookies, below this path; nil where it is no guest's. Who was a guest
  /// before the notebook's folder went away, or its book could not be read, is none who was sent away.
  func visitor(below path: String, cookies: [String]) throws -> Visitor? {
    // As the comment of the function says: then who was a guest before is one.
    let present = isThere ? try? presentGuests() : nil
    let known = present ?? guestsBefore.withLock { $0 }
    guard let guest = try GuestBook.guest(below: path, cookies: cookies, among: known) else {
      return nil
    }
    guard present != nil else { return .away(root: "/" + path) }
    seen.withLock { $0[guest.id] = WallClock.now() }
    return .guest(guest, root: "/" + path)
  }

  /// When the guest asked for something last, in seconds since 1970; nil if not since the page was started.
  func lastHere(of guest: Guest) -> Int64? { seen.withLock { $0[guest.id] } }

  /// The path of the guest whom this link let in; nil if it let nobody in, or the guest is gone.
  func path(ofToken token: String) throws -> String? {
    try GuestBook.path(ofToken: token, among: presentGuests()).map { "/" + $0 }
  }

  /// The guests, as the book has them now.
  func presentGuests() throws -> [Guest] {
    let present = try guests.guests()
    guestsBefore.withLock { $0 = present }
    return present
  }

  /// The notebook, whose versions are signed as those of every command, and name a guest who makes them.
  func notebook(for guest: Guest?) throws -> Notebook {
    let notebook = try Notebook.open(at: folder)
    notebook.signer = signer
    notebook.guest = guest?.name
    return notebook
  }

  /// The session context by which the notebook's members are changed: this device's key, and the known
  /// members.
  func sessionContext(of notebook: Notebook) throws -> SessionContext {
    guard let context = try SessionContext(of: notebook, keysIn: dataFolder) else {
      throw Refusal.otherDevice
    }
    return context
  }
}
