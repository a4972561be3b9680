internal import Membership

extension GuestError: ExplainedError {
  var meaning: ErrorMeaning {
    switch self {
    case .nameTaken: .failed("name_taken", "choose another name")
    case .noSuchGuest, .noInvitation: .failed("no_such_guest", "'notes web guests' lists them")
    case .tooMany: .failed("too_many_guests", "remove one first: 'notes web guests remove NAME'")
    case .openToOthers:
      .failed("open_to_others", "check the guests in that file, then run 'chmod 600 FILE'")
    }
  }
}
