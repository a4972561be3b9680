/// This device's state for a notebook: the folder `.git/notes`. It is the one place that says which files and
/// folders are there; FILES in notes(1) lists the same.
public struct StateFolder: Hashable, Sendable {
  /// The folder's path.
  public let path: String

  /// The folder with this path: for tests, and for paths from another program.
  public init(_ path: String) { self.path = path }

  /// The state folder of the notebook in this folder.
  public init(ofNotebookIn folder: String) { path = folder + Self.place }

  /// The state folder beside the objects of a repository.
  package init(ofRepository gitFolder: String) { path = gitFolder + "/notes" }

  /// The path from the folder of a notebook.
  package static let place = "/.git/notes"

  /// A file there. The value is its path from the state folder.
  public enum File: String, CaseIterable, Sendable {
    /// The notebook's ID and name, and this device's. A repository that has it is a notebook.
    case notebook
    /// Locked by the process that writes to the notebook.
    case lock
    /// Locked by the process that watches it.
    case watch
    /// Locked by the process that collects garbage.
    case gcLock = "gc.lock"
    /// The tip, its heads and how many conflicts are open.
    case tip
    /// The version up to which all is portable.
    case plain
    /// Notes that the folder cannot take, or whose place is taken.
    case waiting
    /// The permissions of notes and folders that not everybody may read.
    case `private`
    /// The machine's run that looked at the folder last, and files that a power cut damaged.
    case machine
    /// The texts that the folder held before the last checkouts.
    case brought
    /// The notes that a person has seen.
    case looked
    /// Objects that the history needs and that are not here.
    case missing
    /// The versions that were here when a device's right to make versions ended.
    case formerWriters = "former-writers"
    /// That another machine uses this device's key.
    case sharedKey = "shared-key"
    /// The addresses at which peers were last reached.
    case addresses
    /// Which versions hubs showed this device, and members.
    case hubs
    /// That an admin started the membership over.
    case startedOver = "started-over"
    /// The invitation by a link that this device has answered, and waits for.
    case asked
    /// The guests of the page, and the links for new ones.
    case guests
    /// Locked while the guests are changed.
    case guestsLock = "guests.lock"
    /// The address at which the page is served now.
    case webAddress = "web-address"
    /// The file that a browser is shown to open the page.
    case webLink = "web-link.html"
    /// The keys of members, for git.
    case allowedSigners = "allowed-signers"
    /// A checkout that is under way.
    case journal = "checkout/journal"
    /// Which version changed which note.
    case history = "cache/history"
    /// Versions that are signed by the device that they name.
    case verified = "cache/verified"
    /// Derived merges that hold what their versions merge to.
    case merges = "cache/merges"
    /// The devices that were ever members.
    case signers = "cache/signers"
    /// This device's role, and who the admins are.
    case standing = "cache/standing"
    /// The links and repositories that a save has told of.
    case told = "cache/told"
  }

  /// A folder there. The value is its path from the state folder.
  public enum Folder: String, CaseIterable, Sendable {
    /// The certificates and revocations of the members.
    case membership
    /// The files of a checkout before they come into the notebook's folder, and its journal.
    case checkout
    /// Files that a program still writes to after a checkout has replaced them.
    case lingering
    /// The texts that editors were given, a file for each running command.
    case editing
    /// Versions that arrive, until they are checked.
    case incoming
    /// The `.gitignore` files that this device agreed to.
    case ignore
    /// The `.gitattributes` files that this device agreed to.
    case attributes
    /// The devices that merge otherwise, a file for each.
    case differing
    /// Versions that were not merged, a file for each device.
    case held
    /// When devices were met, a file for each.
    case seen
    /// The keys that members want certified, a file for each member.
    case requests
    /// The invitations that were made here.
    case invitations
    /// The invitations that came from other devices.
    case invited
    /// The invitations by a link that are open, as their inviters signed them.
    case offers
    /// The files that can be made again at any time.
    case cache
  }

  /// The path of a file.
  public subscript(file: File) -> String { "\(path)/\(file.rawValue)" }

  /// The path of a folder.
  public subscript(folder: Folder) -> String { "\(path)/\(folder.rawValue)" }

  /// The path of a temporary folder: for a trial of the file system, or for a merge program.
  package func temporary(_ name: Temporary) -> String { "\(path)/\(name.rawValue)" }

  /// The prefixes of the names of temporary folders.
  package enum Temporary: String, CaseIterable {
    /// A folder in which the file system is tried.
    case probe
    /// The texts that a merge program gets.
    case resolve
  }
}
