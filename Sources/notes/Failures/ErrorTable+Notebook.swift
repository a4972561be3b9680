internal import Git
internal import Glibc
internal import History
internal import Membership
internal import Notebook
internal import State
internal import WorkTree

extension UnfinishedOperation {
  /// The command with which a person ends the operation.
  var remedy: String {
    "finish it with 'git \(rawValue) --continue', or cancel it with 'git \(rawValue) --abort'"
  }
}

extension [TreePath] {
  /// The command with which a person finishes git's merge.
  var mergeRemedy: String {
    let name = count == 1 ? Visible.word(self[0].description) : "FILE"
    return
      "edit \(name) and run 'git add \(name)', or drop the change: 'git checkout HEAD -- \(name)'"
  }
}

extension HistoryGap {
  /// The git command that completes the repository.
  func remedy(remote: String) -> String {
    switch self {
    case .shallow: "git fetch --unshallow \(remote)"
    case .partial:
      "git config --unset remote.\(remote).partialclonefilter; git fetch --refetch \(remote) && "
        + "git config --unset remote.\(remote).promisor"
    case .alternates: "move the other repository back to its place"
    case .grafts: "run 'rm .git/info/grafts': git then shows each version's own parents"
    case .replacements: "git replace -d $(git replace -l)"
    }
  }
}

extension ForgetError: ExplainedError {
  var meaning: ErrorMeaning {
    switch self {
    case .tooShort:
      .misused("too_short", "use a longer text: short ones occur in many places by chance")
    case .notFound:
      .failed("not_found", "'notes log' shows the versions, 'notes search' finds texts")
    case .nothingAdded(let path, _):
      .failed(
        "nothing_added",
        "'notes log \(Visible.word(path.noteTitle))' shows what each version changed")
    case .remotes:
      .failed(
        "other_repositories",
        "make the remote a hub with 'notes remote add', or run 'git remote remove NAME'; a removed "
          + "remote keeps the text"
      )
    case .unfinished: .failed("unfinished", "'notes status' shows why the file waits")
    case .lives:
      .failed("lives_on", "'notes forget NOTE' forgets one deleted note at a time")
    case .inName:
      .failed("in_name", "rename the file with 'notes mv', or run 'notes forget' with its name")
    case .isOpen: .failed("is_open", "close it in the editor, then run the command again")
    case .written: .failed("busy", "run the command again when no program writes notes")
    }
  }
}

extension WorkTreeError: ExplainedError {
  var meaning: ErrorMeaning {
    switch self {
    case .newerFormat: .failed("newer_format", "install a newer version of notes")
    case .file(_, _, let code): .failed("file_failed", Failure.remedyOrExamine(code))
    case .obstructed: .failed("obstructed", "move it away and run the command again")
    case .noSuchNote: .failed("no_such_note", "'notes list' shows the notes")
    case .notPlain: .failed("not_plain", "move it away, or name another note")
    }
  }
}

extension HistoryError: ExplainedError {
  var meaning: ErrorMeaning {
    switch self {
    case .ambiguousNote(_, let candidates):
      .failed("ambiguous_note", "write more of the name: \(Failure.few(candidates))")
    case .noSuchVersion:
      .failed(
        "no_such_version",
        "a version is an ID, ~N, or a time like yesterday; 'notes log' shows them")
    case .tooFewVersions(_, 0): .failed("no_such_version", "'notes save' makes the first version")
    case .tooFewVersions(_, let count):
      .failed("no_such_version", "the oldest version is ~\(count - 1)")
    case .noVersionBy(_, let first):
      .failed("no_such_version", "the first version is from \(TimeText.local(first))")
    case .ambiguousVersion: .failed("ambiguous_version", "write more digits of the ID")
    case .notInVersion(let path, _):
      .failed(
        "not_in_version", "'notes log \(Visible.word(path.noteTitle))' shows the versions it is in")
    case .invalidExpression:
      .misused("invalid_expression", "leave out --regex to search for the text itself")
    case .notText(let path):
      .failed("not_text", "'notes log \(Visible.word(path.noteTitle))' shows its versions")
    case .tooManyLines(let path, _):
      .failed("too_many_lines", "'notes log \(Visible.word(path.noteTitle))' shows its versions")
    }
  }
}

extension NotebookError: ExplainedError {
  var meaning: ErrorMeaning {
    switch self {
    case .notANotebook:
      .notANotebook(
        "not_a_notebook",
        "'notes init' makes this folder a notebook; 'notes join CODE' gets one from another device")
    case .alreadyANotebook(let folder):
      .failed("already_a_notebook", "'notes -C \(Visible.word(folder)) status' shows it")
    case .linkedWorkTree: .failed("linked_work_tree", Failure.ownRepository)
    case .busy: .failed("busy", "try again when it has finished")
    case .gitOperation(let operation): .failed("git_operation", operation.remedy)
    case .unmerged(let paths): .failed("unmerged", paths.mergeRemedy)
    case .converted: .failed("converted", Failure.convertedByGit)
    case .massDeletion: Failure.massDeletion
    case .unfitTitle:
      .misused("unfit_title", "choose another title; slashes in a title separate folders")
    case .nameTaken(let path, let other, let isFolder):
      .failed("name_taken", Failure.hint(for: path, takenBy: other, isFolder: isFolder))
    case .intoItself: .failed("into_itself", "choose a folder outside of it")
    case .largeVersion: Failure.largeVersion
    case .mergeTooLarge: Failure.mergeTooLarge
    case .wasPruned: Failure.versionPruned
    case .wasForgotten: Failure.wasForgotten
    case .forgotOtherwise:
      .failed(
        "forgot_otherwise",
        "sync with an admin's device; until then each device keeps its own history")
    case .fileTooLarge:
      .failed(
        "file_too_large",
        "make it smaller or move it out of the notebook, then run the command again")
    case .unfitPath: .failed("unfit_path", "choose shorter names and fewer folders")
    case .nothingToUndo: .failed("nothing_to_undo", Failure.operations)
    case .nothingToRedo:
      .failed("nothing_to_redo", "'notes redo' redoes what you last undid; " + Failure.operations)
    case .noSuchOperation: .failed("no_such_operation", Failure.operations)
    case .undoConflict:
      .failed(
        "undo_conflict",
        "also undo the later operations, or restore single notes with 'notes restore NOTE@VERSION'"
      )
    }
  }
}

extension StateDamage: ExplainedError {
  var meaning: ErrorMeaning {
    .failed(
      "broken_state",
      "restore that file from a backup, or join again; the history is not affected")
  }
}

extension GitError: ExplainedError {
  var meaning: ErrorMeaning {
    switch self {
    case .libraryMissing("libcrypto", _): .failed("library_missing", Failure.openSSL)
    case .libraryMissing:
      .failed(
        "library_missing", "install libgit2, 1.5 to 1.9: apt install '^libgit2-1.[5-9]$'")
    case .notARepository:
      .notANotebook("not_a_notebook", "'notes init' makes the folder a notebook")
    case .unsupported: .failed("unsupported_repository", Failure.ownRepository)
    case .sharedRepository:
      .failed(
        "unsupported_repository",
        "run 'git config --unset core.sharedRepository'; the others can join with notebooks of "
          + "their own")
    case .unsupportedExtension(let name):
      .failed("unsupported_repository", Failure.remedy(ofExtension: name))
    case .irreplaceable:
      .failed(
        "irreplaceable",
        "nothing was forgotten; remove the thing that the error names, if nobody needs it")
    case .incomplete(let gap, let remote):
      .failed("incomplete_repository", gap.remedy(remote: Visible.word(remote)))
    case .unfit:
      .failed("unfit_version", "run the command again: this makes a version without that file")
    case .unreadableConfiguration:
      .failed("unreadable_configuration", "'git config --list' says what is wrong")
    case .foreignOwner: .failed("foreign_owner", "run the command as the owner")
    case .locked(let path):
      .failed(
        "locked",
        "run the command again when that program is done; if it was killed, remove its lock: rm "
          + Visible.word(".git/" + path))
    case .referenceMoved:
      .failed("reference_moved", "run the command again")
    case .brokenReference("HEAD"):
      .failed(
        "repository_damaged", "if the branch is main, run: echo 'ref: refs/heads/main' >.git/HEAD")
    case .brokenReference(let name) where name.hasPrefix("refs/heads/"):
      .failed(
        "repository_damaged",
        "write the last version into it: tail -n 1 \(Visible.word(".git/logs/" + name)) | cut -d ' ' -f 2 "
          + ">\(Visible.word(".git/" + name))")
    case .missing: .failed("object_missing", "'notes sync' asks the other devices and hubs for it")
    case .brokenReference, .malformed, .wrongKind:
      .failed(
        "repository_damaged", "'git fsck' shows more; other devices are not affected")
    case .objectTooLarge:
      .failed("object_too_large", "make it smaller, or keep it outside of the notebook")
    case .tooLarge:
      .failed(
        "version_too_large", "'notes doctor --repair' removes it; your notes stay as they are")
    case .system(_, _, let code): .failed("file_failed", Failure.remedyOrExamine(code))
    case .ambiguousPrefix: .failed("ambiguous_version", "write more digits of the ID")
    case .library: .failed("repository_failed", Failure.examine)
    }
  }
}

extension PackError: ExplainedError {
  var meaning: ErrorMeaning {
    if case .diskNearlyFull = self {
      return .failed("pack_refused", Failure.remedyOrExamine(ENOSPC))
    }
    return .failed("pack_refused", "nothing was kept; " + Failure.examine)
  }
}

extension MembershipError: ExplainedError {
  var meaning: ErrorMeaning {
    switch self {
    case .libraryMissing: .failed("library_missing", Failure.openSSL)
    case .library: .failed("crypto_failed", Failure.examine)
    case .system(_, _, let code): .failed("file_failed", Failure.remedyOrExamine(code))
    case .deviceKeyUnusable(let path, .openToOthers):
      .failed(
        "device_key_unusable", "if nobody else has read it, run 'chmod 600 \(Visible.word(path))'")
    case .deviceKeyUnusable(let path, .encrypted):
      .failed(
        "device_key_unusable",
        "move \(Visible.word(path)) to another place, then run 'notes device import FILE'")
    case .deviceKeyUnusable:
      .failed(
        "device_key_unusable",
        "restore it from a backup; if you have none, move it away and join again: 'notes join CODE'"
      )
    case .nameRefused(let defect): defect.meaning
    case .certificateRefused, .requestRefused:
      .refused("certificate_refused", "install the same version of notes on all devices")
    case .notAMember:
      .failed("not_a_member", "ask an admin for an invitation, then run 'notes join CODE'")
    case .removed: .refused("removed", "an admin can invite that device again: 'notes invite'")
    case .notAnAdmin: .failed("not_an_admin", "'notes members' lists the admins")
    case .founderIsPermanent:
      .failed(
        "founder_is_permanent",
        "on the founder's device, run 'notes members handover NEW-FOUNDER'; if that device is lost, run "
          + "'notes members handover FOUNDER' here; if it was stolen, 'notes members reset'")
    case .notTheFounder:
      .failed(
        "not_the_founder", "'notes members' shows the founder; run the command on that device")
    case .heirRefused(let name):
      .failed("heir_refused", Failure.remedy(forHeir: name))
    case .claimRefused(.wasFounder):
      .failed("claim_refused", "claim it on another admin's device: 'notes members handover NAME'")
    case .claimRefused(.mayNotStop):
      .failed(
        "claim_refused", "run the command on one of these devices: 'notes members' lists them")
    case .claimRefused:
      .failed(
        "claim_refused",
        "another admin's device can claim it; 'notes members reset' starts over without the founder"
      )
    case .anotherAdminNeeded:
      .failed("another_admin_needed", "run the command on another admin's device")
    case .ownCertifier:
      .failed("own_certifier", "run the command on the founder's device, or on another admin's")
    case .passphraseRefused:
      .misused("bad_passphrase", "choose several words: they are easy to remember")
    case .blocked: .refused("blocked", "'notes members unblock NAME' lets it in again")
    case .limitExceeded(let what, _): .failed("limit_exceeded", Failure.remedy(forTooMany: what))
    case .membershipMissing:
      .failed("membership_missing", "ask an admin for an invitation and join again")
    case .membershipExists: .failed("already_a_notebook", "choose another folder")
    case .begunAnew: .failed("begun_anew", "run the command again")
    case .formatUnsupported: .failed("newer_format", "install a newer version of notes")
    case .fileDamaged: .failed("broken_state", "restore that file from a backup, or join again")
    }
  }
}

extension NameDefect: ExplainedError {
  var meaning: ErrorMeaning {
    .misused("bad_name", "choose another name, such as Home or Ben's laptop")
  }
}

extension Failure {
  static let openSSL = "install it: apt install libssl3"
  static let examine = "run 'notes doctor'"

  static let convertedByGit =
    "change this file with git, or end the conversion: see gitattributes(5) and core.autocrlf"

  fileprivate static let deleteSome =
    "nothing was changed; delete files that you do not need, then run the command again"

  static let operations = "'notes log --operations' lists the operations here"

  fileprivate static let ownRepository =
    "make the notebook in a folder with a repository of its own"

  fileprivate static func remedy(forHeir name: String) -> String {
    "if it never was the founder, make it an admin: 'notes members role \(Visible.word(name)) admin'"
  }

  fileprivate static func remedy(forTooMany things: String) -> String {
    things == "devices of a person"
      ? "remove a device that the person no longer uses: 'notes members remove NAME'"
      : "'notes members reset' starts the membership over; the other devices join again"
  }

  /// The command that removes an extension of git's format from the repository.
  fileprivate static func remedy(ofExtension name: String) -> String {
    switch name {
    case "refstorage": "'git refs migrate --ref-format=files' stores the references as files again"
    case "worktreeconfig":
      "move the settings of .git/config.worktree to .git/config, "
        + "then run 'git config --unset extensions.worktreeConfig'"
    case "relativeworktrees":
      "run 'git worktree repair --no-relative-paths', "
        + "then 'git config --unset extensions.relativeWorktrees'"
    case "preciousobjects":
      "if no other repository uses this one's objects, run 'git config --unset "
        + "extensions.preciousObjects'"
    case "objectformat":
      "copy the files without .git to a new folder, and run 'notes init' there"
    default: ownRepository
    }
  }

  static let massDeletion = ErrorMeaning.failed(
    "mass_deletion", "nothing was changed; to continue, add --allow-deletes")
  static let largeVersion = ErrorMeaning.failed(
    "large_version", "nothing was changed; to continue, run 'notes sync --allow-large'")
  static let mergeTooLarge = ErrorMeaning.failed("merge_too_large", deleteSome)
  static let versionPruned = ErrorMeaning.failed(
    "version_cut_off", "to remove it there, run 'notes doctor --repair' on the other device")

  static let wasForgotten = ErrorMeaning.failed(
    "was_forgotten", "use a newer copy of the history; the older copy stays as it is")

  static let unsignedVersion = ErrorMeaning.failed(
    "unsigned_version", "nothing was kept; to accept it once, run 'notes sync --allow-unsigned'")

  static func remedyOrExamine(_ errno: Int32) -> String { remedy(errno) ?? examine }

  static func remedy(_ errno: Int32) -> String? {
    switch errno {
    case EACCES: "let your user read and write there, and run the command again"
    case EPERM, EBUSY:
      "find out why it cannot be written, with 'ls -ld', 'lsattr' and 'findmnt'"
    case EROFS: "use a disk that can be written; nothing was changed"
    case ENOSPC: "free disk space, then run the command again"
    case EDQUOT: "free disk space or ask for a larger quota, then run the command again"
    case EMFILE, ENFILE: "close other programs, or raise the limit of open files: 'ulimit -n'"
    case EFBIG:
      "'ulimit -f' shows the system's limit, 'notes config max-file-size' the limit of notes"
    case EIO: "the disk may be failing: copy the folder elsewhere"
    default: nil
    }
  }

  fileprivate static func few(_ paths: [TreePath]) -> String {
    let shown = paths.prefix(5).map { "'\(Visible.name($0))'" }
    return Phrase.list(shown + (paths.count > 5 ? ["\(paths.count - 5) more"] : []))
  }

  fileprivate static func hint(
    for path: TreePath, takenBy other: TreePath, isFolder: Bool
  ) -> String {
    if other == path, !isFolder {
      return "choose another title; 'notes edit \(Visible.word(path.noteTitle))' changes the "
        + "existing note"
    }
    if other == path || path.isInside(other) { return "choose another title" }
    if other.noteTitle == path.noteTitle {
      return "choose another title, or add the suffix: \(Visible.word(path.description))"
    }
    return "names that differ only by case or Unicode spelling would be one on other systems; "
      + "choose another title"
  }
}

extension TreePath {
  func isInside(_ folder: TreePath) -> Bool {
    bytes.starts(with: folder.bytes + [UInt8(ascii: "/")])
  }
}
