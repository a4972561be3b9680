internal import Exchange
internal import Glibc
internal import History
internal import Membership
internal import Notebook
internal import State
internal import Synchronization
internal import System
internal import Watch

/// A notebook served on the page, for visitors that the gate admits.
final class Site: Sendable {
  let folder: String
  let notebookID: String
  private let stateFolder: StateFolder
  /// The folder with the user's device keys.
  private let dataFolder: String
  /// The folder with watchers' sockets; nil if the user has no such folder.
  private let controlFolder: String?
  private let signer: VersionSigner
  let guests: GuestBook
  /// The last guests that were read from the book.
  private let guestsBefore = Mutex<[Guest]>([])
  /// The time of each guest's last request, by ID, since the start of the page.
  private let seen = Mutex<[String: Int64]>([:])
  /// The invitations that were opened on the page.
  let invitations = OpenedInvitations()
  let unsaved = UnsavedTexts()
  let uploads = Uploads()
  let openNotes = OpenNotes()
  let limits: WebLimits

  /// The first lines for a browser that follows the events: after how long to reconnect.
  static let firstEvent = "retry: 1000\nevent: ready\ndata:\n\n"

  init(
    of notebook: Notebook, dataFolder: String, controlFolder: String?, limits: WebLimits
  ) {
    (folder, notebookID) = (notebook.folder, notebook.identity.id)
    (self.dataFolder, self.controlFolder) = (dataFolder, controlFolder)
    signer = VersionSigner(keysIn: dataFolder)
    guests = GuestBook(stateFolder: notebook.stateFolder)
    stateFolder = notebook.stateFolder
    self.limits = limits
  }

  /// The notebook's part of the path, if several are served.
  var pathName: String { notebookID.prefix(16).lowercased() }

  /// Whether a watcher may run here: the user has a folder for watchers' sockets.
  var mayBeWatched: Bool { controlFolder != nil }

  /// Whether the notebook's folder is available: its medium may have been removed.
  var isThere: Bool { access(stateFolder.path, F_OK) == 0 }

  /// The visitor with one of these cookies, for this path; nil if no guest has such a cookie. If the notebook
  /// is unavailable, or its book of guests cannot be read, a guest does not count as removed.
  func visitor(below path: String, cookies: [String]) throws -> Visitor? {
    // If the book cannot be read, the last known guests count, as documented.
    let present = isThere ? try? presentGuests() : nil
    let known = present ?? guestsBefore.withLock { $0 }
    guard let guest = try GuestBook.guest(below: path, cookies: cookies, among: known) else {
      return nil
    }
    guard present != nil else { return .away(root: "/" + path) }
    seen.withLock { $0[guest.id] = WallClock.now() }
    return .guest(guest, root: "/" + path)
  }

  /// When the guest sent the last request, in seconds since 1970; nil if there was none since the
  /// start of the page.
  func lastHere(of guest: Guest) -> Int64? { seen.withLock { $0[guest.id] } }

  /// The path of the guest who used this link; nil if nobody did, or if the guest was removed.
  func path(ofToken token: String) throws -> String? {
    try GuestBook.path(ofToken: token, among: presentGuests()).map { "/" + $0 }
  }

  /// The guests who are now in the book.
  ///
  /// - Throws: `Refusal.away` if the notebook's folder is unavailable.
  func presentGuests() throws -> [Guest] {
    let present = try guests.guests()
    // If the folder is gone, so is the book of guests. It must not count as empty: its guests would be told
    // that they were removed.
    guard isThere else { throw Refusal.away }
    guestsBefore.withLock { $0 = present }
    return present
  }

  /// The notebook; its versions are signed like those of every command, and name the guest as their
  /// maker.
  func notebook(for guest: Guest?) throws -> Notebook {
    let notebook = try Notebook.open(at: folder)
    notebook.signer = signer
    notebook.guest = guest?.name
    return notebook
  }

  /// The notebook's running watcher, found by the present identity: with a renewed key, the socket
  /// has another name.
  func watcher(of notebook: Notebook) -> ControlClient? {
    let identity = notebook.identity
    return ControlClient.connect(
      in: controlFolder, notebookID: identity.id, deviceID: identity.device.deviceID)
  }

  /// The session context for changes of the notebook's members: this device's key, and the known members.
  func sessionContext(of notebook: Notebook) throws -> SessionContext {
    guard let context = try SessionContext(of: notebook, keysIn: dataFolder) else {
      throw Refusal.otherDevice
    }
    return context
  }
}
