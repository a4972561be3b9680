internal import Git
internal import Glibc
internal import History
internal import Notebook
internal import WorkTree

extension Failure {
  /// What a notebook's error means to the user.
  init(_ error: NotebookError) {
    switch error {
    case .notANotebook(let folder):
      self.init(
        .notANotebook, "not_a_notebook",
        folder == "."
          ? "this folder is not in a notebook" : "\(Visible.name(folder)) is not in a notebook",
        hint: "'notes init' makes this folder one, 'notes join CODE' gets one from another device")
    case .alreadyANotebook(let folder):
      self.init(
        .failed, "already_a_notebook", "\(Visible.name(folder)) is a notebook already",
        hint: "'notes -C \(Visible.name(folder)) status' shows it")
    case .linkedWorkTree(let folder):
      self.init(
        .failed, "linked_work_tree",
        "\(Visible.name(folder)) belongs to a git repository elsewhere",
        hint: "make the notebook in a folder with a repository of its own")
    case .newerFormat(let format):
      self.init(
        .failed, "newer_format",
        "the notebook has format \(Visible.name(format)), which is newer "
          + "than this notes understands", hint: "install a newer version of notes")
    case .brokenState(let path, let what):
      self.init(
        .failed, "broken_state", "\(Visible.name(path)) is damaged: \(Visible.name(what))",
        hint: "the history is not affected; restore that file from a backup, or join again")
    case .busy(let folder):
      self.init(
        .failed, "busy", "another notes command is busy in \(Visible.name(folder))",
        hint: "try again when it has finished")
    case .file(let call, let path, let errno):
      self.init(
        .failed, "file_failed", "\(call) \(Visible.name(path)): \(Self.reason(errno))",
        hint: Self.remedy(errno) ?? Self.examine)
    case .obstructed(let path):
      self.init(
        .failed, "obstructed",
        "something that is not a file stands where the note \(Visible.name(path)) has to be written",
        hint: "move it away and run the command again")
    case .noSuchNote(let name):
      self.init(
        .failed, "no_such_note", "there is no note '\(Visible.name(name))'",
        hint: "'notes list' shows the notes", name: name)
    case .ambiguousNote(let name, let candidates):
      let shown = candidates.prefix(5).map { "'\(Visible.name($0))'" }
      let more = candidates.count > 5 ? ["\(candidates.count - 5) more"] : []
      self.init(
        .failed, "ambiguous_note", "several notes match '\(Visible.name(name))'",
        hint: "write more of the name: \(Counted.list(shown + more))", name: name)
    case .noSuchVersion(let name):
      self.init(
        .failed, "no_such_version", "there is no version '\(Visible.name(name))'",
        hint: "a version is an ID, ~N, or a time like yesterday; 'notes log' shows them")
    case .tooFewVersions(let name, let count):
      self.init(
        .failed, "no_such_version",
        "\(Visible.name(name)) is too far back: there \(count == 1 ? "is" : "are") "
          + Counted.things(count, "version"),
        hint: count > 0 ? "the oldest is ~\(count - 1)" : "'notes save' makes the first version")
    case .noVersionBy(let name, let first):
      self.init(
        .failed, "no_such_version", "there was no version yet: \(Visible.name(name))",
        hint: "the first is from \(TimeText.local(first))")
    case .ambiguousVersion(let name):
      self.init(
        .failed, "ambiguous_version", "several versions begin with '\(Visible.name(name))'",
        hint: "write more digits of the ID")
    case .notInVersion(let path, let version):
      self.init(
        .failed, "not_in_version",
        "\(Visible.name(path)) does not exist in version \(version.short)",
        hint: "'notes log \(Visible.word(path.noteTitle))' shows the versions it is in")
    case .invalidExpression(let text, let reason):
      let known = Visible.name(reason.prefix(1).lowercased() + reason.dropFirst())
      self.init(
        .usage, "invalid_expression",
        "the regular expression '\(Visible.name(text))' is wrong"
          + (known == "invalid regular expression" ? "" : ": \(known)"),
        hint: "without --regex the text is searched for as it stands")
    case .notText(let path):
      self.init(
        .failed, "not_text", "\(Visible.name(path)) is not text and has no lines",
        hint: "'notes log \(Visible.word(path.noteTitle))' shows its versions")
    case .massDeletion(let deleted, let total): self = .massDeletion(deleted: deleted, of: total)
    case .unfitTitle(let title, let why): self = .unfit(title: title, why)
    case .nameTaken(let path, let other, let isFolder):
      self = .taken(path, by: other, isFolder: isFolder)
    case .intoItself(let folder):
      self.init(
        .failed, "into_itself", "the folder \(Visible.name(folder)) cannot be moved into itself",
        hint: "choose a folder outside of it")
    case .nothingToUndo(let available): self = .nothingToUndo(available: available)
    case .nothingToRedo(let available): self = .nothingToRedo(available: available)
    case .noSuchOperation(let name):
      self.init(
        .failed, "no_such_operation",
        "no operation that could be undone led to version \(Visible.name(name))",
        hint: Self.operations)
    case .undoConflict(let paths): self = .undoConflict(paths)
    }
  }

  /// What helps where nothing more is known.
  static let examine = "'notes doctor' looks for what is wrong"

  /// What helps against a system's error, where something does.
  static func remedy(_ errno: Int32) -> String? {
    switch errno {
    case EACCES, EPERM: "let your user read and write there, and run the command again"
    case EROFS: "it is on a disk that cannot be written; nothing was changed"
    case ENOSPC: "make room on the disk, and run the command again"
    case EDQUOT: "make room, or have your share of the disk raised, and run the command again"
    case EMFILE, ENFILE: "close other programs, or raise the limit of open files"
    case EFBIG:
      "'ulimit -f' shows how large a file may be here, notes.maxFileSize in .git/config what notes "
        + "takes"
    case EIO: "the disk may be failing: copy the folder elsewhere"
    default: nil
    }
  }

  /// The guard against mass deletion stopped a sync.
  static func massDeletion(deleted: Int, of total: Int) -> Failure {
    Failure(
      .failed, "mass_deletion",
      "this would delete \(Counted.grouped(deleted)) of \(Counted.things(total, "note"))",
      hint: "nothing was changed; --allow-deletes goes on")
  }

  /// What a repository's error means to the user.
  init(_ error: GitError) {
    switch error {
    case .libraryMissing(let what):
      self.init(
        .failed, "library_missing", "libgit2 cannot be loaded: \(Visible.name(what))",
        hint: "install it: apt install libgit2-dev")
    case .notARepository(let folder):
      self.init(
        .notANotebook, "not_a_notebook", "there is no git repository in \(Visible.name(folder))",
        hint: "'notes init' makes the folder a notebook")
    case .unsupported(let what):
      self.init(
        .failed, "unsupported_repository",
        "this repository needs \(Visible.name(what)), which notes cannot work with",
        hint: "make the notebook in a folder with a repository of its own")
    case .unfit(let version, let name, let why):
      self.init(
        .failed, "unfit_version",
        "version \(version.short) holds \(Visible.name(name)), which no device takes: \(why)",
        hint: "run the command again: a version without it takes its place")
    case .foreignOwner(let folder):
      self.init(
        .failed, "foreign_owner",
        "the repository in \(Visible.name(folder)) belongs to another user",
        hint: "work in it as its owner")
    case .locked(let path):
      self.init(
        .failed, "locked", "git or another program holds .git/\(Visible.name(path))",
        hint: "run the command again when it is done; what a killed one left goes after an hour, "
          + "or by 'rm .git/\(Visible.name(path))'")
    case .referenceMoved:
      self.init(
        .failed, "reference_moved", "\(Visible.name(error.description))",
        hint: "git or another program changed the notebook at the same time; run the command again")
    case .brokenReference("HEAD"):
      self.init(
        .failed, "repository_damaged", "the file .git/HEAD is damaged",
        hint: "it names the branch: echo 'ref: refs/heads/main' >.git/HEAD")
    case .brokenReference(let name) where name.hasPrefix("refs/heads/"):
      self.init(
        .failed, "repository_damaged", "the file .git/\(Visible.name(name)) is damaged",
        hint: "it holds the ID of the last version: the second word of the last line of "
          + ".git/logs/\(Visible.name(name))")
    case .brokenReference, .missing, .malformed, .wrongKind:
      self.init(
        .failed, "repository_damaged", Visible.name(error.description),
        hint: "'git fsck' tells more; what other devices have is not affected")
    case .system(let call, let path, let errno):
      self.init(
        .failed, "file_failed", "\(call) \(Visible.name(path)): \(Self.reason(errno))",
        hint: Self.remedy(errno) ?? Self.examine)
    case .ambiguousPrefix:
      self.init(
        .failed, "ambiguous_version", Visible.name(error.description),
        hint: "write more digits of the ID")
    case .library:
      self.init(.failed, "repository_failed", Visible.name(error.description), hint: Self.examine)
    }
  }
}
