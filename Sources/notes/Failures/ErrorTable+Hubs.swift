internal import Exchange
internal import Git
internal import Notebook

extension HubDefect: ExplainedError {
  var meaning: ErrorMeaning {
    switch self {
    case .name:
      .misused(
        "hub_name", "use up to 32 letters, digits, '.', '_' and '-'; begin with a letter or digit")
    case .nameTaken:
      .failed("hub_name_taken", "choose another name; to make that remote a hub, give its address")
    case .noSuchHub: .failed("no_such_hub", "'notes remote' lists the hubs")
    case .noHub: .failed("no_such_hub", "'notes remote add NAME URL' adds one")
    case .address:
      .misused("hub_address", "write it like git@HOST:PATH, https://HOST/PATH or /PATH/notes.git")
    case .scheme: .misused("hub_address", "use ssh, https, git or the path of a folder")
    case .inNotebook:
      .misused(
        "in_notebook",
        "choose a folder outside of the notebook; 'git init --bare FOLDER' makes a hub of it")
    case .secret:
      .misused(
        "hub_secret", "write the address without the password; git asks for it")
    }
  }
}

extension Failure {
  /// The hint for joining a membership that was started over.
  fileprivate static func joinAgain(by name: String) -> String {
    "run 'notes invite' on \(Visible.name(name)), then 'notes join CODE' here; the notes here stay"
  }
}

extension LinkError: ExplainedError {
  var meaning: ErrorMeaning {
    switch self {
    case .missing:
      .refused("link_missing", "check the link, or ask an admin for another link")
    case .expired: .refused("link_expired", "ask an admin for another link")
    case .cancelled: .refused("link_cancelled", "ask an admin for another link")
    case .used:
      .refused(
        "link_used", "'notes members' shows who joined; remove a device that nobody knows")
    case .void:
      .refused(
        "link_void",
        "'notes members' shows the role of the device that made it; an admin can raise that role, or invite "
          + "the device again")
    case .anotherNotebook:
      .failed("link_of_another", "run the command in that notebook's folder")
    case .noInvitation:
      .failed(
        "no_invitation",
        "'notes invite --file FILE' on an admin's device makes one; 'notes clone FILE' only copies the notes"
      )
    case .noRequest:
      .failed(
        "request_unreadable",
        "copy the file here again, or run 'notes join' on the new "
          + "device again")
    }
  }
}

extension HubError: ExplainedError {
  var meaning: ErrorMeaning {
    switch self {
    case .gitMissing: .failed("git_missing", "install it: apt install git")
    case .unreachable, .silent:
      .unreached("hub_unreachable", "check the network; your changes wait here")
    case .hostUnproved:
      .refused(
        "hub_unproved",
        "ask the server's owner whether its key has changed; 'git ls-remote ADDRESS' shows what git "
          + "says")
    case .notLetIn:
      .refused(
        "hub_access",
        "check your key or password there: 'git ls-remote ADDRESS' must work without asking")
    case .readOnly:
      .refused(
        "hub_read_only",
        "ask the hub's owner for write access, or check key or password; your changes wait here")
    case .noRepository:
      .failed("hub_missing", "check the address; 'git init --bare' at that place makes a hub")
    case .foreignOwner(let words):
      .failed("hub_foreign", Self.remedy(forOwner: words))
    case .refused(let words): .refused("hub_refused", Self.remedy(forRefusal: words))
    case .keepsForgotten:
      .refused(
        "hub_keeps_forgotten",
        "let the hub accept a replaced branch once (git's receive.denyNonFastForwards, or its branch "
          + "protection), then run 'notes sync'")
    case .full: .refused("hub_full", "free disk space there; your changes wait here")
    case .excessive:
      .refused(
        "hub_excessive",
        "check the address; if it is right, 'notes sync --allow-large' raises the limits"
      )
    case .busy: .failed("hub_busy", "run the command again; nothing is lost")
    case .unrelated:
      .failed(
        "hub_unrelated",
        "check the address; if it is right, 'notes sync --allow-unrelated' merges both histories")
    case .anotherNotebook:
      .failed(
        "hub_of_another",
        "check the address with 'notes remote'; if it is right, an admin may have started the membership "
          + "over: ask for a code of 'notes invite'")
    case .startedOver(let name): .refused("started_over", Failure.joinAgain(by: name))
    case .shallow:
      .failed(
        "hub_shallow", "run 'git fetch --unshallow' in the hub's repository")
    case .withoutMembers:
      .failed(
        "hub_unknown",
        "if it is a hub, let a member run 'notes sync' first; if not, 'git clone' it and run "
          + "'notes init' there")
    case .noBranch:
      .failed(
        "no_branch", "'git branch' lists the branches, 'git switch NAME' returns to the notebook's")
    case .failed: .failed("hub_failed", "'git ls-remote ADDRESS' may show more")
    }
  }
}

extension HubError {
  /// The remedy for a repository that belongs to another user, by git's message, which names its folder last.
  fileprivate static func remedy(forOwner words: String) -> String {
    guard let start = words.firstIndex(of: "'"), let end = words.lastIndex(of: "'"), start < end
    else { return "if you trust its owner, add its folder to git's setting safe.directory" }
    let folder = Visible.word(String(words[words.index(after: start)..<end]))
    return "if you trust its owner, run 'git config --global --add safe.directory \(folder)'"
  }

  /// The remedy for a push that a hub refuses, found by words in the message: git's own, or those of
  /// popular hosts.
  fileprivate static func remedy(forRefusal words: String) -> String {
    let text = words.lowercased()
    func says(_ phrases: String...) -> Bool { phrases.contains(where: text.contains) }
    if says(
      "large file", "file size limit", "exceeds", "exceeded", "too large", "too big",
      "max file size",
      "size limit", "quota")
    {
      return "a file is larger than the hub allows; raise the limit there, or set a lower one here "
        + "with 'notes config max-file-size'"
    }
    if says(
      "protected branch", "protected ref", "not allowed to push", "gh006", "gh013", "pull request",
      "merge request", "branch is protected", "branch permissions")
    {
      return "the branch is protected there: allow this user to push without a review"
    }
    if says("checked out", "denycurrentbranch") {
      return "a hub is a bare repository: 'git init --bare' makes one"
    }
    if says("hook declined", "hook") {
      return "ask the hub's owner about that reason; your changes wait here"
    }
    return "use a bare repository that accepts pushes to its branch: 'git init --bare' makes one"
  }
}

extension BundleError: ExplainedError {
  var meaning: ErrorMeaning {
    switch self {
    case .notABundle, .form: .failed("no_bundle", "'notes bundle create' writes one")
    case .damaged: .failed("bundle_damaged", "nothing changed; copy the file here again")
    case .withoutMembers:
      .failed("bundle_unknown", "'git pull FILE' merges a bundle that git made")
    case .anotherNotebook: .failed("bundle_of_another", "run the command in that notebook's folder")
    case .startedOver(let name): .refused("started_over", Failure.joinAgain(by: name))
    case .lacking:
      .failed(
        "bundle_builds_on",
        "apply the earlier bundle first, or make a new one on the other device without --since"
      )
    case .noVersion: .failed("no_version", "'notes new' makes a note")
    case .reader:
      .refused("reader", "an admin can make it a writer: 'notes members role NAME writer'")
    case .file(_, _, let code): .failed("system_failed", Failure.remedyOrExamine(code))
    }
  }
}

extension TransferError: ExplainedError {
  var meaning: ErrorMeaning {
    switch self {
    case .programMissing: HubError.gitMissing.meaning
    case .silent: .unreached("hub_unreachable", "check the network")
    case .excessive: .failed("git_excessive", "check that the address is a notebook's hub")
    case .stopped: .interrupted
    case .failed: .failed("git_failed", Failure.examine)
    }
  }
}
