public import Git
package import State
internal import System

/// The folder that a repository's files stand in, and the index that remembers how they were.
///
/// An instance belongs to one thread at a time.
public final class WorkTree {
  /// The folder.
  public let folder: String
  /// The repository behind it.
  public let repository: Repository

  /// The settings in `.git/config` when they were needed first in this transaction.
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

  /// The machine's present run, by which files that a power cut damaged are told.
  lazy var machine = MachineStart.present

  /// Whether a program has read a file since a checkout put it there, as far as the system has told; nil
  /// where it has not.
  package var toldReading: (TreePath) -> FileReading? = { _ in nil }

  /// Whether files are versioned whose names no other device takes: for tests of what shows names.
  package var takesUnfitNames = false

  /// The folder of this device's state for the notebook.
  package var stateFolder: StateFolder { repository.stateFolder }

  package init(folder: String, repository: Repository) {
    self.folder = folder
    self.repository = repository
  }

  /// Has the settings read anew: another process may have changed them since.
  package func forgetSettings() { knownSettings = nil }
}
