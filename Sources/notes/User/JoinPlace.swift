internal import Exchange
internal import Membership
internal import Notebook

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
  /// Whether the folder has files, which the notebook's would be merged with. It is settled here: files that somebody
  /// adds while the user is asked are not merged without a question.
  let mergesFiles: Bool
  private let holdsFiles: Bool

  init(folder: String, isNamed: Bool) {
    (self.folder, self.isNamed) = (folder, isNamed)
    holdsFiles = Cloning.holdsFiles(folder)
    mergesFiles = isNamed && holdsFiles && (Cloning.isPlain(folder) || Cloning.isFree(folder))
  }

  /// Throws if the folder cannot become a notebook; asks about files that look like keys. Nothing has changed by then,
  /// and no hub was reached.
  func check(yes: Bool, includesSecrets: Bool) throws {
    let place = NotebookPlace(folder: folder)
    try place.check()
    if Cloning.isFree(folder), !holdsFiles { return }
    if mergesFiles { return try place.demandConsent(yes: yes, includesSecrets: includesSecrets) }
    var failure = CloneCommand.isTaken(folder)
    if isNamed {
      failure.hint = "give another folder; or to join in this one, ask for a code of 'notes invite'"
    } else {
      failure.hint =
        "give a folder as the last argument; files in a folder that you give are merged with the notebook's"
    }
    throw failure
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
