internal import Exchange
internal import Glibc
internal import Membership
internal import Notebook
internal import System

/// The options of `notes join` for a link or a file.
struct JoinOptions {
  let folder: String?
  /// The device's name.
  let name: String?
  let yes: Bool
  /// Whether to add files that look like keys.
  let include: Bool
  let common: CommonOptions
}

/// The folder for a notebook that this device joins by a link or a file and does not have yet: notes-join(1).
struct JoinPlace {
  let folder: String
  /// Whether the user named the folder. The inviter may choose the default name, so only files of a named folder are
  /// merged: an inviter must not be able to choose which files the members receive.
  let isNamed: Bool
  /// Whether the folder has files, which the notebook's would be merged with. This is decided when the command begins:
  /// files that somebody adds while the user is asked are not merged without a question.
  let mergesFiles: Bool
  private let holdsFiles: Bool

  init(folder: String, isNamed: Bool) {
    (self.folder, self.isNamed) = (folder, isNamed)
    holdsFiles = Cloning.holdsFiles(folder)
    mergesFiles = isNamed && holdsFiles && (Cloning.isPlain(folder) || Cloning.isFree(folder))
  }

  /// The folder with this name beside the notebook around the current folder; outside of a notebook, in the current
  /// folder.
  static func unnamed(_ name: String) throws -> String {
    let here = try NotebookLocator.folder(nil)
    // Outside of a notebook there is none.
    let current = try? Notebook.open(at: Notebook.find(from: here))
    let parent = current.map { Disk.parent(of: $0.folder) } ?? here
    return (parent == "/" ? "" : parent) + "/" + name
  }

  /// Throws if the folder cannot become a notebook. Nothing has changed by then, and no hub was reached. Without a
  /// terminal it also refuses files that look like keys.
  func check(by given: JoinOptions) throws {
    let place = NotebookPlace(folder: folder)
    var status = stat()
    if Counted.stat(folder, &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
      throw Failure(
        .failed, "target_exists", "\(Visible.name(folder)) is not a folder",
        hint: "give another folder as the last argument")
    }
    try place.check()
    if Cloning.isFree(folder), !holdsFiles { return }
    if mergesFiles { return try Console.canAsk ? () : demandConsent(by: given) }
    var failure = CloneCommand.isTaken(folder)
    if isNamed {
      failure.hint = "give another folder; or to join in this one, ask for a code of 'notes invite'"
    } else {
      failure.hint =
        "give a folder as the last argument; files in a folder that you give are merged with the notebook's"
    }
    throw failure
  }

  /// Asks about the files that become notes, when the invitation has been shown.
  func demandConsent(by given: JoinOptions) throws {
    guard mergesFiles else { return }
    try NotebookPlace(folder: folder)
      .demandConsent(yes: given.yes, includesSecrets: given.include)
  }

  /// Throws if a file with an invitation's secret is in a folder that becomes a notebook. `way` is the path by which
  /// the user named the file: it may be a link to the file.
  static func demandOutside(_ way: String, of folder: String) throws {
    guard let place = realPath(of: folder) else { return }
    let paths = [realPath(of: way), realPath(of: Disk.parent(of: way))].compactMap { $0 }
    guard paths.contains(where: { ($0 + "/").hasPrefix(place + "/") }) else { return }
    throw Failure.usage(
      "\(Visible.name(way)) is in \(Visible.name(folder)), so the members would receive it",
      hint: "move the file out of that folder")
  }

  /// The line about those files, before the question whether to join; empty if there are none.
  ///
  /// - Parameter role: the role of this device; nil if nobody has signed it yet, as in a link.
  func warning(for role: Role?) -> String {
    mergesFiles && role != .reader ? Self.filesBecomeNotes : ""
  }

  static let filesBecomeNotes =
    "  files in this folder become part of the notebook, and its members receive them\n"
}
