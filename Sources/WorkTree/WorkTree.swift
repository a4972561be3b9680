public import Git
internal import System

/// The folder that a repository's files stand in, and the index that remembers how they were.
///
/// An instance belongs to one thread at a time.
public final class WorkTree {
  /// The folder.
  public let folder: String
  /// The repository behind it.
  public let repository: Repository

  /// The largest file that is versioned, in bytes: 50 MiB, or what `notes.maxFileSize` in
  /// `.git/config` says.
  public lazy var sizeLimit = SizeLimit.configured(in: repository, configuration: configuration)
  /// What the executable bits of files in the folder say.
  package lazy var fileModes = FileModeTrust(repository, configuration: configuration)
  /// Whether hidden files are versioned as others are: `notes.hiddenFiles` in `.git/config`.
  public lazy var takesHiddenFiles = takesHiddenFiles(by: configuration)
  /// The text of `.git/config` when it was first needed.
  private lazy var configuration = readConfiguration()

  /// The machine's present run, by which files that a power cut damaged are told.
  lazy var machine = MachineStart.present

  /// Whether files are versioned whose names no other device takes: for tests of what shows names.
  package var takesUnfitNames = false

  /// The folder of this device's state for the notebook.
  package var stateFolder: String { repository.gitFolder + "/notes" }

  package init(folder: String, repository: Repository) {
    self.folder = folder
    self.repository = repository
  }
}
