public import Git
package import State
internal import System

/// The folder with a repository's files, and the index that records their state.
///
/// An instance belongs to one thread at a time.
public final class WorkTree {
  /// The folder.
  public let folder: String
  /// The work tree's repository.
  public let repository: Repository

  /// The settings in `.git/config`, read when first needed in this transaction.
  private var knownSettings: FolderSettings?
  var settings: FolderSettings {
    if let knownSettings { return knownSettings }
    let settings = FolderSettings(by: repository.settings())
    knownSettings = settings
    return settings
  }
  /// The largest file that is versioned, in bytes.
  public var sizeLimit: Int { settings.sizeLimit }
  /// Whether the executable bits of files in the folder count.
  package var fileModes: FileModeTrust { settings.fileModes }

  /// The machine's present boot, which shows which files a power cut damaged.
  lazy var machine = MachineStart.present

  /// Whether a program has read a file since a checkout wrote it, by the system's events; nil if there
  /// was no event.
  package var toldReading: (TreePath) -> FileReading? = { _ in nil }

  /// Whether files are versioned although other devices refuse their names: for tests of code that
  /// shows names.
  package var takesUnfitNames = false

  /// The folder with this device's state of the notebook.
  package var stateFolder: StateFolder { repository.stateFolder }

  package init(folder: String, repository: Repository) {
    self.folder = folder
    self.repository = repository
  }

  /// Drops the settings, so that they are read again: another process may have changed them.
  package func forgetSettings() { knownSettings = nil }
}
