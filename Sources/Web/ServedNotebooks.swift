internal import Exchange
internal import Membership
internal import NIOCore
internal import Notebook
internal import Synchronization
internal import System
internal import Watch

/// The served notebooks: one, or all that this device knows, which may appear and disappear later.
/// notes-web(1), "All notebooks".
final class ServedNotebooks: Sendable {
  /// A served notebook, and the objects that follow it.
  private struct Entry: Sendable {
    /// The folder as it is listed.
    let folder: String
    var isThere = true
    let site: Site
    let news: News
    /// Nil if another command also serves the notebook, or if the state folder is not writable.
    let address: ServedPage?
  }

  private let choice: WebChoice
  private let dataFolder: String
  private let controlFolder: String?
  private let connections: Connections
  private let limits: WebLimits
  private let origins: Mutex<[String]>
  private let entries = Mutex<[Entry]>([])
  /// Whether the server has stopped. The thread that looks for notebooks has this lock; in the meantime, other
  /// threads serve the known ones.
  private let isStopped = Mutex(false)
  private let listWatch = Mutex<FileWatch?>(nil)

  /// Serves nothing until `begin`.
  ///
  /// - Parameter origins: the addresses of the page, that for this machine first.
  init(
    _ choice: WebChoice, dataFolder: String, controlFolder: String?, connections: Connections,
    limits: WebLimits, at origins: [String]
  ) {
    (self.choice, self.dataFolder, self.controlFolder) = (choice, dataFolder, controlFolder)
    (self.connections, self.limits) = (connections, limits)
    self.origins = Mutex(origins)
  }

  /// The sites, in the order of `notes notebooks`. A folder may be unavailable.
  var sites: [Site] { entries.withLock { $0.map(\.site) } }

  /// The notebook whose pages have this part in their path.
  func site(named name: String) -> Site? { sites.first { $0.pathName == name } }

  /// Starts, and later also serves notebooks that are added.
  ///
  /// - Throws: the errors of opening the notebook, if one is chosen.
  func begin() throws {
    switch choice {
    case .one(let folder):
      let entry = try begin(Notebook.open(at: folder), folder)
      entries.withLock { $0 = [entry] }
    case .all:
      // A user without a notebook does not have this folder yet.
      try? FileSystem<SystemCallError>.makeFolders(dataFolder, mode: 0o700)
      update()
      // Without this folder, changes of the list are not noticed.
      let watch = try? FileWatch(KnownNotebooks.name, in: dataFolder) { [weak self] in
        self?.update()
      }
      listWatch.withLock { $0 = watch }
    }
  }

  private func begin(_ notebook: Notebook, _ folder: String) throws -> Entry {
    let site = Site(
      of: notebook, dataFolder: dataFolder, controlFolder: controlFolder,
      limits: limits)
    let news = try News(of: site, connections: connections) { [weak self] in self?.update() }
    // The record is for other commands, which otherwise do not find the page.
    let address = try? ServedPage(
      at: origins.withLock { $0 }, stateFolder: notebook.stateFolder)
    return Entry(folder: folder, site: site, news: news, address: address)
  }

  /// Looks for notebooks. Serves those that are new or available again, and stops serving those that are no
  /// longer listed. A listed notebook with an unavailable folder keeps its place.
  func update() {
    let isOther = isStopped.withLock { isStopped -> Bool in
      if isStopped { return false }
      let former = entries.withLock { $0 }
      var next: [Entry] = []
      for folder in folders {
        // An unavailable notebook is shown as such.
        if let notebook = try? Notebook.open(at: folder) {
          let id = notebook.identity.id
          guard !next.contains(where: { $0.site.notebookID == id }) else { continue }
          let same = former.first {
            $0.site.notebookID == id && $0.folder == folder && !$0.news.isOver
          }
          // If a notebook cannot be served now, the next update tries again.
          guard var entry = same ?? (try? begin(notebook, folder)) else { continue }
          entry.isThere = true
          next.append(entry)
        } else if var away = former.first(where: { $0.folder == folder }) {
          away.isThere = false
          next.append(away)
        }
      }
      let gone = former.filter { entry in !next.contains { $0.site === entry.site } }
      entries.withLock { $0 = next }
      for entry in gone {
        let isServedAnew = next.contains { $0.site.notebookID == entry.site.notebookID }
        end(entry, for: !isServedAnew)
      }
      func shown(_ entries: [Entry]) -> [ObjectIdentifier] {
        entries.filter(\.isThere).map { ObjectIdentifier($0.site) }
      }
      return shown(next) != shown(former)
    }
    if isOther { News.tell("changed", connections.followers(of: nil, false)) }
  }

  private var folders: [String] {
    switch choice {
    case .one(let folder): [folder]
    case .all: KnownNotebooks(dataFolder: dataFolder).folders()
    }
  }

  private func end(_ entry: Entry, for good: Bool) {
    entry.site.invitations.stop()
    entry.news.stop()
    if good { connections.close(allOf: entry.site.notebookID) }
  }

  /// Records the new addresses of the page.
  func move(to origins: [String]) {
    self.origins.withLock { $0 = origins }
    // A file that cannot be written keeps the former addresses.
    for entry in entries.withLock({ $0 }) { try? entry.address?.move(to: origins) }
  }

  /// Ends all sites.
  func stop() {
    listWatch.withLock { $0?.stop() }
    isStopped.withLock { isStopped in
      isStopped = true
      for entry in entries.withLock({ $0 }) { end(entry, for: false) }
    }
  }
}

/// The choice of served notebooks.
public enum WebChoice: Sendable, Equatable {
  /// The notebook of a folder.
  case one(folder: String)
  /// All that were made or joined on this device, behind a page that lists them.
  case all
}
