internal import History
internal import Notebook

extension ForgetError: ExplainedError {
  private static let meetThem =
    "'notes sync' with it finds out; if it is gone, 'notes members remove' removes a device, "
    + "'notes remote remove' a hub, and 'notes members block' ignores the founder's device"

  /// The next minute: people name no seconds.
  private static func minute(after time: Int64) -> Int64 { (time / 60 + 1) * 60 }

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
    case .noFirstVersion(_, let earliest?):
      .failed(
        "no_first_version",
        "name \(TimeText.local(Self.minute(after: earliest))) or a later time; the first version that "
          + "all later ones are based on is from just before")
    case .noFirstVersion:
      .failed("no_first_version", "all later versions must be based on it; there is none yet")
    case .notEverywhere: .failed("not_everywhere", Self.meetThem)
    case .notFollowed: .failed("not_followed", Self.meetThem)
    }
  }
}
