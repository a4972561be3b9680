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
  /// The folder of the keys of the user's devices.
  private let dataFolder: String
  /// The folder of the sockets of watchers; nil if the user has no such folder.
  private let controlFolder: String?
  private let signer: VersionSigner
  let guests: GuestBook
  /// The last guests that were read from the book.
  private let guestsBefore = Mutex<[Guest]>([])
  /// When each guest sent the last request, by ID, since the page was started.
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

  /// The part of the path that the notebook's pages are below, if several are served.
  var pathName: String { notebookID.prefix(16).lowercased() }

  /// Whether a watcher can be asked at all.
  var mayBeWatched: Bool { controlFolder != nil }

  /// Whether the notebook's folder is there: it may be on a medium that was taken out.
  var isThere: Bool { access(stateFolder.path, F_OK) == 0 }

  /// The visitor who sent one of these cookies, below this path; nil if no guest did. A guest whose notebook
  /// is away, or whose book cannot be read, does not count as removed.
  func visitor(below path: String, cookies: [String]) throws -> Visitor? {
    // Then a former guest stays a guest: see above.
    let present = isThere ? try? presentGuests() : nil
    let known = present ?? guestsBefore.withLock { $0 }
    guard let guest = try GuestBook.guest(below: path, cookies: cookies, among: known) else {
      return nil
    }
    guard present != nil else { return .away(root: "/" + path) }
    seen.withLock { $0[guest.id] = WallClock.now() }
    return .guest(guest, root: "/" + path)
  }

  /// When the guest sent the last request, in seconds since 1970; nil if not since the page was started.
  func lastHere(of guest: Guest) -> Int64? { seen.withLock { $0[guest.id] } }

  /// The path of the guest whom this link admitted; nil if it admitted nobody, or the guest is gone.
  func path(ofToken token: String) throws -> String? {
    try GuestBook.path(ofToken: token, among: presentGuests()).map { "/" + $0 }
  }

  /// The guests, as the book has them now.
  func presentGuests() throws -> [Guest] {
    let present = try guests.guests()
    guestsBefore.withLock { $0 = present }
    return present
  }

  /// The notebook; its versions are signed like those of every command, and name the guest who makes them.
  func notebook(for guest: Guest?) throws -> Notebook {
    let notebook = try Notebook.open(at: folder)
    notebook.signer = signer
    notebook.guest = guest?.name
    return notebook
  }

  /// The watcher that runs for the notebook, by its identity as it is now: a renewed key has another socket.
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
