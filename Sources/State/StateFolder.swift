/// This device's state of a notebook: the folder `.git/notes`. Only this type defines its files and folders;
/// FILES in notes(1) lists the same.
public struct StateFolder: Hashable, Sendable {
  /// The folder's path.
  public let path: String

  /// The folder with this path: for tests, and for paths from another program.
  public init(_ path: String) { self.path = path }

  /// The state folder of the notebook in this folder.
  public init(ofNotebookIn folder: String) { path = folder + Self.place }

  /// The state folder inside a repository's `.git`.
  package init(ofRepository gitFolder: String) { path = gitFolder + "/notes" }

  /// The path of the state folder, relative to the folder of its notebook.
  package static let place = "/.git/notes"

  /// A file in the folder. The value is its path relative to the folder.
  public enum File: String, CaseIterable, Sendable {
    /// The IDs and names of the notebook and of this device. A repository with this file is a
    /// notebook.
    case notebook
    /// Locked by the process that writes to the notebook.
    case lock
    /// Locked by the process that watches the notebook.
    case watch
    /// Locked by the process that collects garbage.
    case gcLock = "gc.lock"
    /// The tip, its heads and the number of open conflicts.
    case tip
    /// Exists from joining until the first versions arrive.
    case awaiting
    /// The version whose whole history is portable.
    case plain
    /// Notes that cannot be written into the folder: their names do not fit the file system, or something else is in
    /// their place.
    case waiting
    /// The permissions of notes and folders that not everybody may read.
    case `private`
    /// The ID of the boot during which the folder was last scanned, and the files damaged by a power cut.
    case machine
    /// The texts that were in the folder before the last checkouts.
    case brought
    /// The notes that a person has read.
    case looked
    /// Objects that the history needs and the repository lacks.
    case missing
    /// The versions that were here when a device's right to make versions ended.
    case formerWriters = "former-writers"
    /// The evidence that another machine uses this device's key.
    case sharedKey = "shared-key"
    /// The addresses at which peers were last reached.
    case addresses
    /// The versions that hubs showed this device and members.
    case hubs
    /// The fact that an admin started the membership over.
    case startedOver = "started-over"
    /// The invitation by a link or file to which this device has responded.
    case asked
    /// The role of this device that its user was told last.
    case toldRole = "told-role"
    /// The guests of the page, and the links for new ones.
    case guests
    /// Locked while the guests are changed.
    case guestsLock = "guests.lock"
    /// The addresses at which the page is served now.
    case webAddress = "web-address"
    /// The file that a browser opens to reach the page.
    case webLink = "web-link.html"
    /// The keys of members, for git.
    case allowedSigners = "allowed-signers"
    /// The record of a checkout in progress.
    case journal = "checkout/journal"
    /// The versions that changed each note.
    case history = "cache/history"
    /// Versions that are signed by the device that they name.
    case verified = "cache/verified"
    /// Derived merges that are equal to the computed merges.
    case merges = "cache/merges"
    /// The devices that were ever members.
    case signers = "cache/signers"
    /// This device's role, and the admins.
    case standing = "cache/standing"
    /// The links and nested repositories that a save has already reported.
    case told = "cache/told"
  }

  /// A folder in the state folder. The value is its path relative to the state folder.
  public enum Folder: String, CaseIterable, Sendable {
    /// The certificates and revocations of the members.
    case membership
    /// The files of a checkout before they are put into the notebook's folder, and its journal.
    case checkout
    /// Files that a program still writes to after a checkout has replaced them.
    case lingering
    /// The texts that editors were given, a file for each running command.
    case editing
    /// Received versions that are not checked yet.
    case incoming
    /// The `.gitignore` files to which this device has agreed.
    case ignore
    /// The `.gitattributes` files to which this device has agreed.
    case attributes
    /// The devices whose merges differ from this device's, a file for each.
    case differing
    /// Versions that were not merged, a file for each device.
    case held
    /// When this device last connected to each other device, a file for each.
    case seen
    /// The notes that are pinned to the top of the list, a file for each.
    case pinned
    /// The keys for which members request certificates, a file for each member.
    case requests
    /// The invitations made here.
    case invitations
    /// The invitations received from other devices.
    case invited
    /// The open invitations by a link, as signed by their inviters.
    case offers
    /// The files that can be made again at any time.
    case cache
  }

  /// The path of a file.
  public subscript(file: File) -> String { "\(path)/\(file.rawValue)" }

  /// The path of a folder.
  public subscript(folder: Folder) -> String { "\(path)/\(folder.rawValue)" }

  /// The path of a temporary folder, to test the file system or to run a merge program.
  package func temporary(_ name: Temporary) -> String { "\(path)/\(name.rawValue)" }

  /// The prefixes of the names of temporary folders.
  package enum Temporary: String, CaseIterable {
    /// A folder for a test of the file system.
    case probe
    /// The texts that a merge program reads.
    case resolve
  }
}
